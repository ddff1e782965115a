"""The layers of our images, each made once into the cache: a small Debian, a Ray, one program."""

import sys
import tempfile
import time
import zlib
from pathlib import Path

from tests.cluster.node.archive import write_layer
from tests.cluster.node.commands import run
from tests.cluster.node.paths import IMAGES, REPOSITORY
from tests.cluster.node.programs import Program

# Python is Ray's, wget is for KubeRay's probes, redis for the stories with GCS fault tolerance.
_DEBIAN = "python3,python3-venv,python3-pip,wget,procps,ca-certificates,redis-server"
_PACKAGES = "usr/local/lib/python3.11/dist-packages"


def debian() -> Path:
    """Debian bookworm with Python 3.11, the lowest layer of every image but a lone program's."""
    layer = IMAGES / "debian.tar"
    if not layer.exists():
        _say("Debian base layer (about a minute)")
        unfinished = layer.with_suffix(".unfinished.tar")
        run(["mmdebstrap", "--variant=minbase", f"--include={_DEBIAN}", "bookworm", str(unfinished)], timeout_s=1200)
        unfinished.replace(layer)
    return layer


def ray(version: str) -> Path:
    """Ray Serve as its lock file pins it, below /usr/local; another lock is another layer."""
    lock = REPOSITORY / "requirements" / f"ray-{version}.txt"
    layer = IMAGES / f"ray-{version}-{zlib.crc32(lock.read_bytes()):08x}.tar"
    if not layer.exists():
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=IMAGES) as folder:
            _install_ray(lock, Path(folder))
            # Debian's Python looks into dist-packages of itself: users' PYTHONPATH stays their own.
            packages = Path(folder, "lib/python3.11/site-packages")
            write_layer(layer, {"usr/local/bin": Path(folder, "bin"), _PACKAGES: packages})
        _say(f"Ray {version} layer: {time.monotonic() - started:.0f} s")
    return layer


def program(built: Program, inside: str) -> Path:
    """One program at one path: all that a static binary needs."""
    layer = IMAGES / f"{built.path.name}.tar"
    if not layer.exists():
        write_layer(layer, {inside: built.path})
    return layer


def _install_ray(lock: Path, prefix: Path) -> None:
    _say(f"Ray layer: installing {lock.name}")
    uv = str(REPOSITORY / ".venv/bin/uv")
    wanted = ("--require-hashes", f"--requirements={lock}", "--python-version=3.11")
    run([uv, "pip", "install", "--quiet", *wanted, f"--prefix={prefix}"], timeout_s=1800)
    for script in (prefix / "bin").iterdir():
        _use_debians_python(script)


def _use_debians_python(script: Path) -> None:
    """A script starts the Python that installed it, which the image does not have."""
    first, newline, rest = script.read_bytes().partition(b"\n")
    if first.startswith(b"#!") and b"python" in first:
        script.write_bytes(b"#!/usr/bin/python3" + newline + rest)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

"""What is looked at before a release may leave. Each check raises ReleaseError, with a sentence on what is wrong."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from pathlib import Path

from release.parts import LOCKS, Workshop, run
from release.source import ReleaseError

SUMS = "SHA256SUMS"


def sums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file."""
    files = sorted(file for file in folder.iterdir() if file.name != SUMS)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def same_bytes(once: Path, again: Path) -> None:
    """Built twice, from two exports: nothing but the commit is in it."""
    first, second = sums(once), sums(again)
    if other := sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name)):
        raise ReleaseError(f"built twice, and not the same: {', '.join(other)}")


def metadata_can_be_read(shop: Workshop, out: Path) -> None:
    """What package indexes read of wheel and sdist."""
    packages = [*map(str, out.glob("*.whl")), *map(str, out.glob("*.tar.gz"))]
    run([str(shop.tools / "bin" / "twine"), "check", "--strict", *packages])


def bills_name_what_is_locked(tree: Path, out: Path) -> None:
    """No package less, and none more."""
    for lock in LOCKS:
        (file,) = out.glob(f"*-{lock}.cdx.json")
        wanted = locked((tree / "requirements" / f"{lock}.txt").read_text())
        found = {(each["name"], each["version"]) for each in json.loads(file.read_text())["components"]}
        if wanted != found:
            raise ReleaseError(f"{file.name} and the lock differ in {sorted(wanted ^ found)}")


def locked(lock: str) -> set[tuple[str, str]]:
    """The packages of a lock file with their versions. Pure."""
    return set(re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", lock, re.MULTILINE))


def wheel_can_be_installed(shop: Workshop, tree: Path, out: Path, uv: Path) -> None:
    """Into an environment with nothing in it, its dependencies by their hashes; and then it says its version."""
    (wheel,) = out.glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        python = f"--python={folder}/bin/python"
        run([str(uv), "venv", "--quiet", f"--python={uv.with_name('python')}", folder])
        lock = str(tree / "requirements" / "runtime.txt")
        run([str(uv), "pip", "install", "--quiet", python, "--require-hashes", "-r", lock])
        run([str(uv), "pip", "install", "--quiet", python, "--no-deps", str(wheel)])
        said = run([f"{folder}/bin/holdfast", "--version"]).strip()
    if said != f"holdfast {shop.version}":
        raise ReleaseError(f"{wheel.name} was installed and says {said!r}")


def write_sums(out: Path) -> None:
    """As `sha256sum --check` reads them."""
    (out / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums(out).items()))

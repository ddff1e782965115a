"""Each part of a release, made in a folder from an exported commit. All take their times from the commit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from release.archives import rewritten
from release.source import ReleaseError

LOCKS = ("runtime", "webhook")
"""What the sidecar imports; and with it what the webhook and the command line import."""

CACHE = Path(os.environ.get("HOLDFAST_CACHE") or Path.home() / ".cache" / "holdfast")


@dataclass(frozen=True, slots=True)
class Workshop:
    """The programs, and the commit's version and time. ``base`` is the image's, or "" to make none."""

    version: str
    time_s: int
    tools: Path
    """The environment of requirements/release.txt."""
    base: str = ""

    @property
    def environ(self) -> dict[str, str]:
        """What every build reads its time from."""
        return os.environ | {"SOURCE_DATE_EPOCH": str(self.time_s)}


def python_packages(shop: Workshop, tree: Path, out: Path) -> None:
    """Wheel and sdist, with the build backend of requirements/dev.txt."""
    python = Path(sys.executable)
    command = [str(python.with_name("uv")), "build", "--quiet", "--no-build-isolation", f"--python={python}"]
    run([*command, "--wheel", "--sdist", f"--out-dir={out}", str(tree)], environ=shop.environ)
    (out / ".gitignore").unlink(missing_ok=True)  # uv's


def chart(shop: Workshop, tree: Path, out: Path) -> None:
    """The chart as `helm package` makes it, and then without the time of day."""
    run([helm(), "package", str(tree / "manifests" / "chart"), f"--destination={out}"], environ=shop.environ)
    package = out / f"holdfast-{shop.version}.tgz"
    named = package.with_name(f"holdfast-chart-{shop.version}.tgz")  # beside a wheel, "holdfast-0.1.0" says too little
    named.write_bytes(rewritten(package.read_bytes(), shop.time_s, compressed=True))
    package.unlink()


def bills_of_materials(shop: Workshop, tree: Path, out: Path) -> None:
    """CycloneDX, one for each lock: what its packages are, with the hashes that are asked for at installation."""
    command = [str(shop.tools / "bin" / "cyclonedx-py"), "requirements", f"--pyproject={tree}/pyproject.toml"]
    for lock in LOCKS:
        file = out / f"holdfast-{shop.version}-{lock}.cdx.json"
        run(
            [*command, "--output-reproducible", f"--output-file={file}", str(tree / "requirements" / f"{lock}.txt")],
            environ=shop.environ,
        )


def helm(cache: Path = CACHE) -> str:
    """The program: $HELM, the one in the path, or that of the cache (`make node-build`).

    Raises: ReleaseError if there is none.
    """
    cached = sorted(map(str, (cache / "programs").glob("helm-*[0-9]")))
    found = os.environ.get("HELM") or shutil.which("helm") or (cached[-1] if cached else None)
    if found is None:
        raise ReleaseError("there is no helm: install it, name it in $HELM, or build it with `make node-build`")
    return found


def run(command: list[str], *, environ: dict[str, str] | None = None, limit_s: float = 900) -> str:
    """What a program prints.

    Raises: ReleaseError with its last words if it fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ, timeout=limit_s)
    if done.returncode:
        raise ReleaseError(f"`{' '.join(command)}` failed:\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done.stdout

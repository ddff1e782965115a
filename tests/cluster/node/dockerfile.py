"""The repository's Dockerfile, built as a user would build it, by buildah and without a registry.

Its base image is asked for by its real name; what answers to that name here is our Debian layer.
"""

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from tests.cluster.node.archive import write_archive
from tests.cluster.node.errors import CannotRunHereError
from tests.cluster.node.paths import BUILDS, REPOSITORY

BASE = "docker.io/library/python:3.11-slim-bookworm"
_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def build(name: str, *, base: Path, out: IO[bytes], tree: Path = REPOSITORY) -> None:
    """Build the Dockerfile of ``tree`` and write the image, named ``name``, as an archive to ``out``.

    Raises: CannotRunHereError with buildah's last words if a step fails.
    """
    BUILDS.mkdir(parents=True, exist_ok=True)
    # A buildah that was ended in the middle leaves a mount. `leftovers` removes it; here it would hide the reason.
    with tempfile.TemporaryDirectory(dir=BUILDS, ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        (work / "policy.json").write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
        with (work / "base.tar").open("wb") as archive:
            write_archive(archive, BASE, [base], {"Env": [_PATH]})
        _buildah(work, "pull", f"oci-archive:{work}/base.tar")
        _buildah(
            work,
            *("bud", "--isolation=chroot", "--pull-never", "--network=host", f"--build-arg=BASE={BASE}"),
            # pip in the build trusts whom this machine trusts.
            *("--volume=/etc/ssl/certs:/etc/ssl/certs:ro", f"--tag={name}", str(tree)),
        )
        _buildah(work, "push", "--disable-compression", name, f"oci-archive:{work}/image.tar:{name}")
        with (work / "image.tar").open("rb") as image:
            shutil.copyfileobj(image, out)
    with suppress(OSError):  # another build may be in there
        BUILDS.rmdir()


def _buildah(work: Path, action: str, *arguments: str) -> None:
    command = ["buildah", f"--root={work}/storage", f"--runroot={work}/run", "--storage-driver=overlay", action]
    command += [f"--signature-policy={work}/policy.json", *arguments]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=900, env=os.environ | {"TMPDIR": str(work)}
    )
    if done.returncode:
        raise CannotRunHereError(f"`{' '.join(command)}` failed:\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")

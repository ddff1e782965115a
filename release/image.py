"""The image, as an OCI archive: buildah runs the Dockerfile, and every file in the new layer has the commit's time.

The base image is the maintainer's choice: by its digest (``NAME@sha256:...``) it is the same one tomorrow. Where no
registry can be asked it is an archive, ``oci-archive:FILE``.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from release.archives import rewritten
from release.parts import CACHE, Workshop, run
from release.source import ReleaseError

NAME = "docker.io/holdfast/holdfast"
_ARCHIVE = "oci-archive:"


def objection(base: str) -> str | None:
    """Why no image can be made here of this base; None if it can."""
    if not base.startswith(_ARCHIVE) and "@sha256:" not in base:
        return f"the base image {base} has no digest: name it as NAME@sha256:..., for a tag is another image tomorrow"
    if shutil.which("buildah") is None:
        return "there is no buildah: install it, or make the rest of the release with IMAGE_BASE="
    if os.geteuid() != 0:
        return "buildah is used as root here: run as root, or make the rest of the release with IMAGE_BASE="
    return None


def image(shop: Workshop, tree: Path, out: Path) -> None:
    """Build it, and let it say its version.

    Raises: ReleaseError with buildah's last words, or if it says another.
    """
    if why := objection(shop.base):
        raise ReleaseError(why)
    name = f"{NAME}:{shop.version}"
    with tempfile.TemporaryDirectory(dir=_room()) as folder:
        work = Path(folder)
        (work / "policy.json").write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
        base = _buildah(work, "pull", "--quiet", shop.base).strip()
        _buildah(
            work,
            *("bud", "--isolation=chroot", "--pull-never", "--network=host", f"--build-arg=BASE={base}"),
            *(f"--timestamp={shop.time_s}", "--volume=/etc/ssl/certs:/etc/ssl/certs:ro", f"--tag={name}", str(tree)),
        )
        container = _buildah(work, "from", "--pull-never", name).strip()
        said = _buildah(work, "run", "--isolation=chroot", container, "/opt/holdfast/bin/holdfast", "--version").strip()
        if said != f"holdfast {shop.version}":
            raise ReleaseError(f"a container of the image says {said!r}")
        _buildah(work, "push", name, f"{_ARCHIVE}{work}/image.tar:{name}")
        archive = rewritten((work / "image.tar").read_bytes(), shop.time_s, compressed=False)
        (out / f"holdfast-image-{shop.version}.tar").write_bytes(archive)


def _room() -> Path:
    """Where storage of a gigabyte may lie: not in memory."""
    room = CACHE / "release"
    room.mkdir(parents=True, exist_ok=True)
    return room


def _buildah(work: Path, action: str, *arguments: str) -> str:
    command = ["buildah", f"--root={work}/storage", f"--runroot={work}/run", "--storage-driver=overlay", action]
    policy = [] if action == "run" else [f"--signature-policy={work}/policy.json"]
    return run([*command, *policy, *arguments], environ=os.environ | {"TMPDIR": str(work)})

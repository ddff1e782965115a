"""An image archive in the OCI layout, written from layer files: what `ctr images import` and `buildah pull` read.

Specification: OCI image-spec 1.1, image-layout.md, manifest.md and config.md.
"""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def write_archive(out: IO[bytes], name: str, layers: Sequence[Path], config: Mapping[str, Any]) -> None:
    """Write one image, named ``name`` in full (registry/repository:tag), to ``out``, which need not be seekable.

    ``layers`` are uncompressed tar files, lowest first. ``config`` is the image's ``config`` object (Env, User, …).
    """
    with tarfile.open(fileobj=out, mode="w|") as archive:
        described = [_add_file(archive, layer) for layer in layers]
        image = {
            "architecture": "amd64",
            "os": "linux",
            "config": dict(config),
            # Layers are not compressed, so a layer's digest is also the digest of its content.
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"] for layer in described]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": _add_blob(archive, _CONFIG, image),
            "layers": described,
        }
        # containerd names the image by the first annotation, containers/image (buildah) by the second.
        names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name}
        listed = _add_blob(archive, _MANIFEST, manifest) | {"annotations": names}
        _add(archive, "index.json", json.dumps({"schemaVersion": 2, "manifests": [listed]}).encode())
        _add(archive, "oci-layout", json.dumps({"imageLayoutVersion": "1.0.0"}).encode())


def write_layer(out: Path, files: Mapping[str, Path]) -> None:
    """Write a layer of ``files``: path in the image (without the leading slash) -> file or folder on this disk."""

    def owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        return entry

    unfinished = out.with_suffix(".unfinished")
    with tarfile.open(unfinished, "w") as layer:
        for inside, outside in files.items():
            layer.add(outside, arcname=inside, filter=owned_by_root)
    unfinished.replace(out)


def _add_file(archive: tarfile.TarFile, path: Path) -> dict[str, Any]:
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
        content.seek(0)
        archive.addfile(_entry(f"blobs/sha256/{digest}", path.stat().st_size), content)
    return {"mediaType": _LAYER, "digest": f"sha256:{digest}", "size": path.stat().st_size}


def _add_blob(archive: tarfile.TarFile, media_type: str, value: Mapping[str, Any]) -> dict[str, Any]:
    content = json.dumps(value).encode()
    digest = hashlib.sha256(content).hexdigest()
    _add(archive, f"blobs/sha256/{digest}", content)
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    archive.addfile(_entry(name, len(content)), io.BytesIO(content))


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size = size
    return entry

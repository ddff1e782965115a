"""The same files as the same bytes: order, times and owners say nothing of the machine. Pure."""

from __future__ import annotations

import gzip
import io
import tarfile


def rewritten(archive: bytes, time_s: int, *, compressed: bool) -> bytes:
    """A tar with the same files in the order of their names, all of ``time_s`` and of nobody."""
    out = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as new,
    ):
        for entry in sorted(old.getmembers(), key=lambda entry: entry.name):
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = time_s, 0, 0, "", ""
            entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            entry.pax_headers = {}
            new.addfile(entry, old.extractfile(entry) if entry.isfile() else None)
    return gzip.compress(out.getvalue(), mtime=time_s) if compressed else out.getvalue()

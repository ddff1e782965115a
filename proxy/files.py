"""Files that a crash leaves whole: there is the old one, or the new one."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a new file, flush it to the disk, move it over the old one. For the owner only: it may hold configs.

    Raises:
        OSError: the disk fails; the old file is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = path.with_suffix(".new")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the move itself
    finally:
        os.close(folder)


def put_aside(path: Path) -> None:
    """Keep a file that cannot be read, under another name."""
    path.replace(path.with_suffix(".unreadable"))

"""The local copy of the journal: in memory, and in a file over a restart of the sidecar.

Changes come often and the disk may be slow: they are written in a thread, and those that come meanwhile are written
together. A disk that fails does not stop the sidecar: the copy lives on in memory, and the failure is logged and
counted.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import msgspec

from proxy.files import put_aside, write_whole
from proxy.metrics import Metrics
from serveconfig.localcopy import LocalCopy

log = logging.getLogger("holdfast.journal")

_decoder = msgspec.json.Decoder(LocalCopy)


class JournalCopy:
    """``now`` is what is known; ``changed`` is set at every change, for whoever waits for one."""

    def __init__(self, folder: Path, metrics: Metrics) -> None:
        self._file = folder / "journal.json"
        self._metrics = metrics
        self._saving: asyncio.Task[None] | None = None
        self._saved = self.now = self._read()
        self.changed = asyncio.Event()

    def take(self, copy: LocalCopy) -> None:
        """``copy`` is what is known from now on."""
        if copy == self.now:
            return
        self.now = copy
        self.changed.set()
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self._save())

    async def saved(self) -> None:
        """Wait until what is known is on the disk, or cannot be."""
        while self._saving and not self._saving.done():
            await asyncio.shield(self._saving)

    async def _save(self) -> None:
        while self._saved is not self.now:
            now = self.now
            try:
                await asyncio.to_thread(_write, self._file, now)
            except OSError as error:
                self._failed("the copy of the journal is kept in memory only", error)
            self._saved = now

    def _read(self) -> LocalCopy:
        try:
            return _decoder.decode(self._file.read_bytes())
        except FileNotFoundError:
            return LocalCopy()
        except OSError as error:
            self._failed("the copy of the journal cannot be read", error)
            return LocalCopy()
        except (msgspec.DecodeError, RecursionError) as error:
            self._failed("the copy of the journal is put aside", error)
            put_aside(self._file)
            return LocalCopy()

    def _failed(self, what: str, error: Exception) -> None:
        self._metrics.record_failures.inc()
        log.error(what, extra={"file": str(self._file), "error": type(error).__name__})


def _write(file: Path, copy: LocalCopy) -> None:
    write_whole(file, msgspec.json.encode(copy))

"""What KubeRay declared, kept in a file over a restart of the sidecar.

Written whole to a new file, flushed to the disk and then moved over the old one: after a crash there is the old record
or the new one. A record that cannot be read is moved aside and taken for none: then nothing counts as declared before,
and nothing is retired on its account. The folder holds the configs of applications, so it is for the owner only.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

from proxy.metrics import Metrics
from serveconfig.declared import Declared, UnreadableRecordError

log = logging.getLogger("holdfast.record")


class Record:
    """The record in ``folder``, read once and written on every change, in a thread: a disk may take its time.

    It has one writer at a time (``proxy.deploying``).

    A disk that fails does not stop the sidecar: the record lives on in memory, and the failure is logged and counted.
    """

    def __init__(self, folder: Path, metrics: Metrics) -> None:
        self._file = folder / "declared.json"
        self._metrics = metrics
        self._declared = self._read()

    @property
    def declared(self) -> Declared:
        """What is declared now."""
        return self._declared

    async def keep(self, declared: Declared) -> None:
        """``declared`` is what is declared from now on; returns when that is on the disk."""
        if declared == self._declared:
            return
        self._declared = declared
        try:
            await asyncio.to_thread(self._write, declared)
        except OSError as error:
            self._failed("what is declared is kept in memory only", error)

    def _read(self) -> Declared:
        try:
            return Declared.parse(self._file.read_bytes())
        except FileNotFoundError:
            return Declared()
        except OSError as error:
            self._failed("the record of what is declared cannot be read", error)
            return Declared()
        except UnreadableRecordError as error:
            self._failed("the record of what is declared is put aside", error)
            self._file.replace(self._file.with_suffix(".unreadable"))
            return Declared()

    def _write(self, declared: Declared) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self._file.with_suffix(".new")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(declared.print())
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._file)
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # the move itself
        finally:
            os.close(folder)

    def _failed(self, what: str, error: Exception) -> None:
        self._metrics.record_failures.inc()
        log.error(what, extra={"file": str(self._file), "error": str(error)})

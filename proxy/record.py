"""What KubeRay declared, kept in a file over a restart of the sidecar.

A record that cannot be read is moved aside and taken for none: then nothing counts as declared before, and nothing is
retired on its account.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from proxy.files import put_aside, write_whole
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
            await asyncio.to_thread(write_whole, self._file, declared.print())
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
            put_aside(self._file)
            return Declared()

    def _failed(self, what: str, error: Exception) -> None:
        self._metrics.record_failures.inc()
        log.error(what, extra={"file": str(self._file), "error": str(error)})

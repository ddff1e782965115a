"""Process 1 of the sidecar's container: it starts the proxy, and starts it again should that end by itself.

While a container of a pod is away the pod is not Ready, and Services leave it out: a fault of the proxy would keep
customers from a head that serves itself (G11). So the container outlives the proxy. It is a child from the first moment
on: nothing of what the proxy imports is in this process.

1. One that ends soon after its start, several times in a row, cannot be helped so: the container ends with its exit
   code, and Kubernetes shows that it does.
2. SIGTERM and SIGINT are for the proxy: it drains, and its exit code is the container's.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

log = logging.getLogger("holdfast")

SOON_S = 10.0
"""One that ends earlier was hardly started."""

MOST_EARLY_ENDS = 3
PAUSE_S = 0.2

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_KILLED = 128
"""A process that a signal has ended has this and the signal's number for its exit code, as shells have it."""


def is_first_process() -> bool:
    """Are we process 1, as in a container?"""
    return os.getpid() == 1


def supervised(run: Callable[[], int]) -> int:
    """Run it in a child, again and again; the exit code. In the child this returns what ``run`` returns."""
    proxy = _Child()
    before = {number: signal.signal(number, proxy.tell) for number in _SIGNALS}
    code, early_ends = 0, 0
    while not proxy.is_stopping:
        started_s = time.monotonic()
        if proxy.starts():
            for number, handler in before.items():
                signal.signal(number, handler)
            return run()
        code = proxy.ended()
        early_ends = early_ends + 1 if time.monotonic() - started_s < SOON_S else 0
        if code == 0 or early_ends == MOST_EARLY_ENDS:
            return code
        if not proxy.is_stopping:
            _tell(code)
            time.sleep(PAUSE_S * early_ends)
    return code


@dataclass(slots=True)
class _Child:
    """The one process that is looked after. ``pid`` is 0 while there is none."""

    pid: int = 0
    is_stopping: bool = False

    def starts(self) -> bool:
        """Another one. True in it, False here."""
        self.pid = os.fork()
        if self.pid and self.is_stopping:  # told so while it was made
            os.kill(self.pid, signal.SIGTERM)
        return self.pid == 0

    def tell(self, number: int, _frame: FrameType | None) -> None:
        """Pass a signal on."""
        self.is_stopping = True
        if self.pid:
            os.kill(self.pid, number)

    def ended(self) -> int:
        """Wait for its end, and bury whoever else has ended meanwhile: process 1 is every orphan's parent."""
        while True:
            pid, status = os.wait()
            if pid == self.pid:
                self.pid = 0
                code = os.waitstatus_to_exitcode(status)
                return code if code >= 0 else _KILLED - code


def _tell(code: int) -> None:
    from proxy import logs  # noqa: PLC0415 - rule of this module: imported when there is something to say

    logs.configure()
    log.error("the proxy has ended and is started again", extra={"code": code})

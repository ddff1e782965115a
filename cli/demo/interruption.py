"""Ctrl-C and its like: heard once, at any moment, and never in the middle of cleaning up."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A person, or the system, wants the demo to end. Not an Exception: only the end of the command may catch it."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_code = 128 + signum


class Interruption:
    """While entered, the first signal raises `Interrupted` in the main thread. Later ones are too late.

    Code that must clean up calls `hold` first thing in an inner `finally`, and cleans in an outer one: then a signal
    either comes before and is the one that is heard, or comes too late to disturb.
    """

    def __init__(self) -> None:
        self._held = False

    def hold(self) -> None:
        """Hear no signal from now on."""
        self._held = True

    def __enter__(self) -> Self:
        self._before = {signum: signal.signal(signum, self._hear) for signum in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)

    def _hear(self, signum: int, _frame: FrameType | None) -> None:
        if not self._held:
            self._held = True
            raise Interrupted(signum)

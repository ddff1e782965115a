"""Where a story is shown: what every screen can do, the plain one, and which one this process gets."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from textwrap import fill
from typing import Protocol, TextIO

from cli.demo.scene import Row, Scene

READABLE = 88
"""A longer line of prose is hard to read."""


class Screen(Protocol):
    """Shows the story as it goes. `close` may be called at any time, and more than once."""

    dwell_s: float
    """How long the end of a chapter is worth looking at, in seconds."""

    def progress(self, doing: str) -> None:
        """Something that takes long has begun, before or after a telling."""

    def begin(self, heading: str) -> None:
        """A telling begins."""

    def show(self, scene: Scene) -> None:
        """This is how things stand now."""

    def tell(self, chapter: str, outcome: str) -> None:
        """A chapter has ended, with this outcome."""

    def end(self) -> None:
        """The telling has ended: what was shown last stays."""

    def close(self) -> None:
        """Nothing more will be shown."""


class NoScreenError(Exception):
    """The screen that was asked for cannot be had; the text says what to install or to ask for instead."""


class PlainScreen:
    """Lines, each when something changes, without control codes: for a pipe, a CI log, a screen reader."""

    dwell_s = 0.0

    def __init__(self, out: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._clock = clock
        self._began = clock()
        self._last = Scene("", "", "", (), "", "")

    def progress(self, doing: str) -> None:
        """See `Screen`."""
        self._line(doing)

    def begin(self, heading: str) -> None:
        """See `Screen`."""
        self._last = Scene(heading, "", "", (), "", "")
        self._out.write(f"\n== {heading} ==\n")

    def show(self, scene: Scene) -> None:
        """See `Screen`. Only what differs from the scene before is written."""
        last, self._last = self._last, scene
        if scene.chapter != last.chapter:
            self._out.write(f"\n{scene.chapter}\n{fill(scene.sentences, READABLE)}\n")
        if scene.doing != last.doing:
            self._line(scene.doing)
        before = {row.application: row for row in last.rows}
        for row in scene.rows:
            if row != before.get(row.application):
                self._line(describe(row))
        if scene.kuberay != last.kuberay:
            self._line(f"KubeRay: {scene.kuberay}")
        self._out.flush()

    def tell(self, chapter: str, outcome: str) -> None:
        """See `Screen`."""
        self._line(f"{chapter}: {outcome}")

    def end(self) -> None:
        """See `Screen`."""
        for row in self._last.rows:
            self._out.write(f"  {describe(row)}\n")
        self._out.flush()

    def close(self) -> None:
        """See `Screen`."""
        self._out.flush()

    def _line(self, text: str) -> None:
        self._out.write(f"  [{self._clock() - self._began:5.1f} s] {text}\n")
        self._out.flush()


def describe(row: Row) -> str:
    """A row of the table as a line."""
    pid = f", pid {row.pid}" if row.pid else ""
    fate = f" ({row.fate})" if row.fate else ""
    return f"{row.application:9} {row.owner:8} {row.made:10} Ray: {row.ray}{pid}; KubeRay sees: {row.kuberay}{fate}"


def choose(out: TextIO, environ: Mapping[str, str], *, plain: bool) -> Screen:
    """The live table on a terminal that can move its cursor; plain lines anywhere else, or if asked for.

    Raises:
        NoScreenError: the live table needs rich, and it is not installed.
    """
    if plain or not out.isatty() or environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return PlainScreen(out)
    try:
        from cli.demo.live import LiveScreen  # noqa: PLC0415 - only here is rich needed
    except ModuleNotFoundError as missing:
        raise NoScreenError(
            f'The live table needs {str(missing.name).split(".")[0]}: pip install "holdfast[demo]", or use --plain.'
        ) from missing
    return LiveScreen(out)

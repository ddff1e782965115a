"""Looking at Ray until something has happened. What is looked at is remembered, and counted."""

from __future__ import annotations

import time
from collections.abc import Callable

from cli.demo.observe import Sighting, Tally, sighting
from cli.demo.teams import SERVE
from cli.demo.wire import NoAnswerError, exchange, host

LOOK_S = 0.25
"""Seconds between two looks."""
LOOK_TIMEOUT_S = 10.0
PATIENCE_S = 180.0
"""How long any one step may take. On two idle cores the longest takes 8 s; a loaded machine gets its time."""


class StoryError(Exception):
    """The story cannot go on, and the machine, not Holdfast, is the reason. The text says what did not happen."""


class Watch:
    """The demo's eyes on one Ray: the last sighting, and the tally of all."""

    def __init__(self, ray_url: str, show: Callable[[str], None], look_s: float = LOOK_S) -> None:
        """`show` is told, after each look, what is being waited for."""
        self._look_s = look_s
        self._url = ray_url
        self._show = show
        self.sighting: Sighting = {}
        self.tally = Tally()

    def until(self, happened: Callable[[], bool], doing: str) -> None:
        """Look, again and again, until it has happened.

        Raises:
            StoryError: it has not after `PATIENCE_S` seconds, or what answers is not Ray Serve.
        """
        deadline = time.monotonic() + PATIENCE_S
        self._look(doing)
        while not happened():
            if time.monotonic() > deadline:
                there = ", ".join(f"{name} {seen.status}" for name, seen in self.sighting.items()) or "nothing"
                raise StoryError(f"Not in {PATIENCE_S:g} s: {doing}. Ray has: {there}. Is the machine very busy?")
            time.sleep(self._look_s)
            self._look(doing)

    def _look(self, doing: str) -> None:
        headers = (("Host", host(self._url)), ("User-Agent", "holdfast-demo"))
        try:
            answer = exchange(self._url, "GET", SERVE, headers=headers, timeout_s=LOOK_TIMEOUT_S)
            seen = sighting(answer.body) if answer.ok else None
        except NoAnswerError:
            seen = None  # no evidence: the next look may have some
        except ValueError as error:
            raise StoryError(f"What listens on {self._url} does not answer as Ray Serve does: {error}.") from error
        if seen is not None:
            self.sighting = seen
            self.tally = self.tally.seen(seen)
        self._show(doing)

"""Waiting for applications, and telling how they do: a line that is written over, or one line a change of state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TextIO

from cli.apps.asking import Sidecar
from cli.terminal import of_state, painted

POLL_S = 1.0
GONE = "gone"
RUNNING = "RUNNING"
_FAILED = "DEPLOY_FAILED"


@dataclass(slots=True)
class Progress:
    """Where it is told. ``is_terminal``: one line, written over; else a line whenever a state changes."""

    out: TextIO
    is_terminal: bool
    colours: bool
    _told: dict[str, str] = field(default_factory=dict)

    def tell(self, states: dict[str, str]) -> None:
        """How they are now."""
        changed = {name: state for name, state in states.items() if self._told.get(name) != state}
        self._told |= changed
        if self.is_terminal and changed:
            line = ", ".join(
                f"{name} {painted(state, of_state(state), colours=self.colours)}" for name, state in states.items()
            )
            self.out.write(f"\r\x1b[K{line}")
        elif changed:
            self.out.writelines(f"{name} {state}\n" for name, state in changed.items())
        self.out.flush()

    def end(self) -> None:
        """Nothing more is told."""
        if self.is_terminal and self._told:
            self.out.write("\n")
            self.out.flush()


async def until_settled(sidecar: Sidecar, names: Iterable[str], within_s: float, progress: Progress) -> list[str]:
    """Wait until each runs or has failed. The result says what is wrong with those that do not run; empty if all do."""
    found = await _until(sidecar, names, within_s, progress, lambda state: state in {RUNNING, _FAILED})
    return [_complaint(name, app, within_s) for name, app in found.items() if _state(app) != RUNNING]


async def until_gone(sidecar: Sidecar, names: Iterable[str], within_s: float, progress: Progress) -> list[str]:
    """Wait until none is there any more. The result says which still are."""
    found = await _until(sidecar, names, within_s, progress, lambda state: state == GONE)
    left = {name: _state(app) for name, app in found.items() if app is not None}
    return [f"application {name} is still there after {within_s:g} s: {state}" for name, state in left.items()]


async def _until(
    sidecar: Sidecar, names: Iterable[str], within_s: float, progress: Progress, enough: Callable[[str], bool]
) -> dict[str, Any]:
    wanted, until = list(names), time.monotonic() + within_s
    try:
        while True:
            listed = {each["name"]: each for each in (await sidecar.list())["applications"]}
            found = {name: listed.get(name) for name in wanted}
            progress.tell({name: _state(app) for name, app in found.items()})
            left_s = until - time.monotonic()
            if all(enough(_state(app)) for app in found.values()) or left_s <= 0:
                return found
            await asyncio.sleep(min(POLL_S, left_s))
    finally:
        progress.end()


def _state(app: Any) -> str:  # noqa: ANN401 - JSON, or None
    return GONE if app is None else str(app.get("state"))


def _complaint(name: str, app: Any, within_s: float) -> str:  # noqa: ANN401 - JSON, or None
    if _state(app) == _FAILED:
        return f"application {name} failed: {' '.join(str(app.get('message') or 'Ray gave no reason').split())}"
    return f"application {name} does not run after {within_s:g} s: {_state(app)}"

"""Changes as lines for a person, or as JSON for a program. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from cli.diff.changes import Action, Change
from cli.terminal import GREEN, PLAIN, RED, YELLOW, painted

MARKS = {Action.KEEP: "=", Action.CREATE: "+", Action.CHANGE: "~", Action.DELETE: "-", Action.REFUSE: "!"}
_COLOURS = {
    Action.KEEP: PLAIN,
    Action.CREATE: GREEN,
    Action.CHANGE: YELLOW,
    Action.DELETE: RED,
    Action.REFUSE: RED,
}


def lines(changes: Sequence[Change], *, colours: bool = False) -> str:
    """One line an application: ``+ create  NAME  why``; a refusal is one line for all."""
    width = max((len(each.name or "") for each in changes), default=0)
    return "".join(f"{painted(_line(each, width), _COLOURS[each.action], colours=colours)}\n" for each in changes)


def as_json(changes: Sequence[Change]) -> str:
    """``{"changes": bool, "refused": bool, "applications": [{"name", "action", "why"}, ...]}``."""
    listed = [{"name": each.name, "action": each.action, "why": each.why} for each in changes]
    told = {"changes": changes_anything(changes), "refused": is_refused(changes), "applications": listed}
    return json.dumps(told, indent=2) + "\n"


def changes_anything(changes: Sequence[Change]) -> bool:
    """Would anything be created, changed or deleted?"""
    return any(each.action in {Action.CREATE, Action.CHANGE, Action.DELETE} for each in changes)


def is_refused(changes: Sequence[Change]) -> bool:
    """Would the PUT be refused?"""
    return any(each.action is Action.REFUSE for each in changes)


def _line(change: Change, width: int) -> str:
    if change.name is None:
        return f"{MARKS[change.action]} {change.action}: {change.why}"
    return f"{MARKS[change.action]} {change.action:<6} {change.name:<{width}}  {change.why}"

"""Applications as a table, as JSON, as YAML, or as names. Pure.

What the sidecar answers is shown whole in JSON and YAML, members that this version does not know included. ``wide`` has
the columns of the journal where the sidecar tells of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from cli.apps import spelling
from cli.terminal import table

FORMS = ("table", "wide", "json", "yaml", "name")

Application = Mapping[str, Any]

_NOTHING = "-"
_COLUMNS: dict[str, Callable[[Application], str]] = {
    "NAME": lambda app: _text(app, "name"),
    "ORIGIN": lambda app: _text(app, "origin"),
    "OWNER": lambda app: _text(app, "owner"),
    "STATE": lambda app: _text(app, "state"),
    "ROUTE": lambda app: _text(app, "route_prefix"),
}
_JOURNAL: dict[str, Callable[[Application], str]] = {
    "JOURNAL": lambda app: _text(app, "journal"),
    "CARRIED OVER": lambda app: _carried(app.get("carried_over")),
    "NOT CARRIED": lambda app: _text(app, "not_carried"),
}
_MEMBERS = ("journal", "carried_over", "not_carried")
_MESSAGE = 80
"""How much of a message stands in a table, in characters."""


def merged(listed: Sequence[Application], status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The applications with all that the status page tells of each, sorted by name.

    One that the status page alone knows (it could not be carried over) is shown, too.
    """
    told: dict[str, dict[str, Any]] = {}
    for part in ("dynamic", "applications"):
        of_it = status.get(part)
        entries = [{"name": name, **each} for name, each in of_it.items()] if isinstance(of_it, dict) else of_it or ()
        for each in entries:
            told.setdefault(each["name"], {}).update(each)
    for each in status.get("not_carried_over") or ():
        told.setdefault(each["name"], {"name": each["name"]})["not_carried"] = each["why"]
    every = {each["name"]: {**told.get(each["name"], {}), **each} for each in listed}
    missing = {name: each for name, each in told.items() if name not in every and each.get("not_carried")}
    return [app for _, app in sorted({**every, **missing}.items())]


def shown(applications: Sequence[Application], form: str, *, colours: bool = False) -> str:
    """In one of ``FORMS``."""
    if form in {"json", "yaml"}:
        printed = msgspec.json.encode({"applications": applications})
        return spelling.indented(printed) if form == "json" else spelling.as_yaml(printed)
    if form == "name":
        return "".join(f"{each['name']}\n" for each in applications)
    columns = dict(_COLUMNS)
    if form == "wide":
        if any(member in each for each in applications for member in _MEMBERS):
            columns |= _JOURNAL
        columns["ETAG"] = lambda app: _text(app, "etag").strip('"')
        columns["MESSAGE"] = lambda app: _short(_text(app, "message"))
    rows = [[cell(app) for cell in columns.values()] for app in applications]
    return table([list(columns), *rows], colours=colours)


def _text(app: Application, member: str) -> str:
    value = app.get(member)
    return _NOTHING if value in (None, "") else str(value)


def _carried(value: object) -> str:
    if not isinstance(value, Mapping):
        return _NOTHING if value in (None, "") else str(value)
    return " ".join(str(value[part]) for part in ("from", "at") if value.get(part)) or _NOTHING


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MESSAGE else line[: _MESSAGE - 3] + "..."

"""A story as text or as JSON. Pure."""

from __future__ import annotations

import json
from datetime import datetime

from cli.explain.facts import Facts
from cli.explain.story import Sentence, Story

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def text(facts: Facts, told: Story, now: datetime) -> str:
    """For a person: one fact a line, what happened with its times in columns."""
    at = f" at {facts.app['route_prefix']}" if facts.app.get("route_prefix") else ""
    parts = [
        [f"{facts.name} of {facts.of}: {told.state}{at}", *(each.text for each in told.is_so)],
        [_dated(each, now) for each in told.happened],
        [each.text for each in told.comes],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def as_json(facts: Facts, told: Story) -> str:
    """For a program: times are RFC 3339, or null."""
    return (
        json.dumps(
            {
                "application": facts.name,
                "of": facts.of,
                "state": told.state,
                "is": [each.text for each in told.is_so],
                "happened": [{"at": each.at and _utc(each.at), "what": each.text} for each in told.happened],
                "next": [each.text for each in told.comes],
            },
            indent=2,
        )
        + "\n"
    )


def ago(then: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits, as in ``3 min ago``. What lies ahead is ``just now``."""
    seconds = int((now - then).total_seconds())
    return next((f"{seconds // size} {unit} ago" for size, unit in _UNITS if seconds >= size), "just now")


def _dated(sentence: Sentence, now: datetime) -> str:
    if sentence.at is None:
        return f"{'time not known':<20}  {'':<10}  {sentence.text}"
    return f"{_utc(sentence.at):<20}  {ago(sentence.at, now):>10}  {sentence.text}"


def _utc(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")

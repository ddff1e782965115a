"""What a check says. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How it is. The value stands in the JSON output: do not rename."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. ``check`` is the name of the check, for programs; ``fix`` is what to do, empty where nothing is."""

    check: str
    level: Level
    text: str
    fix: str = ""


def ok(check: str, text: str) -> Finding:
    """As it should be."""
    return Finding(check, Level.OK, text)


def warning(check: str, text: str, fix: str) -> Finding:
    """It works, and something is worth knowing or could not be seen."""
    return Finding(check, Level.WARNING, text, fix)


def failed(check: str, text: str, fix: str) -> Finding:
    """It does not work."""
    return Finding(check, Level.FAILED, text, fix)

"""A stream of YAML documents, cut apart and put together again without losing a byte. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARKER = re.compile(r"^---(?=[ \t\r\n]|$)[^\r\n]*(?:\r\n|\n|\r|$)", re.MULTILINE)


def split(text: str) -> list[tuple[str, str]]:
    """``(marker, document)`` for each: the line ``---`` before it (the first may have none), and its text.

    A line that begins with ``---`` is a marker wherever it stands: inside a block scalar all lines are indented.
    """
    return list(_split(text))


def _split(text: str) -> Iterator[tuple[str, str]]:
    marker, start = "", 0
    for found in _MARKER.finditer(text):
        if found.start() > start or marker:
            yield marker, text[start : found.start()]
        marker, start = found[0], found.end()
    yield marker, text[start:]


def join(documents: list[tuple[str, str]]) -> str:
    """The text again."""
    return "".join(marker + document for marker, document in documents)

"""What a page asks its reader to do: files to write and commands to type, with what they answer. Pure.

1. A block ``console`` has commands on the lines that begin with ``$``; a backslash at the end of a line continues it.
   What follows is all that is answered; ``...`` stands for what varies, on a line of its own for any number of lines.
2. A block with ``title="NAME"`` is a file that the reader writes.
3. ``<!-- here: COMMAND -->`` before a block: where the test runs, this is done instead. It says so in words, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = re.compile(
    r"(?:<!-- here: (?P<here>.*?) -->\n)?^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_TITLE = re.compile(r'title="([^"]+)"')
ANY = "..."
_ANY_LINES = r"(?:.*\n)*?"


@dataclass(frozen=True, slots=True)
class File:
    """A file to write."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command and what it answers; without lines it does not matter. ``line`` is its place in the page."""

    text: str
    answers: tuple[str, ...]
    line: int


def steps(page: str) -> Iterator[File | Command]:
    """What there is to do, in the order of the page."""
    for block in _BLOCK.finditer(page):
        line = page.count("\n", 0, block.start("text")) + 1
        if block["here"] is not None:
            yield Command(block["here"], (), line)
        elif title := _TITLE.search(block["kind"]):
            yield File(title[1], block["text"])
        elif block["kind"].startswith("console"):
            yield from _commands(block["text"], line)


def section(page: str, title: str) -> str:
    """What stands below a heading of the second level. Raises: LookupError if there is none of that title."""
    _, found, rest = page.partition(f"\n## {title}\n")
    if not found:
        raise LookupError(title)
    return rest.partition("\n## ")[0]


def replaced(page: str) -> list[str]:
    """The commands that are replaced where the test runs."""
    return [block["text"] for block in _BLOCK.finditer(page) if block["here"] is not None]


def blocks(page: str, kind: str) -> list[str]:
    """The texts of all blocks of a kind, such as ``yaml``."""
    return [block["text"] for block in _BLOCK.finditer(page) if block["kind"].split(" ")[0] == kind]


def typed(page: str) -> list[str]:
    """Every line in a block that somebody may type: those after ``$``, and those of blocks that show commands only."""
    lines = (line for block in _BLOCK.finditer(page) for line in block["text"].replace("\\\n", " ").splitlines())
    return [line.removeprefix("$ ").partition(" #")[0].strip() for line in lines]


def matches(answers: tuple[str, ...], said: str) -> bool:
    """Is that what the page shows?"""
    pattern = "".join(_ANY_LINES if line.strip() == ANY else f"{_line(line)}\n" for line in answers)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in said.strip("\n").splitlines())) is not None


def _line(text: str) -> str:
    return re.escape(text.rstrip()).replace(re.escape(ANY), ".*?")


def _commands(text: str, first: int) -> Iterator[Command]:
    command, answers, at = "", [], first
    for number, line in enumerate(text.splitlines(), first):
        if command.endswith("\\"):
            command += f"\n{line}"
        elif line.startswith("$ "):
            if command:
                yield Command(command, tuple(answers), at)
            command, answers, at = line.removeprefix("$ "), [], number
        else:
            answers.append(line)
    if command:
        yield Command(command, tuple(answers), at)

"""What a story saw, kept as one JSON line a story: the pages are written from these and from nothing else.

A run adds to ``FILE``, outside of what is committed. ``make`` targets that write the pages take its lines over into
``KEPT``, which is committed: what was told once need not be told again on another machine.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.node.paths import REPOSITORY

KEPT = REPOSITORY / "docs" / "records.jsonl"
FILE = Path(os.environ.get("HOLDFAST_RECORDS") or REPOSITORY / ".cache" / "cluster" / "records.jsonl")


@dataclass(slots=True)
class Record:
    """One story with one pair."""

    story: str
    """Its letter and its sentence; and in brackets what it was told with, if there is a choice."""
    tells: str
    kuberay: str
    ray: str
    holdfast: bool
    holds: bool | None = None
    """Whether what users wish came true; None if the story broke off before that was known."""
    saw: dict[str, Any] = field(default_factory=dict)
    """Numbers, words, lists; a key is a row of the story's table."""

    def note(self, **seen: Any) -> None:
        self.saw |= seen

    def judge(self, wish: object, seen: object) -> None:
        self.holds = wish == seen

    def keep(self, file: Path = FILE) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as lines:
            lines.write(self.line())

    def line(self) -> str:
        """As it is kept."""
        return json.dumps({name: getattr(self, name) for name in self.__slots__}) + "\n"


def read(*files: Path) -> list[Record]:
    """All records of these files, the last one of a story and pair winning; in the order of stories and pairs."""
    lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
    records = [Record(**json.loads(line)) for line in lines]
    last = {(each.holdfast, each.story, each.kuberay, each.ray): each for each in records}
    return [last[key] for key in sorted(last)]


def write(records: Iterable[Record], file: Path) -> None:
    """These records and no others."""
    file.write_text("".join(each.line() for each in records))

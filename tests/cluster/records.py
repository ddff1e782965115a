"""What a story saw, kept as one JSON line a story: the pages are written from these and from nothing else."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.node.paths import REPOSITORY

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
            lines.write(json.dumps({name: getattr(self, name) for name in self.__slots__}) + "\n")


def read(file: Path = FILE) -> list[Record]:
    """All records, the last one of a story and pair winning."""
    records = [Record(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []
    return list({(each.story, each.kuberay, each.ray, each.holdfast): each for each in records}.values())

"""What became of each application between two looks at a Ray. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Fate(StrEnum):
    """One word for an application. The value is what the records and the pages say."""

    KEPT = "kept"
    """It runs, with the same replica actors."""
    RESTARTED = "restarted"
    """It runs, with other replica actors."""
    NEW = "new"
    """It runs now and did not before."""
    LOST = "lost"
    """It is gone."""
    BROKEN = "broken"
    """It is there and does not run."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One application as Ray's GET shows it."""

    status: str
    actors: frozenset[str]

    @classmethod
    def from_json(cls, app: Mapping[str, Any]) -> "Seen":
        replicas = [replica for each in app["deployments"].values() for replica in each["replicas"]]
        return cls(app["status"], frozenset(replica.get("actor_id") or "" for replica in replicas))

    @property
    def runs(self) -> bool:
        return self.status == "RUNNING"


Look = Mapping[str, Seen]


def look(answer: Mapping[str, Any]) -> Look:
    """Ray's answer to GET /api/serve/applications/, as far as fates go."""
    return {name: Seen.from_json(app) for name, app in answer["applications"].items()}


def running(seen: Look) -> set[str]:
    """The names of the applications that run."""
    return {name for name, app in seen.items() if app.runs}


def fates(before: Look, after: Look) -> dict[str, Fate]:
    """One fate for every application that either look has seen; one that never ran is not counted as lost."""
    names = running(before) | after.keys()
    return {name: _fate(before.get(name), after.get(name)) for name in sorted(names)}


def _fate(before: Seen | None, after: Seen | None) -> Fate:
    if after is None:
        return Fate.LOST
    if not after.runs:
        return Fate.BROKEN
    if before is None:
        return Fate.NEW
    return Fate.KEPT if before.actors == after.actors else Fate.RESTARTED

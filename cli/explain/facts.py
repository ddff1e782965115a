"""What is known of one application, from wherever it was read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from webhook.events import COMPONENT
from webhook.journal.document import Journal
from webhook.writers import Ownership

Manifest = Mapping[str, Any]

_MOST_CLOSE = 3


@dataclass(frozen=True, slots=True)
class Told:
    """An Event of ours that names the application. ``times`` is how often it was told, ``at`` when last."""

    at: datetime
    reason: str
    message: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything about application ``name``.

    ``app`` is what the sidecar says of it where Ray shows it, and of one that could not be carried over; else empty.
    ``ownership`` is None where the RayService could not be read. ``unread`` says what else could not, and why.
    """

    name: str
    of: str
    app: Manifest
    ownership: Ownership | None = None
    journal: Journal | None = None
    events: tuple[Told, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def runs(self) -> bool:
        """Does Ray show it?"""
        return self.app.get("state") is not None

    @property
    def is_known(self) -> bool:
        """Does anybody know it?"""
        journal = self.journal
        in_journal = journal is not None and (
            self.name in journal.entries or self.name in journal.deleted or self.was_made_by_serve_run
        )
        return bool(self.app) or in_journal or bool(self.events)

    @property
    def was_made_by_serve_run(self) -> bool:
        """Has a cluster said that ``serve.run`` had made it?"""
        clusters = self.journal.clusters.values() if self.journal else ()
        return any(self.name in cluster.imperative for cluster in clusters)


def naming(events: Iterable[Manifest], name: str) -> Iterator[Told]:
    """Those Events of ours that name an application, the oldest first.

    A name is one where it is not a part of a longer one: ``model`` is not told of by what is said of ``model-2``.
    """
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)")
    ours = [each for each in events if (each.get("source") or {}).get("component") == COMPONENT]
    told = [
        Told(_time(each["lastTimestamp"]), str(each["reason"]), str(each["message"]), int(each.get("count") or 1))
        for each in ours
        if each.get("lastTimestamp") and named.search(each.get("message") or "")
    ]
    yield from sorted(told, key=lambda each: each.at)


def close_to(name: str, others: Iterable[str]) -> list[str]:
    """Which of these somebody may have meant."""
    return get_close_matches(name, sorted(set(others)), n=_MOST_CLOSE)


def moment(seconds: float) -> datetime | None:
    """Unix time as a moment; None for 0, which stands for unknown."""
    return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)

"""What sidecars and the journal say to each other: both ends of one wire.

The journal holds the dynamic applications of one RayService outside of its clusters. A sidecar writes *changes* and
reads what has changed *since* a revision; the journal numbers every change it takes.

1. ``GET  /v1/journal/{namespace}/{rayservice}?since=REVISION&journal=ID`` answers a ``Page``.
   ``since=0``, another journal's ID, or a revision whose deletions are forgotten by now: a whole page.
2. ``PATCH /v1/journal/{namespace}/{rayservice}`` takes ``Changes`` and answers ``Taken``. The same changes again are
   taken without a new revision: whoever got no answer sends them once more.
3. A deletion counts for what its sender had seen: of an application that another cluster has put since ``base``, it is
   left out. A put always counts.
4. A config is the JSON object that a PUT to Ray carries, in the bytes it came in: ``1.0`` stays ``1.0``.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Role(StrEnum):
    """What KubeRay makes of the caller's RayCluster, by the status of its RayService."""

    ACTIVE = "active"  # it has the traffic
    PENDING = "pending"  # it is to get the traffic once it is ready
    UNKNOWN = "unknown"


class Finding(StrEnum):
    """What a sidecar has to tell the owner of the RayService. Each becomes an Event."""

    CARRIED_OVER = "CarriedOver"
    NOT_CARRIED_OVER = "NotCarriedOver"
    IMPERATIVE_NOT_CARRIED = "ImperativeNotCarried"
    ARRIVAL_DEADLINE_PASSED = "ArrivalDeadlinePassed"


class Entry(msgspec.Struct, frozen=True):
    """One dynamic application. ``by`` is the RayCluster that wrote it, ``revision`` the journal's when it did.

    ``at`` is when, in Unix time by the webhook's clock; 0 where that was not written down.
    """

    config: msgspec.Raw
    revision: int
    by: str
    at: int = 0


class Policy(msgspec.Struct, frozen=True):
    """What the annotations of the RayService say, as they are now.

    ``dynamic`` are globs and names of applications of the RayService itself that KubeRay is not to wait for.
    """

    dynamic: tuple[str, ...] = ()
    arrival_deadline_s: float = 600.0


class Page(msgspec.Struct, frozen=True):
    """What has changed since a revision, or (``is_whole``) everything: what it does not name then, the journal lacks.

    ``declared`` is what KubeRay declared last on the caller's own RayCluster, None if that is not known; ``imperative``
    are applications of ``serve.run`` that any of the RayService's clusters had, which cannot be carried over.
    """

    journal: str
    revision: int
    is_whole: bool
    applications: dict[str, Entry]
    deleted: dict[str, int]
    declared: tuple[str, ...] | None
    imperative: tuple[str, ...]
    policy: Policy
    role: Role


DELETED = msgspec.Raw(b"null")
"""Instead of a config."""


class Change(msgspec.Struct, frozen=True):
    """One application put (``config``) or ``DELETED``. ``base``: the revision its sender last saw of it, or 0."""

    name: str
    config: msgspec.Raw
    base: int = 0

    @property
    def is_deletion(self) -> bool:
        """Is it to leave the journal?"""
        return self.config == DELETED


class Report(msgspec.Struct, frozen=True):
    """Something to tell the owner: about which applications, and why in a sentence that quotes no config."""

    finding: Finding
    applications: tuple[str, ...]
    why: str = ""


class Changes(msgspec.Struct, frozen=True):
    """What a sidecar has to say. ``journal`` is the ID it knows, or empty; None: nothing new of that kind."""

    journal: str = ""
    changes: tuple[Change, ...] = ()
    declared: tuple[str, ...] | None = None
    imperative: tuple[str, ...] | None = None
    reports: tuple[Report, ...] = ()


class Taken(msgspec.Struct, frozen=True):
    """All that was sent is stored (reports excepted: they are told, and may be lost).

    ``revisions`` gives the revision of each application that was put; one whose deletion was left out (rule 3) is in
    ``outlived``.
    """

    journal: str
    revision: int
    revisions: dict[str, int]
    outlived: tuple[str, ...] = ()

"""A sidecar's own copy of the journal: the dynamic applications, and what is still to be done with them.

What happens on this cluster goes into it in ``serveconfig.changing``, what the journal says in
``serveconfig.following``.

1. A *Serve instance* is one actor of Serve's controller. A controller that restarts keeps its actor, and with it what
   it runs; one that had to be made anew has nothing (facts: section 6). What was brought, refused and seen is about one
   instance.
2. What waits to be sent is a set of names: of two changes of one application, the last one counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from serveconfig.document import Application
from serveconfig.journal import DELETED, Change, Policy, Role
from serveconfig.running import Running

V = TypeVar("V")


def digest(raw: bytes) -> str:
    """A short name of these very bytes: Ray prints what it stores in the same bytes each time."""
    return hashlib.sha256(raw).hexdigest()[:32]


class Held(msgspec.Struct, frozen=True):
    """One dynamic application. ``by`` is the RayCluster that put it, ``revision`` the journal's (0: not sent yet).

    ``is_here``: it runs on this instance. ``stored`` is the digest of what Ray shows of it, empty until that was seen.
    ``replaces``: it does not, but what was brought before it does.
    """

    config: msgspec.Raw
    revision: int = 0
    by: str = ""
    stored: str = ""
    is_here: bool = False
    replaces: bool = False

    def application(self) -> Application:
        """Its config, as a PUT names it."""
        return Application.parse_stored(bytes(self.config))


class Carried(msgspec.Struct, frozen=True):
    """An application that was brought: from which RayCluster, when (Unix time), and whether it has settled since."""

    source: str
    at: float
    is_settled: bool = False


@dataclass(frozen=True, slots=True)
class LocalCopy:
    """All of it.

    ``journal`` and ``revision`` are of the last page that was read. ``unsent`` maps names to the revision in which each
    was last seen. ``seen`` are the applications that ran on ``instance``; ``carried`` were brought to it, ``refused``
    (name to reason) could not be; ``dropped`` were deleted on another cluster and run here still. ``is_replayed``:
    everything has been brought that could be. ``known_since`` is when KubeRay's first PUT on the instance was seen to
    be accepted (Unix time, 0: not yet). ``imperative`` are applications of ``serve.run`` that any cluster of the
    RayService had, ``runs_imperative`` those that this one has.
    """

    journal: str = ""
    revision: int = 0
    held: Mapping[str, Held] = field(default_factory=dict)
    unsent: Mapping[str, int] = field(default_factory=dict)
    instance: str = ""
    seen: frozenset[str] = frozenset()
    carried: Mapping[str, Carried] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    is_replayed: bool = False
    known_since: float = 0.0
    declared: tuple[str, ...] | None = None
    imperative: tuple[str, ...] = ()
    runs_imperative: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    role: Role = Role.UNKNOWN

    def changes(self, most: int) -> dict[str, Change]:
        """What is to be sent, at most so many at once."""
        names = list(self.unsent)[:most]
        configs = {name: held.config if (held := self.held.get(name)) else DELETED for name in names}
        return {name: Change(name, configs[name], self.unsent[name]) for name in names}

    def to_bring(self, running: Running, declared: frozenset[str]) -> tuple[str, ...]:
        """What is held and does not run here. Nothing that runs is replaced, but what was brought before."""
        awaited = self.awaited(declared)
        return tuple(
            name
            for name, held in self.held.items()
            if name in awaited and (held.replaces or name not in running.applications)
        )

    def blocked(self, running: Running, declared: frozenset[str]) -> tuple[str, ...]:
        """What cannot be brought, as ``serve.run`` has made an application of that name here."""
        return tuple(
            name
            for name in self.awaited(declared)
            if not self.held[name].replaces and (app := running.here(name)) and not app.is_kept_by_naming
        )

    def awaited(self, declared: frozenset[str]) -> frozenset[str]:
        """What is held, does not run here, and may still come."""
        coming = {name for name, held in self.held.items() if not held.is_here}
        return frozenset(coming - self.refused.keys() - declared)

    def is_behind(self, declared: frozenset[str]) -> bool:
        """Is anything still to be done on this cluster?"""
        return not self.is_replayed or bool(self.dropped) or bool(self.awaited(declared))

    def brought(self, names: Iterable[str], now_s: float) -> LocalCopy:
        """Ray has accepted these from us."""
        held, carried = dict(self.held), dict(self.carried)
        for name in self.held.keys() & set(names):
            carried[name] = Carried(held[name].by, now_s)
            held[name] = msgspec.structs.replace(held[name], is_here=True, replaces=False, stored="")
        return replace(self, held=held, carried=carried, seen=self.seen.union(names))

    def refusing(self, name: str, why: str) -> LocalCopy:
        """It cannot be brought to this instance."""
        return replace(self, refused={**self.refused, name: why}, carried=without(self.carried, {name}))

    def arriving(self, declared: frozenset[str]) -> frozenset[str]:
        """What is to run here before this cluster may have the traffic: to be brought, or brought and not settled."""
        building = {name for name, each in self.carried.items() if not each.is_settled and name in self.held}
        return self.awaited(declared) | (building - declared)

    def unmarked(self, names: Iterable[str]) -> LocalCopy:
        """Nothing of what was brought or refused holds of these any more."""
        gone = set(names)
        carried, refused = without(self.carried, gone), without(self.refused, gone)
        return replace(self, carried=carried, refused=refused, dropped=self.dropped - gone)


def without(members: Mapping[str, V], names: Iterable[str]) -> dict[str, V]:
    """All members but these."""
    gone = set(names)
    return {name: member for name, member in members.items() if name not in gone}

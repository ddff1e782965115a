"""What KubeRay is shown besides what it declared: what has to arrive before the traffic does (G6).

1. Only on a cluster that does not serve yet. One that serves is never made to wait.
2. From KubeRay's first PUT on, until everything has run or failed, or the deadline of the RayService has passed.
3. While the journal has not said a word, the cluster waits for that word, for a minute at most; and it waits until what
   was deleted elsewhere is deleted here.
4. What the RayService marks as dynamic is not shown: nobody has to wait for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from proxy.journal.copy import JournalCopy
from proxy.journal.syncing import Syncing
from proxy.metrics import Metrics
from proxy.record import Record
from proxy.settings import Settings
from serveconfig.journal import Finding, Report, Role
from serveconfig.view import NOT_KNOWN_YET


@dataclass(frozen=True, slots=True)
class Shown:
    """Which applications KubeRay sees: ``declared`` is None while nobody knows what it declares."""

    declared: AbstractSet[str] | None
    arriving: AbstractSet[str] = frozenset()


@dataclass(slots=True)
class Arrivals:
    """Decides at each of KubeRay's looks."""

    copy: JournalCopy
    record: Record
    syncing: Syncing
    settings: Settings
    metrics: Metrics
    clock: Callable[[], float] = time.time
    _late: set[str] = field(default_factory=set)
    """The Serve instances whose deadline has passed, and was reported."""

    def shown(self) -> Shown:
        """What KubeRay is to see now."""
        declared, now = self.record.declared, self.copy.now
        if declared.config is None:
            return Shown(None)
        arriving = self._arriving(declared.names)
        self.metrics.arriving.set(len(arriving))
        dynamic = now.policy.dynamic
        visible = {name for name in declared.names if not any(fnmatchcase(name, glob) for glob in dynamic)}
        return Shown(visible if dynamic else declared.names, arriving)

    def _arriving(self, declared: frozenset[str]) -> AbstractSet[str]:
        now = self.copy.now
        if self.syncing.client is None or now.role is Role.ACTIVE:
            return frozenset()
        waited_s = self.clock() - now.known_since if now.known_since else 0.0
        if not self.syncing.has_read:
            return NOT_KNOWN_YET if waited_s < self.settings.journal_first_within_s else frozenset()
        arriving = now.arriving(declared) or (NOT_KNOWN_YET if now.dropped else frozenset())
        if arriving and waited_s > now.policy.arrival_deadline_s:
            self._report(arriving)
            return frozenset()
        return arriving

    def _report(self, arriving: AbstractSet[str]) -> None:
        if self.copy.now.instance not in self._late:
            self._late = {self.copy.now.instance}
            why = f"not settled within {self.copy.now.policy.arrival_deadline_s:g} s: the cluster goes on without them"
            self.syncing.report(Report(Finding.ARRIVAL_DEADLINE_PASSED, tuple(sorted(arriving)), why))

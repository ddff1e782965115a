"""What Ray shows, compared with what is held: every answer that goes by is looked at, and most are as they were.

An application whose deletion is known is not believed to run on, with or without its config, until it is gone or was
deployed anew (``last_deployed_time_s``): Ray shows the change only with its next pass, and at times loses sight of it
(see ``proxy.leftovers``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from proxy.journal.copy import JournalCopy
from proxy.record import Record
from serveconfig import changing
from serveconfig.declared import Declared
from serveconfig.document import Application
from serveconfig.errors import UnreadableAnswerError
from serveconfig.running import Running
from serveconfig.view import Listing


@dataclass(slots=True)
class Observer:
    """Takes what Ray shows to anyone but a browser, from which Ray hides environment variables."""

    copy: JournalCopy
    record: Record
    cluster: str
    absent_for_s: float
    clock: Callable[[], float] = time.monotonic
    _last: Mapping[str, msgspec.Raw] | None = None
    _missing: dict[str, float] = field(default_factory=dict)
    _deleted: dict[str, float] = field(default_factory=dict)

    def saw_list(self, listing: Listing) -> None:
        """A list that Ray gave to KubeRay: it may lack what ``serve.run`` has made.

        One with the applications of the last one is not read again.
        """
        if listing.applications is self._last and not self._missing:
            return
        try:
            running = Running.parse(listing.answer)
        except UnreadableAnswerError:  # a state that we do not read is none that we act on
            return
        self._last = listing.applications
        self.saw(running, is_whole=False)

    def saw(self, running: Running, *, is_whole: bool = True) -> None:
        """What runs, as Ray says it."""
        running = self._without_deleted(running)
        known = self.record.declared
        declared = known.retirable if known.config else None
        now_s = time.time()
        copy = changing.observing(self.copy.now, running, declared, self.cluster, now_s, is_whole=is_whole)
        self.copy.take(changing.deleting(copy, self._gone(changing.missing(copy, running))))

    def was_put(self, applications: Iterable[Application]) -> None:
        """Ray has accepted these, from somebody who is not KubeRay."""
        self.copy.take(changing.putting(self.copy.now, applications, self.cluster))

    def was_deleted(self, names: Iterable[str]) -> None:
        """Their owner has deleted these."""
        self.copy.take(changing.deleting(self.copy.now, names))

    def forgot(self, name: str) -> bool:
        """Its owner has deleted what does not run here, but was still to come; False where it was not."""
        if name not in self.copy.now.held:
            return False
        self.was_deleted([name])
        return True

    def was_dropped(self, dropped: Mapping[str, float]) -> None:
        """Ray has accepted a PUT that deletes these; each with the time up to which it counts as the same."""
        self._deleted.update(dropped)

    def was_declared(self, names: Iterable[str]) -> None:
        """Ray has accepted a PUT of KubeRay's that names these."""
        self.copy.take(changing.declaring(self.copy.now, names))

    def journaled(self, name: str) -> Application | None:
        """The config that is held of an application, if one is."""
        held = self.copy.now.held.get(name)
        return held.application() if held else None

    def was_shut_down(self) -> None:
        """Serve was shut down over REST: everything is deleted, by whoever asked for it."""
        self.was_deleted(name for name, held in self.copy.now.held.items() if held.is_here)

    def remembered(self, declared: Declared) -> Declared:
        """What is declared, with what the journal knows of it where this head has no record of its own."""
        known = self.copy.now
        if declared.config or not known.declared:
            return declared
        return declared.attempting(name for name in known.declared if name not in known.held)

    def _without_deleted(self, running: Running) -> Running:
        """The same without what is known to be deleted and only lingers."""
        if not running.has_controller:
            return running
        apps = running.applications
        self._deleted = {
            name: until for name, until in self._deleted.items() if name in apps and apps[name].deployed_at <= until
        }
        for name, app in apps.items():
            if app.is_deleting:
                self._deleted.setdefault(name, app.deployed_at)
        if not self._deleted:
            return running
        shown = {name: app for name, app in apps.items() if app.is_deleting or name not in self._deleted}
        return replace(running, applications=shown)

    def _gone(self, missing: frozenset[str]) -> list[str]:
        now_s = self.clock()
        self._missing = {name: self._missing.get(name, now_s) for name in missing}
        return [name for name, since_s in self._missing.items() if now_s - since_s >= self.absent_for_s]

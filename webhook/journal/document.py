"""The journal of one RayService, as a value. Pure.

Every change gets the next revision (``serveconfig.journal``, rules 1-3). Deletions are remembered by name, the last
thousand of them: whoever asks for what has changed since an older one gets a whole page.
"""

from __future__ import annotations

import secrets

import msgspec

from serveconfig.journal import Change, Changes, Entry, Page, Policy, Role, Taken
from serveconfig.localcopy import without

MOST_DELETIONS = 1000
MOST_DATED = 200
"""Of how many deletions it is remembered who made them, and when: names may be long, and a head Secret is one."""

MOST_CLUSTERS = 8
"""How many RayClusters are remembered. KubeRay has two at a time; the ones written last are kept."""


class Cluster(msgspec.Struct, frozen=True):
    """What one RayCluster has said of itself: what KubeRay declares on it, what ``serve.run`` has made."""

    declared: tuple[str, ...] | None = None
    imperative: tuple[str, ...] = ()


class Deletion(msgspec.Struct, frozen=True):
    """Which RayCluster deleted an application, and when (Unix time)."""

    by: str
    at: int


class Journal(msgspec.Struct, frozen=True):
    """``forgotten``: the last revision whose deletions are not remembered any more.

    ``deletions`` says of ``deleted`` what only people ask: it is not on the wire.
    """

    id: str
    revision: int = 0
    forgotten: int = 0
    entries: dict[str, Entry] = {}
    deleted: dict[str, int] = {}
    clusters: dict[str, Cluster] = {}
    deletions: dict[str, Deletion] = {}

    @classmethod
    def new(cls) -> Journal:
        """An empty one, that nobody takes for another."""
        return cls(secrets.token_hex(16))

    def page(self, known: str, since: int, cluster: str, policy: Policy, role: Role) -> Page:
        """What has changed since a revision of the journal ``known``, for a sidecar of ``cluster``."""
        is_whole = known != self.id or since <= 0 or since < self.forgotten or since > self.revision
        since = 0 if is_whole else since
        mine = self.clusters.get(cluster, Cluster())
        imperative = sorted({name for each in self.clusters.values() for name in each.imperative})
        return Page(
            self.id,
            self.revision,
            is_whole,
            {name: entry for name, entry in self.entries.items() if entry.revision > since},
            {name: at for name, at in self.deleted.items() if at > since},
            mine.declared,
            tuple(imperative),
            policy,
            role,
        )

    def taking(self, changes: Changes, cluster: str, at: int = 0) -> tuple[Journal, Taken]:
        """The journal with these changes by a sidecar of ``cluster``, and what to answer. ``at``: now, in Unix time."""
        journal, outlived = self, []
        for change in changes.changes:
            after = journal._taking(change, cluster, at)
            if after is None:
                outlived.append(change.name)
            else:
                journal = after
        journal = _told(_pruned(journal), changes, cluster)
        named = (change.name for change in changes.changes)
        revisions = {name: journal.entries[name].revision for name in named if name in journal.entries}
        return journal, Taken(journal.id, journal.revision, revisions, tuple(outlived))

    def _taking(self, change: Change, cluster: str, at: int) -> Journal | None:
        """The journal with one change; None where the application has outlived its deletion."""
        name, before = change.name, self.entries.get(change.name)
        revision = self.revision + 1
        if not change.is_deletion:
            if before and before.config == change.config:
                return self
            return msgspec.structs.replace(
                self,
                revision=revision,
                entries={**self.entries, name: Entry(change.config, revision, cluster, at)},
                deleted=without(self.deleted, (name,)),
                deletions=without(self.deletions, (name,)),
            )
        if before is None:
            return self
        if before.by != cluster and before.revision > change.base:
            return None
        return msgspec.structs.replace(
            self,
            revision=revision,
            entries=without(self.entries, (name,)),
            deleted={**without(self.deleted, (name,)), name: revision},
            deletions=_last({**without(self.deletions, (name,)), name: Deletion(cluster, at)}),
        )


def _last(deletions: dict[str, Deletion]) -> dict[str, Deletion]:
    return dict(list(deletions.items())[-MOST_DATED:])


def _pruned(journal: Journal) -> Journal:
    too_many = list(journal.deleted.items())[:-MOST_DELETIONS]
    if not too_many:
        return journal
    forgotten = max(journal.forgotten, *(at for _, at in too_many))
    names = [name for name, _ in too_many]
    return msgspec.structs.replace(
        journal,
        forgotten=forgotten,
        deleted=without(journal.deleted, names),
        deletions=without(journal.deletions, names),
    )


def _told(journal: Journal, changes: Changes, cluster: str) -> Journal:
    before = journal.clusters.get(cluster, Cluster())
    declared = before.declared if changes.declared is None else changes.declared
    imperative = before.imperative if changes.imperative is None else changes.imperative
    if (now := Cluster(declared, imperative)) == before:
        return journal
    clusters = {**without(journal.clusters, (cluster,)), cluster: now}
    return msgspec.structs.replace(journal, clusters=dict(list(clusters.items())[-MOST_CLUSTERS:]))

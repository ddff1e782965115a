"""What the journal says, taken into a sidecar's own copy of it.

1. What waits to be sent from here is not overwritten by what was read.
2. A cluster that *follows* (it is to get the traffic and has it not yet) gets what others put and delete. One that
   serves takes over what others have put only until it is replayed, and deletes nothing on their account: the next
   cluster is no reason to touch the present one.
3. The journal is another one (its Secret was deleted): what runs here is sent to it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from serveconfig.journal import DELETED, Change, Entry, Page, Role, Taken
from serveconfig.likeness import fingerprint
from serveconfig.localcopy import Held, LocalCopy, without


def reading(copy: LocalCopy, page: Page, cluster: str, *, follows: bool) -> LocalCopy:
    """The journal has answered. ``follows``: rule 2; ``cluster`` is the RayCluster here."""
    before = copy.held
    if copy.journal and page.journal != copy.journal:
        copy = _sent_again(copy, cluster)
    elif page.is_whole or page.deleted:
        copy = _losing(copy, page, follows=follows)
    held = dict(copy.held)
    for name, entry in page.applications.items():
        if name not in copy.unsent and (name in held or follows or not copy.is_replayed):
            held[name] = _read(held.get(name), entry, cluster, follows=follows)
    changed = {name for name, each in held.items() if name not in before or each.config != before[name].config}
    refused = without(copy.refused, changed)
    return replace(
        copy,
        journal=page.journal,
        revision=page.revision,
        held=held,
        refused=refused,
        is_replayed=copy.is_replayed and all(each.is_here or name in refused for name, each in held.items()),
        declared=page.declared if copy.declared is None else copy.declared,
        imperative=page.imperative,
        policy=page.policy,
        role=page.role,
    )


def taken(copy: LocalCopy, sent: Mapping[str, Change], by: Taken) -> LocalCopy:
    """The journal has taken what was sent. What has changed since stays to be sent.

    What has outlived its deletion is read again. So is a journal that turns out to be another one: reading it, and not
    writing to it, is what tells that everything has to be sent again (rule 3).
    """
    is_another = bool(copy.journal) and by.journal != copy.journal
    held, unsent = dict(copy.held), dict(copy.unsent)
    for name, change in sent.items():
        now = held.get(name)
        if change.config == (now.config if now else DELETED):
            unsent.pop(name, None)
        if now and name in by.revisions:
            held[name] = msgspec.structs.replace(now, revision=by.revisions[name])
    journal = copy.journal if is_another else by.journal
    revision = 0 if by.outlived or is_another else copy.revision
    return replace(copy, held=held, unsent=unsent, journal=journal, revision=revision)


def _sent_again(copy: LocalCopy, cluster: str) -> LocalCopy:
    """Whoever runs an application tells of it: the cluster that serves, or the one that has put it."""
    ours = (
        name for name, held in copy.held.items() if held.is_here and (copy.role is Role.ACTIVE or held.by == cluster)
    )
    return replace(copy, unsent=dict.fromkeys((*copy.unsent, *ours), 0))


def _losing(copy: LocalCopy, page: Page, *, follows: bool) -> LocalCopy:
    absent = copy.held.keys() - page.applications.keys() if page.is_whole else copy.held.keys() & page.deleted.keys()
    gone = {name for name in absent - copy.unsent.keys() if follows or not copy.held[name].is_here}
    here = {name for name in gone if copy.held[name].is_here}
    copy = replace(copy, held=without(copy.held, gone)).unmarked(gone)
    return replace(copy, dropped=copy.dropped | here)


def _read(held: Held | None, entry: Entry, cluster: str, *, follows: bool) -> Held:
    if held is None:
        return Held(entry.config, entry.revision, entry.by)
    if fingerprint(bytes(held.config)) == fingerprint(bytes(entry.config)):
        return msgspec.structs.replace(held, revision=entry.revision, by=entry.by)
    if held.is_here and not (follows and entry.by != cluster):
        return msgspec.structs.replace(held, revision=entry.revision)
    return Held(entry.config, entry.revision, entry.by, held.stored, replaces=held.is_here or held.replaces)

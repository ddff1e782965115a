"""What happens to dynamic applications on this cluster, and what of it is a change that others have to know.

1. What Ray shows is believed about what it shows: an application that runs with another config than the one held has
   been changed. What Ray *made* of a config that was sent is no change.
2. Deleted is what its owner deletes over our API, what is seen DELETING, and what is missing from good answers for a
   while. It must have been seen running on the same instance: a head that went blank has deleted nothing.
3. While it is not known what KubeRay declares, what is not held already may well be KubeRay's.
4. What cannot be carried (``serveconfig.carriable``) is not held. What was held of it before is not what runs, so it is
   deleted: an outdated config is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from serveconfig.carriable import fault
from serveconfig.document import Application
from serveconfig.journal import Role
from serveconfig.likeness import fingerprint
from serveconfig.localcopy import Carried, Held, LocalCopy, digest, without
from serveconfig.running import Origin, Running, RunningApplication, Status

_SETTLED = (Status.RUNNING, Status.DEPLOY_FAILED)


def putting(copy: LocalCopy, applications: Iterable[Application], cluster: str) -> LocalCopy:
    """Ray has accepted these, from somebody who is not KubeRay."""
    held, unsent, names, left = dict(copy.held), dict(copy.unsent), set(), set()
    for application in applications:
        name, before = application.name, held.get(application.name)
        if fault(name, msgspec.Raw(application.raw)):
            left.add(name)
            continue
        names.add(name)
        if before and before.is_here and fingerprint(bytes(before.config)) == fingerprint(application.raw):
            continue
        unsent.setdefault(name, before.revision if before else 0)
        held[name] = Held(msgspec.Raw(application.raw), by=cluster, is_here=True)
    return deleting(replace(copy, held=held, unsent=unsent, seen=copy.seen | names).unmarked(names), left)


def deleting(copy: LocalCopy, names: Iterable[str]) -> LocalCopy:
    """Their owner has deleted these."""
    gone = {name for name in names if name in copy.held}
    if not gone:
        return copy
    bases = {name: copy.unsent.get(name, copy.held[name].revision) for name in sorted(gone)}
    unsent = {**copy.unsent, **bases}
    return replace(copy, held=without(copy.held, gone), unsent=unsent, seen=copy.seen - gone).unmarked(gone)


def declaring(copy: LocalCopy, names: Iterable[str]) -> LocalCopy:
    """Ray has accepted a PUT of KubeRay's that names these."""
    return replace(copy, declared=tuple(sorted(names)))


def observing(
    copy: LocalCopy,
    running: Running,
    declared: frozenset[str] | None,
    cluster: str,
    now_s: float,
    *,
    is_whole: bool = True,
) -> LocalCopy:
    """Ray has shown what runs. A list without a controller shows nothing.

    ``declared`` are names that are, or may be, KubeRay's; None while that is not known. ``now_s`` is Unix time. A list
    that is not whole lacks what ``serve.run`` has made (``api_type=declarative``: KubeRay 1.5+ with Ray 2.50+).
    """
    if not running.has_controller:
        return copy
    if running.instance != copy.instance:
        copy = _on(copy, running.instance)
    theirs = declared or frozenset()
    apps = [app for app in running.applications.values() if app.name not in theirs]
    dynamic = [app for app in apps if app.is_kept_by_naming and app.config]
    copy = _shown(copy, [app for app in dynamic if declared is not None or app.name in copy.held], cluster)
    copy = deleting(copy, {app.name for app in apps if app.is_deleting} & copy.seen)
    if copy.role is Role.ACTIVE:
        copy = deleting(copy, theirs)
    if is_whole and copy.is_replayed:  # until then what serve.run had made before still counts
        imperative = sorted(app.name for app in apps if app.origin is Origin.IMPERATIVE and not app.is_deleting)
        copy = replace(copy, runs_imperative=tuple(imperative))
    known_since = copy.known_since or (0.0 if declared is None else now_s)
    return replace(copy, carried=_settled(copy.carried, running), known_since=known_since)


def missing(copy: LocalCopy, running: Running) -> frozenset[str]:
    """What ran on this instance, and is not shown: deleted, if it stays so."""
    if not running.has_controller or running.instance != copy.instance:
        return frozenset()
    return frozenset(name for name in copy.held.keys() & copy.seen if name not in running.applications)


def _on(copy: LocalCopy, instance: str) -> LocalCopy:
    """Another instance: nothing that is held runs on it until it is seen there. The journal is read from its start."""
    held = {name: msgspec.structs.replace(each, is_here=False, replaces=False) for name, each in copy.held.items()}
    fresh = LocalCopy()
    return replace(
        copy,
        revision=fresh.revision,
        held=held,
        instance=instance,
        seen=fresh.seen,
        carried=fresh.carried,
        refused=fresh.refused,
        dropped=fresh.dropped,
        is_replayed=fresh.is_replayed,
        known_since=fresh.known_since,
    )


def _shown(copy: LocalCopy, dynamic: Iterable[RunningApplication], cluster: str) -> LocalCopy:
    held, unsent, seen, left = dict(copy.held), dict(copy.unsent), set(copy.seen), set()
    for app in dynamic:
        before = held.get(app.name)
        after = _observed(before, app, cluster)
        if before is None or after.config != before.config:
            if fault(app.name, after.config):
                left.add(app.name)
                continue
            unsent.setdefault(app.name, before.revision if before else 0)
        held[app.name] = after
        seen.add(app.name)
    return deleting(replace(copy, held=held, unsent=unsent, seen=frozenset(seen)), left)


def _observed(held: Held | None, app: RunningApplication, cluster: str) -> Held:
    """What is held of an application that runs: with another config, if it has been changed."""
    raw = app.config.raw if app.config else b""
    if held and held.is_here and held.config == msgspec.Raw(raw):
        return held  # nearly all, nearly always
    stored = digest(raw)
    if held is None:
        return Held(msgspec.Raw(raw), by=cluster, stored=stored, is_here=True)
    if held.is_here and stored == held.stored:
        return held
    if (held.is_here and not held.stored) or fingerprint(raw) == fingerprint(bytes(held.config)):
        return msgspec.structs.replace(held, stored=stored, is_here=True, replaces=False)
    if held.replaces:
        return held
    return Held(msgspec.Raw(raw), by=cluster, stored=stored, is_here=True)


def _settled(carried: Mapping[str, Carried], running: Running) -> Mapping[str, Carried]:
    now = {
        name
        for name, each in carried.items()
        if not each.is_settled and (app := running.applications.get(name)) and app.status in _SETTLED
    }
    return {k: msgspec.structs.replace(each, is_settled=True) if k in now else each for k, each in carried.items()}

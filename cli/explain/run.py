"""`holdfast explain`: ask the sidecar, read what Kubernetes has, tell. Nothing is changed."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from certs.apiserver import ApiError, UnreachableError
from cli.apps import showing
from cli.apps.asking import Sidecar
from cli.apps.common import Prepared, carried_out, ended
from cli.apps.errors import EXIT_DONE, RefusedError
from cli.apps.reaching import ThroughApiServer
from cli.explain import facts, report
from cli.explain.story import story
from webhook.events import About
from webhook.heads import metadata
from webhook.journal.document import Journal
from webhook.journal.packing import READABLE_BYTES, UnreadableJournalError
from webhook.journal.store import JournalStore
from webhook.writers import Ownership


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """The exit code: 0 told, 1 nobody knows it or something was refused, 2 wrong usage, 3 not reached."""
    return ended("holdfast explain", lambda: carried_out(lambda: _prepare(options), options, environ))


def _prepare(options: argparse.Namespace) -> Prepared:
    async def carry_out(sidecar: Sidecar) -> int:
        known, names = await _known(sidecar, options.name)
        if not known.is_known:
            close = facts.close_to(options.name, names)
            hint = f"; it has {', '.join(close)}" if close else ""
            raise RefusedError(f"nobody knows an application {options.name} of {known.of}{hint}")
        told = story(known)
        if options.output == "json":
            sys.stdout.write(report.as_json(known, told))
        else:
            sys.stdout.write(report.text(known, told, datetime.now(UTC)))
        return EXIT_DONE

    return carry_out


async def _known(sidecar: Sidecar, name: str) -> tuple[facts.Facts, set[str]]:
    """What is known of it, and the names of all that could have been meant."""
    answer, listed, status = await asyncio.gather(sidecar.get(name), sidecar.list(), sidecar.status())
    shown = [msgspec.json.decode(answer)] if answer is not None else []
    told = {each["name"]: each for each in showing.merged(shown, status)}
    app = told.get(name, {})
    names = {each["name"] for each in listed["applications"]} | told.keys()
    if not isinstance(sidecar.way, ThroughApiServer):
        return facts.Facts(name, "the head at this URL", app, unread=("RayService, Events and journal: --url",)), names
    return await _with_kubernetes(sidecar.way, name, app, names)


async def _with_kubernetes(
    way: ThroughApiServer, name: str, app: facts.Manifest, names: set[str]
) -> tuple[facts.Facts, set[str]]:
    about = About(way.namespace, way.rayservice["metadata"]["name"], way.rayservice["metadata"]["uid"])
    annotations = metadata(way.rayservice, "annotations")
    events, journal = await asyncio.gather(_events(way, about), _journal(way, about))
    unread = tuple(each for each in (events, journal) if isinstance(each, str))
    known = facts.Facts(
        name,
        f"RayService {about.namespace}/{about.name}",
        app,
        Ownership.of(annotations, annotations),
        journal if isinstance(journal, Journal) else None,
        () if isinstance(events, str) else tuple(facts.naming(events, name)),
        unread,
    )
    held = {*known.journal.entries, *known.journal.deleted} if known.journal else set()
    return known, names | held


async def _events(way: ThroughApiServer, about: About) -> list[facts.Manifest] | str:
    """What was told of the RayService, or why it cannot be read."""
    selector = f"involvedObject.kind=RayService,involvedObject.name={about.name}"
    try:
        found = await way.api.get(f"/api/v1/namespaces/{about.namespace}/events", fieldSelector=selector)
    except (ApiError, UnreachableError) as error:
        return f"its Events ({error})"
    return [each for each in found["items"] if each["involvedObject"].get("uid") == about.uid]


async def _journal(way: ThroughApiServer, about: About) -> Journal | str | None:
    """The journal, None where there is none, or why it cannot be read."""
    try:
        return await JournalStore(way.api, READABLE_BYTES).look(about)
    except (ApiError, UnreachableError, UnreadableJournalError) as error:
        return f"its journal ({error})"

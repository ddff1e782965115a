"""The journal's HTTP API (``serveconfig.journal``), on the webhook's port. Any replica may answer."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from weakref import WeakValueDictionary

import msgspec
from aiohttp import web

from certs.apiserver import ApiError, ApiServer, UnreachableError
from serveconfig.journal import Changes, Report
from webhook.cluster import LookupFailedError
from webhook.events import About
from webhook.journal import standing
from webhook.journal.callers import Callers, Sidecar
from webhook.journal.packing import JournalFullError
from webhook.journal.store import ConflictError, JournalStore
from webhook.metrics import JournalAnswer, Metrics
from webhook.notices import Notice, Reason

log = logging.getLogger("holdfast.journal")

PATH = "/v1/journal/{namespace}/{name}"

_ATTEMPTS = 8
_PAUSE_S = 0.02

Handler = Callable[["Asked"], Awaitable[web.Response]]


class _Problem(Exception):  # noqa: N818 - what is answered instead
    def __init__(self, outcome: JournalAnswer, status: int, title: str, detail: str) -> None:
        super().__init__(title)
        self.outcome, self.status, self.title, self.detail = outcome, status, title, detail


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a sidecar that is who it says."""

    http: web.Request
    by: Sidecar
    about: About
    rayservice: dict[str, object]


@dataclass(slots=True)
class JournalApi:
    """Answers sidecars."""

    api: ApiServer
    store: JournalStore
    callers: Callers
    metrics: Metrics
    tell: Callable[[About, Notice], None]
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def add_to(self, app: web.Application) -> None:
        """Its routes."""
        app.router.add_get(PATH, self.get)
        app.router.add_patch(PATH, self.patch)

    async def get(self, http: web.Request) -> web.Response:
        """A page."""
        return await self._answer(http, self._get)

    async def patch(self, http: web.Request) -> web.Response:
        """Changes."""
        return await self._answer(http, self._patch)

    async def _get(self, asked: Asked) -> web.Response:
        try:
            since = int(asked.http.query.get("since", "0"))
        except ValueError:
            raise _Problem(JournalAnswer.BAD_REQUEST, 400, "Bad request", "since is no revision.") from None
        stored = await self.store.read(asked.about)
        page = stored.journal.page(
            asked.http.query.get("journal", ""),
            since,
            asked.by.raycluster,
            standing.policy(asked.rayservice),
            standing.role(asked.rayservice, asked.by.raycluster),
        )
        return _json(page)

    async def _patch(self, asked: Asked) -> web.Response:
        try:
            changes = msgspec.json.decode(await asked.http.read(), type=Changes)
        except (msgspec.DecodeError, RecursionError):
            detail = "The body is not what serveconfig.journal calls Changes."
            raise _Problem(JournalAnswer.BAD_REQUEST, 400, "Bad request", detail) from None
        lock = self._locks.setdefault(asked.about.uid, asyncio.Lock())
        async with lock:  # of one replica's own writers none has to be told that another was faster
            taken = await self._take(asked, changes)
        for report in changes.reports:
            self.tell(asked.about, notice(report, asked.by.raycluster))
        return _json(taken)

    async def _take(self, asked: Asked, changes: Changes) -> object:
        for attempt in range(_ATTEMPTS):
            stored = await self.store.read(asked.about)
            journal, taken = stored.journal.taking(changes, asked.by.raycluster)
            if stored.version is not None and journal == stored.journal:
                return taken
            try:
                await self.store.write(asked.about, journal, stored)
            except ConflictError:
                self.metrics.journal_conflicts.inc()
                await asyncio.sleep(_PAUSE_S * 2**attempt * random.uniform(0.5, 1))  # noqa: S311 - to come apart
            except JournalFullError as error:
                raise _Problem(JournalAnswer.FULL, 507, "Journal full", f"{error}. Nothing was stored.") from error
            else:
                return taken
        detail = "Other replicas wrote the same journal each time; nothing was stored. Send it again."
        raise _Problem(JournalAnswer.CONFLICT, 409, "Conflict", detail)

    async def _answer(self, http: web.Request, handler: Handler) -> web.Response:
        started_s, outcome = time.perf_counter(), JournalAnswer.DONE
        try:
            return await handler(await self._asked(http))
        except _Problem as problem:
            outcome = problem.outcome
            return _problem(problem)
        except (ApiError, UnreachableError, LookupFailedError) as error:
            outcome = JournalAnswer.UNAVAILABLE
            log.warning("the journal could not be reached", extra={"error": str(error)})
            return _problem(_Problem(outcome, 503, "Unavailable", "The API server did not do its part. Try again."))
        finally:
            self.metrics.journal_requests.labels(http.method, outcome).inc()
            self.metrics.journal_seconds.labels(http.method).observe(time.perf_counter() - started_s)

    async def _asked(self, http: web.Request) -> Asked:
        scheme, _, token = http.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise _Problem(JournalAnswer.UNAUTHORIZED, 401, "Unauthorized", "Send the pod's token.")
        namespace, name = http.match_info["namespace"], http.match_info["name"]
        by = await self.callers.who(token.strip())
        if by is None or (by.namespace, by.rayservice) != (namespace, name):
            raise _forbidden()
        rayservice = await self.api.find(f"/apis/ray.io/v1/namespaces/{namespace}/rayservices/{name}")
        if rayservice is None:
            raise _forbidden()
        return Asked(http, by, About(namespace, name, rayservice["metadata"]["uid"]), rayservice)


def notice(report: Report, raycluster: str) -> Notice:
    """What a sidecar found out, as an Event."""
    names = ", ".join(report.applications[:20])
    more = f" and {len(report.applications) - 20} more" if len(report.applications) > 20 else ""  # noqa: PLR2004
    return Notice(Reason(report.finding), f"{raycluster}: {names}{more}" + (f" ({report.why})" if report.why else ""))


def _forbidden() -> _Problem:
    detail = "This token does not speak for that RayService."
    return _Problem(JournalAnswer.FORBIDDEN, HTTPStatus.FORBIDDEN, "Forbidden", detail)


def _problem(problem: _Problem) -> web.Response:
    body = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
    return web.json_response(body, status=problem.status, content_type="application/problem+json")


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")

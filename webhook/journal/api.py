"""The journal's HTTP API (``serveconfig.journal``), on the webhook's port. Any replica may answer.

A journal is in memory while it is asked for, and all RayServices share that memory: of one RayService one request is
answered at a time, of all a few. What comes slowly is read before its turn.
"""

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
from serveconfig.carriable import fault
from serveconfig.journal import Changes, Report
from webhook.cluster import LookupFailedError
from webhook.events import About
from webhook.faults import described
from webhook.journal import standing
from webhook.journal.callers import Callers, Sidecar
from webhook.journal.packing import JournalFullError
from webhook.journal.store import ConflictError, JournalStore, Stored
from webhook.metrics import JournalAnswer, Metrics
from webhook.notices import Notice, Reason

log = logging.getLogger("holdfast.journal")

PATH = "/v1/journal/{namespace}/{name}"

_AT_ONCE = 4
"""How many requests are answered at a time: with the largest journals, the webhook stays within its memory limit."""

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
    body: bytes


@dataclass(slots=True)
class JournalApi:
    """Answers sidecars."""

    api: ApiServer
    store: JournalStore
    callers: Callers
    metrics: Metrics
    tell: Callable[[About, Notice], None]
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

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
            raise _bad("since is no revision.") from None
        stored = await self._read(asked)
        page = stored.journal.page(
            asked.http.query.get("journal", ""),
            since,
            asked.by.raycluster,
            standing.policy(asked.rayservice),
            standing.role(asked.rayservice, asked.by.raycluster),
        )
        return _json(page)

    async def _patch(self, asked: Asked) -> web.Response:
        changes = _changes(asked.body)
        taken = await self._take(asked, changes)
        for report in changes.reports:
            self.tell(asked.about, notice(report, asked.by.raycluster))
        return _json(taken)

    async def _take(self, asked: Asked, changes: Changes) -> object:
        for attempt in range(_ATTEMPTS):
            stored = await self._read(asked)
            journal, taken = stored.journal.taking(changes, asked.by.raycluster, int(time.time()))
            if stored.version is not None and journal == stored.journal:
                return taken
            try:
                await self.store.write(asked.about, journal, stored)
            except ConflictError:
                self.metrics.journal_conflicts.inc()
                await asyncio.sleep(_PAUSE_S * 2**attempt * random.uniform(0.5, 1))  # noqa: S311 - to come apart
            except JournalFullError as error:
                self.tell(asked.about, Notice(Reason.JOURNAL_FULL, f"{asked.by.raycluster}: {error}"))
                raise _Problem(JournalAnswer.FULL, 507, "Journal full", f"{error}. Nothing was stored.") from error
            else:
                return taken
        raise ConflictError("other replicas were faster each time")

    async def _read(self, asked: Asked) -> Stored:
        stored = await self.store.read(asked.about)
        if stored.kept_as:
            text = f"its Secret could not be read: kept as {stored.kept_as}; a new journal begins"
            self.tell(asked.about, Notice(Reason.JOURNAL_PUT_ASIDE, text))
        return stored

    async def _answer(self, http: web.Request, handler: Handler) -> web.Response:
        started_s, outcome = time.perf_counter(), JournalAnswer.FAILED
        try:
            asked = await self._asked(http)
            turn = self._turns.setdefault(asked.about.uid, asyncio.Lock())
            async with turn, self._room:
                answer = await handler(asked)
            outcome = JournalAnswer.DONE
        except Exception as error:  # noqa: BLE001 - aiohttp would log an unknown one's text, and that may quote (G12)
            problem = error if isinstance(error, _Problem) else _as_problem(error)
            outcome = problem.outcome
            answer = _problem(problem)
        finally:
            self.metrics.journal_requests.labels(http.method, outcome).inc()
            self.metrics.journal_seconds.labels(http.method).observe(time.perf_counter() - started_s)
        return answer

    async def _asked(self, http: web.Request) -> Asked:
        scheme, _, token = http.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise _Problem(JournalAnswer.UNAUTHORIZED, 401, "Unauthorized", "Send the pod's token.")
        namespace, name = http.match_info["namespace"], http.match_info["name"]
        by = await self.callers.who(token.strip())
        if by is None:
            raise _forbidden()
        if (by.namespace, by.rayservice) != (namespace, name):
            log.warning("a sidecar asked for another journal", extra={"namespace": by.namespace, "of": by.rayservice})
            raise _forbidden()
        rayservice = await self.api.find(f"/apis/ray.io/v1/namespaces/{namespace}/rayservices/{name}")
        if rayservice is None:
            log.warning("the RayService is gone", extra={"namespace": namespace, "of": name})
            raise _forbidden()
        about = About(namespace, name, rayservice["metadata"]["uid"])
        return Asked(http, by, about, rayservice, await http.read())


def notice(report: Report, raycluster: str) -> Notice:
    """What a sidecar found out, as an Event."""
    names = ", ".join(report.applications[:20])
    more = f" and {len(report.applications) - 20} more" if len(report.applications) > 20 else ""  # noqa: PLR2004
    return Notice(Reason(report.finding), f"{raycluster}: {names}{more}" + (f" ({report.why})" if report.why else ""))


def _changes(body: bytes) -> Changes:
    try:
        changes = msgspec.json.decode(body, type=Changes)
    except (msgspec.DecodeError, RecursionError):
        raise _bad("The body is not what serveconfig.journal calls Changes.") from None
    for change in changes.changes:
        if not change.is_deletion and (why := fault(change.name, change.config)):
            raise _bad(f"Nothing was stored: {why}.")
    return changes


def _bad(detail: str) -> _Problem:
    return _Problem(JournalAnswer.BAD_REQUEST, HTTPStatus.BAD_REQUEST, "Bad request", detail)


def _as_problem(error: Exception) -> _Problem:
    """What is answered to a fault that is not the caller's, and what of it stands in the log."""
    match error:
        case web.HTTPRequestEntityTooLarge():
            return _Problem(JournalAnswer.TOO_LARGE, error.status, "Too large", "Send fewer changes at once.")
        case ConflictError():
            detail = "Other replicas wrote the same journal each time; nothing was stored. Send it again."
            return _Problem(JournalAnswer.CONFLICT, HTTPStatus.CONFLICT, "Conflict", detail)
        case ApiError() | UnreachableError() | LookupFailedError():
            log.warning("the journal could not be reached", extra={"error": str(error)})
            detail, status = "The API server did not do its part. Try again.", HTTPStatus.SERVICE_UNAVAILABLE
            return _Problem(JournalAnswer.UNAVAILABLE, status, "Unavailable", detail)
    log.error("the journal failed", extra=described(error))
    status, detail = HTTPStatus.INTERNAL_SERVER_ERROR, "A fault of Holdfast's own; the webhook's log says where."
    return _Problem(JournalAnswer.FAILED, status, "Failed", detail)


def _forbidden() -> _Problem:
    detail = "This token does not speak for that RayService."
    return _Problem(JournalAnswer.FORBIDDEN, HTTPStatus.FORBIDDEN, "Forbidden", detail)


def _problem(problem: _Problem) -> web.Response:
    body = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
    return web.json_response(body, status=problem.status, content_type="application/problem+json")


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")

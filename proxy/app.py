"""The life of a request, on one screen.

The relay reads a request's head and asks ``Sidecar.route``: a handler of ours, or None, which means that the request
passes to Ray byte for byte. A handler's refusals become statuses in ``answered``; then the exchange is counted and
logged in ``observe``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from proxy.applications import ServeApplications
from proxy.deploying import Deployments
from proxy.http.head import Headers, RequestHead
from proxy.http.local import Answer, Handler, Request
from proxy.journal.arrivals import Arrivals
from proxy.journal.carrying import Carrying
from proxy.journal.client import JournalClient
from proxy.journal.copy import JournalCopy
from proxy.journal.observing import Observer
from proxy.journal.syncing import Syncing
from proxy.metrics import Metrics
from proxy.oneapp import PREFIX, OneApplication
from proxy.openapi import openapi
from proxy.page.document import Page
from proxy.problems import problem
from proxy.ray import Ray, RayRefusedError
from proxy.record import Record
from proxy.relay import Exchange
from proxy.settings import Settings
from proxy.status import StatusPages
from proxy.view import KubeRayView
from serveconfig.callers import SERVE_PATH, Caller, Handling, caller, handling
from serveconfig.errors import Refusal

log = logging.getLogger("holdfast.app")

RayHandler = Callable[[Ray, Request], Awaitable[Answer]]


@dataclass(slots=True)
class Sidecar:
    """Every handler and what they share. One for both listeners: there is one Ray, and one lock."""

    settings: Settings
    metrics: Metrics
    deployments: Deployments
    view: KubeRayView
    pages: StatusPages
    syncing: Syncing
    carrying: Carrying
    handlers: dict[Handling, RayHandler]
    own: dict[str, dict[str, RayHandler]]

    @classmethod
    def create(cls, settings: Settings, version: str, credentials: Headers = ()) -> Sidecar:
        """Put the parts together. ``credentials`` are the headers of calls to Ray that nobody else asked for."""
        metrics = Metrics(version)
        record = Record(Path(settings.state_dir), metrics)
        copy = JournalCopy(Path(settings.state_dir), metrics)
        syncing = Syncing(copy, JournalClient(settings) if settings.journal_url else None, settings, metrics)
        observer = Observer(copy, record, settings.journal_cluster, settings.absent_for_s)
        arrivals = Arrivals(copy, record, syncing, settings, metrics)
        view = KubeRayView(arrivals.shown, observer.saw_list, settings, metrics)
        deployments = Deployments(record, settings, metrics, observer, on_change=view.forget)
        carrying = Carrying(copy, deployments, observer, syncing, settings, metrics, credentials)
        pages = StatusPages(deployments, view, syncing, carrying, metrics, version)
        serve, one = ServeApplications(deployments, syncing), OneApplication(deployments, syncing)
        handlers: dict[Handling, RayHandler] = {
            Handling.VIEW: view.get,
            Handling.DECLARE: serve.declare,
            Handling.UPSERT: serve.upsert,
            Handling.SHUTDOWN: serve.shutdown,
        }
        own: dict[str, dict[str, RayHandler]] = {
            "/-/": {"GET": Page.read().get},
            "/-/healthz": {"GET": pages.healthz},
            "/-/status": {"GET": pages.status},
            "/-/metrics": {"GET": pages.metrics_page},
            "/-/openapi.json": {"GET": openapi},
            PREFIX: {"GET": one.list},
            PREFIX + "{name}": {"GET": one.get, "PUT": one.put, "DELETE": one.delete},
        }
        return cls(settings, metrics, deployments, view, pages, syncing, carrying, handlers, own)

    async def work(self, ray: Ray) -> None:
        """What goes on between requests, until cancelled: the journal is kept, and what it has is brought here."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.syncing.run())
            group.create_task(self.carrying.run(ray))

    def route(self, ray: Ray, head: RequestHead) -> Handler | None:
        """Who answers: a handler, or None for Ray itself."""
        who, what = classified(head)
        if what is Handling.PASS:
            return None
        if who is Caller.KUBERAY and what in (Handling.VIEW, Handling.DECLARE):
            self.pages.saw_kuberay()
        handler = self._own(head) if what is Handling.OWN else self.handlers[what]
        return lambda request: answered(handler, ray, request)

    def observe(self, exchange: Exchange) -> None:
        """Count and log one request that is over."""
        who, what = classified(exchange.head)
        self.metrics.requests.labels(what, who).inc()
        if exchange.method == "DELETE" and exchange.path == SERVE_PATH:
            self.view.forget()  # it may have shut Serve down
            if what is Handling.PASS and exchange.status == HTTPStatus.OK:
                self.deployments.observer.was_shut_down()
        if what is not Handling.PASS:
            self.metrics.request_seconds.labels(what).observe(exchange.duration_s)
        log.info(
            "request",
            extra={
                "method": exchange.method,
                "path": exchange.path,
                "status": exchange.status,
                "caller": who,
                "handling": what,
                "received_bytes": exchange.received_bytes,
                "sent_bytes": exchange.sent_bytes,
                "duration_ms": round(1000 * exchange.duration_s, 2),
            },
        )

    def _own(self, head: RequestHead) -> RayHandler:
        path = head.path
        is_one = path.startswith(PREFIX) and path != PREFIX
        methods = self.own.get(PREFIX + "{name}" if is_one else path)
        if methods is None:
            return self._no_such_page
        method = head.method.decode("latin-1")
        return methods.get("GET" if method == "HEAD" else method) or _not_allowed(sorted({*methods, "HEAD"}))

    async def _no_such_page(self, _ray: Ray, _request: Request) -> Answer:
        return problem(HTTPStatus.NOT_FOUND, "No such page", f"Holdfast answers at {', '.join(self.own)}.")


def classified(head: RequestHead | None) -> tuple[Caller, Handling]:
    """Who sends a request, and what is done with it. One that cannot be read is refused by the relay: ours."""
    if head is None:
        return Caller.OTHER, Handling.OWN
    query = head.query.decode("latin-1")
    who = caller(query, (head.first(b"user-agent") or b"").decode("latin-1"))
    return who, handling(head.method.decode("latin-1"), head.path, query, who)


async def answered(handler: RayHandler, ray: Ray, request: Request) -> Answer:
    """The handler's answer, with every refusal as the status it proposes."""
    try:
        return await handler(ray, request)
    except RayRefusedError as error:
        return error.answer
    except Refusal as error:
        return problem(error.status, error.title, str(error))


def _not_allowed(methods: list[str]) -> RayHandler:
    allowed = ", ".join(methods)

    async def answer(_ray: Ray, _request: Request) -> Answer:
        refused = problem(HTTPStatus.METHOD_NOT_ALLOWED, "Method not allowed", f"This path takes {allowed}.")
        return Answer(refused.status, (*refused.headers, (b"Allow", allowed.encode())), refused.body)

    return answer

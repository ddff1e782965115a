"""The life of an admission, on one screen.

``POST /mutate``: the body is read and understood (else 400: there is no uid to answer to), its owner looked up, its
fate decided, counted, logged and told. Whatever goes wrong on our side, the object is admitted as it is, with a warning
(G11).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
from aiohttp import web

from webhook import injection, services
from webhook.admission import Admission, Aside, raycluster_to_look_up
from webhook.cluster import LookupFailedError
from webhook.events import About
from webhook.faults import described
from webhook.heads import RayServiceOwner
from webhook.journal.api import JournalApi
from webhook.metrics import CONTENT_TYPE, OTHER, RESOURCES, Metrics
from webhook.notices import Notice
from webhook.review import Decision, NotAReviewError, Request, respond
from webhook.settings import Settings

log = logging.getLogger("holdfast.admission")

_EXPECT = frozenset((injection.Verdict.INJECTED, services.Verdict.REDIRECTED))
"""After these a head is about to start that asks for the journal."""

_LARGE_BYTES = 64 << 10
"""A larger review is decided in a thread: reading a megabyte of YAML takes a second, and others wait milliseconds."""


class Owners(Protocol):
    """Whose a RayCluster is; ``webhook.cluster.Cluster`` knows."""

    async def owner(self, namespace: str, raycluster: str) -> RayServiceOwner | None:
        """Its RayService, or None. Raises LookupFailedError."""


@dataclass(slots=True)
class Webhook:
    """What an admission needs.

    ``is_ready`` is asked by ``/readyz``: is there a certificate? ``admission`` is None until the cluster is known.
    ``expect_head`` is told the namespace in which a head is about to come.
    """

    settings: Settings
    metrics: Metrics
    owners: Owners
    tell: Callable[[About, Notice], None]
    is_ready: Callable[[], bool] = field(default=lambda: True)
    journal: JournalApi | None = None
    expect_head: Callable[[str], None] = field(default=lambda _: None)
    admission: Admission | None = None
    is_draining: bool = False

    def app(self) -> web.Application:
        """Every route."""
        app = web.Application(client_max_size=self.settings.max_body_bytes)
        app.router.add_post("/mutate", self.mutate)
        app.router.add_get("/healthz", self.healthz)
        app.router.add_get("/readyz", self.readyz)
        app.router.add_get("/metrics", self.metrics_page)
        if self.journal:
            self.journal.add_to(app)
        return app

    async def mutate(self, http: web.Request) -> web.Response:
        """One admission."""
        body = await http.read()
        started_s = time.perf_counter()
        try:
            request = Request.parse(body)
        except NotAReviewError as error:
            raise web.HTTPBadRequest(text=str(error)) from None
        owner, decision = await self._decided(request, is_large=len(body) > _LARGE_BYTES)
        answer = web.Response(body=msgspec.json.encode(respond(request, decision)), content_type="application/json")
        if self.is_draining:
            # The API server keeps its connections: each is given back with an answer, so that none breaks under a call.
            answer.force_close()
        self._observe(request, decision, time.perf_counter() - started_s)
        self._tell(request, owner, decision)
        return answer

    async def _decided(self, request: Request, *, is_large: bool) -> tuple[RayServiceOwner | None, Decision]:
        try:
            async with asyncio.timeout(self.settings.admit_within_s):
                return await self._decide(request, is_large=is_large)
        except LookupFailedError as error:
            log.warning("owner not known", extra={"uid": request.uid, "error": str(error)})
            text = f"the API server did not say whose this {request.kind} is: admitted as it is, to be mended later"
            return None, Decision(Aside.LOOKUP_FAILED, warnings=(text,))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not stop anybody's work (G11)
            log.error("admission failed", extra={"uid": request.uid, **described(error)})  # noqa: TRY400 - see there
            text = (
                f"a fault of Holdfast ({type(error).__name__}): admitted as it is; its log says more, uid {request.uid}"
            )
            return None, Decision(Aside.FAILED, warnings=(text,))

    async def _decide(self, request: Request, *, is_large: bool) -> tuple[RayServiceOwner | None, Decision]:
        if self.admission is None:
            raise LookupFailedError("the API server's version is not known yet")
        raycluster = raycluster_to_look_up(request)
        owner = await self.owners.owner(request.namespace, raycluster) if raycluster else None
        if is_large:
            return owner, await asyncio.to_thread(self.admission.decide, request, owner)
        return owner, self.admission.decide(request, owner)

    def _observe(self, request: Request, decision: Decision, duration_s: float) -> None:
        resource = RESOURCES.get(request.kind, OTHER)
        self.metrics.admissions.labels(resource, decision.outcome).inc()
        self.metrics.admission_seconds.labels(resource).observe(duration_s)
        log.info(
            "admission",
            extra={
                "resource": resource,
                "operation": request.operation,
                "outcome": decision.outcome,
                "namespace": request.namespace,
                "object": request.name,
                "uid": request.uid,
                "writer": str(request.writer),
                "dry_run": request.is_dry_run,
                "duration_ms": round(1000 * duration_s, 2),
            },
        )

    def _tell(self, request: Request, owner: RayServiceOwner | None, decision: Decision) -> None:
        """Events are side effects: none for a dry run, and none about what does not exist yet."""
        about = _about(request, owner)
        if decision.outcome in _EXPECT and not request.is_dry_run:
            self.expect_head(request.namespace)
        if about.uid and not request.is_dry_run:
            for notice in decision.notices:
                self.tell(about, notice)

    async def healthz(self, _: web.Request) -> web.Response:
        """It runs."""
        return web.Response(text="ok\n")

    async def readyz(self, _: web.Request) -> web.Response:
        """It can answer the API server: it has a certificate, knows the cluster, and is not about to stop."""
        ready = self.admission is not None and not self.is_draining and self.is_ready()
        return web.Response(text="ok\n" if ready else "not ready\n", status=200 if ready else 503)

    async def metrics_page(self, _: web.Request) -> web.Response:
        """Prometheus' page."""
        return web.Response(body=self.metrics.print(), headers={"Content-Type": CONTENT_TYPE})


def _about(request: Request, owner: RayServiceOwner | None) -> About:
    if owner is not None:
        return About(request.namespace, owner.name, owner.uid)
    is_rayservice = request.kind == "RayService"
    return About(request.namespace, request.name, request.object["metadata"].get("uid", "") if is_rayservice else "")

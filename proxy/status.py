"""What Holdfast says of itself: is it alive, what does it know, what did it do last."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus

from proxy import listed
from proxy.deploying import Deployments, LastPut
from proxy.http.local import Answer, Request
from proxy.journal.carrying import Carrying
from proxy.journal.syncing import Syncing
from proxy.metrics import CONTENT_TYPE, Metrics
from proxy.oneapp import owner
from proxy.problems import json_answer
from proxy.ray import Ray
from proxy.times import utc
from proxy.view import KubeRayView
from serveconfig.errors import UnreadableAnswerError
from serveconfig.running import Running


@dataclass(slots=True)
class StatusPages:
    """Answers ``/-/healthz``, ``/-/status`` and ``/-/metrics``."""

    deployments: Deployments
    view: KubeRayView
    syncing: Syncing
    carrying: Carrying
    metrics: Metrics
    version: str
    kuberay_seen_at: float | None = None
    _seen_states: set[tuple[str, str]] = field(default_factory=set)

    async def healthz(self, _ray: Ray, _request: Request) -> Answer:
        """The process answers. Nothing about Ray: a sidecar that is not ready because Ray is not blinds KubeRay."""
        return Answer(HTTPStatus.OK, ((b"Content-Type", b"text/plain; charset=utf-8"),), (b"ok\n",))

    async def status(self, ray: Ray, request: Request) -> Answer:
        """Every application, what is declared, the last PUT: read with the caller's credentials, as they are named.

        Raises:
            RayRefusedError, UnknownStateError, UnreadableAnswerError: as for any reading.
        """
        reading = ray.as_caller(request.head.headers)
        running = await ray.running(reading)
        declared, copy = self.deployments.record.declared, self.syncing.copy.now
        settings, has_journal = self.deployments.settings, self.syncing.client is not None
        left_behind = self.carrying.left_behind
        return json_answer(
            {
                "version": self.version,
                "rayservice": settings.journal_rayservice or None,
                "raycluster": settings.journal_cluster or None,
                "ray_version": (await ray.version(reading)).text,
                "serve_running": running.has_controller,
                "declared": {"known": declared.config is not None, "applications": sorted(declared.names)},
                "applications": listed.applications(running, declared, copy, left_behind, has_journal=has_journal),
                "dynamic": [
                    {
                        "name": app.name,
                        "origin": app.origin,
                        "state": app.status,
                        "route_prefix": app.route_prefix,
                        "journal": listed.journaled(app.name, copy, has_journal=has_journal),
                        "carried_over": listed.carried_over(app.name, copy),
                    }
                    for app in running.applications.values()
                    if app.name not in declared.names
                ],
                "not_carried_over": [{"name": name, "why": why} for name, why in copy.refused.items()],
                "journal": self._journal(),
                "last_put": _told(self.deployments.last_put),
                "kuberay_last_request": utc(self.kuberay_seen_at),
                "last_good_answer_age_s": None if (age := self._age_s()) is None else round(age, 1),
            }
        )

    def _journal(self) -> dict[str, object] | None:
        """How it is with the journal; None where there is none."""
        if self.syncing.client is None:
            return None
        now, deadline = self.syncing.copy.now, self.syncing.copy.now.policy.arrival_deadline_s
        return {
            "reachable": self.syncing.has_read and not self.syncing.problem,
            "problem": self.syncing.problem or None,
            "last_contact": utc(self.syncing.contact_at),
            "revision": now.revision,
            "queued": len(now.unsent),
            "role": now.role,
            "arriving": sorted(now.arriving(self.deployments.record.declared.names)),
            "policy": {"dynamic": now.policy.dynamic, "arrival_deadline_s": deadline},
        }

    async def metrics_page(self, _ray: Ray, _request: Request) -> Answer:
        """The metrics. Applications are counted as Ray last told KubeRay."""
        if self.view.last:
            try:
                self._count(Running.parse(self.view.last.listing.answer))
            except UnreadableAnswerError:  # a state we do not read, in a list that we need not read for KubeRay
                self._count(Running(has_controller=False, applications={}))
        return Answer(HTTPStatus.OK, ((b"Content-Type", CONTENT_TYPE),), (self.metrics.print(),))

    def saw_kuberay(self) -> None:
        """A Serve call of KubeRay came through."""
        self.kuberay_seen_at = time.time()
        self.metrics.kuberay_seen.set(self.kuberay_seen_at)

    def _count(self, running: Running) -> None:
        declared = self.deployments.record.declared
        now = Counter((owner(app.name, declared), app.status) for app in running.applications.values())
        self._seen_states |= now.keys()
        for labels in self._seen_states:
            self.metrics.applications.labels(*labels).set(now[labels])

    def _age_s(self) -> float | None:
        return time.monotonic() - self.view.last.at if self.view.last else None


def _told(last: LastPut | None) -> dict[str, object] | None:
    if last is None:
        return None
    names = {"kept": last.kept, "retired": last.retired, "taken_over": last.taken_over}
    return {"at": utc(last.at), "caller": last.by, "outcome": last.outcome, **names}

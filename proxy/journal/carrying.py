"""Brings here what the journal has and this cluster does not run (G5), and what changes elsewhere until it serves.

1. Not before KubeRay: only when everything it declared is there. In a request of its own: one bad application must not
   endanger the declared ones.
2. Asked of the state, not of events: due is what is held and does not run, so a sidecar that is killed at any point
   goes on where it was.
3. Ray refuses a config as a whole. A refused PUT is halved until the bad ones are alone; those are reported, and not
   tried again on this Serve instance. Every PUT that Ray accepts makes it start unfinished builds over, so there are as
   few as that takes, and later ones come ten seconds apart. Nobody is blamed while Ray refuses what runs here already.
4. What cannot be known (Ray away, another PUT's outcome open) is tried again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus

from proxy.deploying import Deployments, Done, Order
from proxy.http.head import Headers
from proxy.journal.copy import JournalCopy
from proxy.journal.observing import Observer
from proxy.journal.syncing import Syncing
from proxy.metrics import Metrics
from proxy.ray import Ray, RayRefusedError
from proxy.settings import Settings
from serveconfig import plans
from serveconfig.callers import Caller
from serveconfig.document import ServeConfig
from serveconfig.errors import Refusal, RouteTakenError
from serveconfig.journal import Finding, Report
from serveconfig.running import Running

log = logging.getLogger("holdfast.carrying")

_TICK_S = 0.5
_AGAIN_S = 2.0
"""KubeRay's own pace."""

_BAD_CONFIG = "Ray refused its config (400)"


@dataclass(slots=True)
class Carrying:
    """``headers`` are the credentials of the head's own container, if Ray asks for any.

    ``left_behind`` are applications of ``serve.run`` that were there before and could not be brought. Who asks for them
    gets them until this process ends; the Event says it for good.
    """

    copy: JournalCopy
    deployments: Deployments
    observer: Observer
    syncing: Syncing
    settings: Settings
    metrics: Metrics
    headers: Headers = ()
    left_behind: tuple[str, ...] = ()
    _next: float = float("-inf")
    _looked: float = float("-inf")

    async def run(self, ray: Ray) -> None:
        """Until cancelled. ``ray`` is where KubeRay's PUTs go, as far as is known."""
        while True:
            await asyncio.sleep(_TICK_S)
            if not self._is_due():
                continue
            try:
                await self.step(self.deployments.last_ray or ray)
            except (Refusal, RayRefusedError) as error:
                self._next = time.monotonic() + _AGAIN_S
                log.info("nothing could be carried over yet", extra={"error": str(error)})
            except Exception as error:  # noqa: BLE001 - a fault of ours must not end the sidecar (G11)
                self._next = time.monotonic() + self.settings.journal_idle_poll_s
                log.error("carrying over failed", extra={"error": type(error).__name__})  # noqa: TRY400 - no values

    async def step(self, ray: Ray) -> None:
        """Look what runs, and bring what does not.

        Raises:
            Refusal, RayRefusedError: it is not known what runs, or nothing may be changed now.
        """
        declared = self.deployments.record.declared.names
        running = await self.deployments.look(ray, ray.as_caller(self.headers))
        self.observer.saw(running)
        self._looked = time.monotonic()
        self._next = self._looked + _AGAIN_S
        if not running.has_controller or any(running.here(name) is None for name in declared):
            return
        for name in self.copy.now.blocked(running, declared):
            self._refused(name, "serve.run has made an application of that name")
        names, dropping = self.copy.now.to_bring(running, declared), self.copy.now.dropped
        if names or dropping:
            self._next = time.monotonic() + self.settings.bring_every_s
            await self._bring(ray, names, dropping)
        elif not self.copy.now.is_replayed and not self.copy.now.awaited(declared):
            self._replayed(running)

    def _is_due(self) -> bool:
        now, declared = self.copy.now, self.deployments.record.declared
        if time.monotonic() < self._next or declared.config is None:
            return False
        has_read = self.syncing.client is None or self.syncing.has_read or self._has_waited()
        return has_read and (now.is_behind(declared.names) or self._counts())

    def _counts(self) -> bool:
        """Is it time to count what ``serve.run`` has made? KubeRay's lists do not show it."""
        return bool(self.syncing.client) and time.monotonic() - self._looked > self.settings.journal_idle_poll_s

    def _has_waited(self) -> bool:
        return time.time() - self.copy.now.known_since > self.settings.journal_first_within_s

    async def _bring(self, ray: Ray, names: Sequence[str], dropping: frozenset[str]) -> None:
        """One PUT, or as many as it takes to leave out what is refused."""
        held = self.copy.now.held
        asked = ServeConfig({}, tuple(held[name].application() for name in names if name in held))
        refused = await self._divided(ray, asked, dropping)
        if _BAD_CONFIG in refused.values() and refused.keys() == asked.names:
            await self._check_what_runs(ray)
        for name, why in refused.items():
            self._refused(name, why)

    async def _divided(self, ray: Ray, asked: ServeConfig, dropping: frozenset[str]) -> dict[str, str]:
        """Bring all that Ray takes. Why not each of the others, by name."""
        why = await self._put(ray, asked, dropping)
        if not why:
            return {}
        if len(asked.applications) == 1:
            return {asked.applications[0].name: why}
        middle = len(asked.applications) // 2
        first, second = asked.applications[:middle], asked.applications[middle:]
        refused = await self._divided(ray, ServeConfig({}, first), dropping)
        return refused | await self._divided(ray, ServeConfig({}, second), frozenset())

    async def _check_what_runs(self, ray: Ray) -> None:
        """Ray has taken none of them. Does it take what runs, without them?

        Raises:
            RayRefusedError: it does not, so none of them is to blame.
        """
        order = Order(plans.repeat, Caller.HOLDFAST, (ray, Caller.HOLDFAST, "what runs"), self._put_headers(), ray)
        done = await self.deployments.carry_out(order)
        if done.answer and not done.accepted:
            log.warning("Ray refuses what runs here already, so nothing can be carried over")
            raise RayRefusedError(done.answer)

    async def _put(self, ray: Ray, asked: ServeConfig, dropping: frozenset[str]) -> str:
        """Why Ray, or a route, stands in the way; empty if it is done.

        Raises:
            RayRefusedError: what was refused is nothing of ``asked``.
        """
        key = (ray, Caller.HOLDFAST, asked.print(), dropping)
        order = Order(lambda now: plans.bring(asked, dropping, now), Caller.HOLDFAST, key, self._put_headers(), ray)
        try:
            done = await self.deployments.carry_out(order)
        except RouteTakenError as error:
            return str(error)
        if done.accepted or done.answer is None:
            self._brought(done, asked, dropping)
            return ""
        if done.answer.status != HTTPStatus.BAD_REQUEST or not asked.applications:
            raise RayRefusedError(done.answer)
        return _BAD_CONFIG

    def _put_headers(self) -> Headers:
        return (*self.headers, (b"User-Agent", b"holdfast"), (b"Content-Type", b"application/json"))

    def _brought(self, done: Done, asked: ServeConfig, dropping: frozenset[str]) -> None:
        names = done.plan.sent.names if done.answer else asked.names
        copy = self.copy.now.brought(names, time.time())
        self.copy.take(replace(copy, dropped=copy.dropped - dropping))
        self.metrics.carried_over.inc(len(names))
        log.info("carried over", extra={"applications": len(names), "dropped": len(dropping)})

    def _refused(self, name: str, why: str) -> None:
        self.copy.take(self.copy.now.refusing(name, why))
        self.metrics.not_carried_over.inc()
        self.syncing.report(Report(Finding.NOT_CARRIED_OVER, (name,), why))
        log.warning("an application was not carried over", extra={"why": why.partition(" (")[0]})

    def _replayed(self, running: Running) -> None:
        """All that can be is here. What serve.run had made cannot: Ray has no config of it to carry."""
        now = self.copy.now
        self.copy.take(replace(now, is_replayed=True))
        if now.carried:
            why = f"{len(now.carried)} of {len(now.carried) + len(now.refused)}"
            self.syncing.report(Report(Finding.CARRIED_OVER, tuple(sorted(now.carried)), why))
        self.left_behind = gone = tuple(name for name in now.imperative if name not in running.applications)
        if gone:
            self.syncing.report(
                Report(Finding.IMPERATIVE_NOT_CARRIED, gone, "deployed by serve.run: deploy them again")
            )

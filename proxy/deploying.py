"""Changing what runs: read, plan and PUT are one step, one at a time.

1. An order is carried out whether its sender waits or not: KubeRay hangs up after 2 s, and Ray carries a PUT out
   anyway.
2. The same order sent again while the first is under way joins it. "The same" includes the sender's credentials.
3. A name that an order of KubeRay creates is on the record before the PUT is sent, and stays there if nobody can say
   what became of the PUT (``Declared.attempted``).
4. After a PUT that Ray accepted, the next order waits until Ray shows what was sent: a merge made from less would
   delete the rest.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace

from proxy.http.head import Headers
from proxy.http.local import Answer
from proxy.journal.observing import Observer
from proxy.leftovers import see_off
from proxy.metrics import Metrics, Outcome
from proxy.ray import Ray, RayRefusedError
from proxy.record import Record
from proxy.settings import Settings
from serveconfig import plans
from serveconfig.callers import Caller
from serveconfig.document import ServeConfig
from serveconfig.errors import OutcomeUnknownError, Refusal, UnknownStateError
from serveconfig.likeness import receipts
from serveconfig.plans import Plan, Situation
from serveconfig.rayversion import RayVersion
from serveconfig.running import Running

log = logging.getLogger("holdfast.deploying")


@dataclass(frozen=True, slots=True)
class Order:
    """A change somebody wants. ``key`` tells whether two orders are the same; ``headers`` go along with the PUT."""

    plan: Callable[[Situation], Plan]
    by: Caller
    key: Hashable
    headers: Headers
    ray: Ray


@dataclass(frozen=True, slots=True)
class Done:
    """What became of an order. ``answer`` is Ray's, None where nothing had to be sent.

    ``dropped`` are the applications it deleted, with the time (Ray's) up to which each counts as the same one.
    """

    plan: Plan
    answer: Answer | None
    dropped: Mapping[str, float] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Is what was asked for now what Ray has?"""
        return self.answer is None or 200 <= self.answer.status < 300  # noqa: PLR2004 - success


@dataclass(frozen=True, slots=True)
class LastPut:
    """What ``/-/status`` tells of the last order; ``at`` is Unix time."""

    at: float
    by: Caller
    outcome: Outcome
    kept: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    taken_over: tuple[str, ...] = ()


@dataclass(slots=True)
class Deployments:
    """The one place from which anything is PUT.

    ``on_change`` is called whenever Ray has accepted something. ``last_ray`` is the one that KubeRay has PUT to last.
    """

    record: Record
    settings: Settings
    metrics: Metrics
    observer: Observer
    on_change: Callable[[], None]
    last_put: LastPut | None = None
    last_ray: Ray | None = None
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _under_way: dict[Hashable, asyncio.Future[Done]] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _watches: set[asyncio.Task[None]] = field(default_factory=set)
    _dropped: Mapping[str, float] = field(default_factory=dict)

    async def carry_out(self, order: Order) -> Done:
        """Carry an order out, or join the same one.

        Raises:
            Refusal: it is not done, and why.
            RayRefusedError: the caller's credentials do not suffice to see what runs.
        """
        under_way = self._under_way.get(order.key)
        if under_way is None:
            under_way = self._under_way[order.key] = asyncio.get_running_loop().create_future()
            under_way.add_done_callback(_looked_at)
            task = asyncio.create_task(self._in_turn(order, under_way))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(under_way)

    async def finish(self, grace_s: float) -> None:
        """Wait for what is under way, for at most ``grace_s``; stop watching."""
        for watch in self._watches:
            watch.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)

    async def look(self, ray: Ray, headers: Headers) -> Running:
        """What runs, for sure.

        Raises:
            UnknownStateError: Ray shows no controller of Serve although there is one.
            RayRefusedError, UnreadableAnswerError: as for any reading.
        """
        running = await ray.running(headers)
        if not running.has_controller and await ray.has_controller(headers):
            raise UnknownStateError(
                "Ray shows no application, but Serve does run: its dashboard could not look Serve up. Nothing was "
                "changed; try again in a few seconds."
            )
        return running

    def situation(self, running: Running, version: RayVersion) -> Situation:
        """All that a plan depends on: what runs, and what is known here."""
        declared = self.observer.remembered(self.record.declared)
        return Situation(running, declared, version, self.settings.allow_loss, self._dropped, self.observer.journaled)

    async def _in_turn(self, order: Order, under_way: asyncio.Future[Done]) -> None:
        async with self._one_at_a_time:
            try:
                done = await self._do(order)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer to whoever waits
                under_way.set_exception(error)
                self._note(order, _outcome_of(error))
                return
            else:
                under_way.set_result(done)
                self._note(order, _outcome(done), done.plan)
            finally:
                under_way.cancel()  # of no effect on one that has its result
                del self._under_way[order.key]
            if done.answer and done.accepted:
                await self._settle(order, done.plan.sent)
                self._see_off(order, done.dropped)

    async def _do(self, order: Order) -> Done:
        reading = order.ray.as_caller(order.headers)
        running = await self.look(order.ray, reading)
        version = await order.ray.version(reading)
        self.observer.saw(running)
        plan, sent_at = order.plan(self.situation(running, version)), time.time()
        if plan.body is None:
            done = Done(plan, None)
        elif order.by is Caller.KUBERAY:
            done = await self._create(order, plan, plan.body)
        else:
            done = Done(plan, await order.ray.put(order.headers, plan.body))
        if done.accepted:
            done = replace(done, dropped={name: max(_deployed_at(running, name), sent_at) for name in plan.retired})
            await self._accepted(order, done)
        return done

    async def _create(self, order: Order, plan: Plan, body: bytes) -> Done:
        """KubeRay's PUT, with the names it creates on the record while nobody knows what becomes of it."""
        await self.record.keep(self.record.declared.attempting(plan.created))
        try:
            done = Done(plan, await order.ray.put(order.headers, body))
        except UnknownStateError:  # nothing was sent
            await self.record.keep(self.record.declared.not_creating(plan.created))
            raise
        if done.answer and 400 <= done.answer.status < 500:  # noqa: PLR2004 - refused: a 5xx leaves it open
            await self.record.keep(self.record.declared.not_creating(plan.created))
        return done

    async def _accepted(self, order: Order, done: Done) -> None:
        if done.answer:
            self.on_change()
        known = self.record.declared
        if order.by is Caller.KUBERAY:
            self.last_ray = order.ray
            self.observer.was_declared(done.plan.sent.names)
            await self.record.keep(known.accepting(done.plan.sent, keep_receipts=done.answer is None))
        else:
            await self.record.keep(known.not_creating(done.plan.sent.names))
        self.observer.was_dropped(done.dropped)
        if order.by is Caller.OTHER:
            self.observer.was_put(done.plan.sent.applications)
            self.observer.was_deleted(done.plan.retired)

    async def _settle(self, order: Order, sent: ServeConfig) -> None:
        """Wait for Ray to show all that was sent, and remember what it made of it."""
        reading = order.ray.as_caller(order.headers)
        shown = {}
        delay_s = 0.02
        until = time.monotonic() + self.settings.settle_timeout_s
        while time.monotonic() < until:
            try:
                shown = receipts(sent, await order.ray.running(reading, only=sent.names))
            except (Refusal, RayRefusedError):
                log.info("what ray made of a config cannot be read yet", exc_info=True)
            if len(shown) == len(sent.applications):
                break
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, 0.5)
        else:
            log.warning(
                "ray accepted applications that it does not show", extra={"missing": len(sent.names - set(shown))}
            )
        await self.record.keep(self.record.declared.noting(shown))

    def _see_off(self, order: Order, dropped: Mapping[str, float]) -> None:
        """Watch what was dropped; nobody waits for that. Until it is gone, it counts as gone."""
        if not dropped:
            return
        self._dropped = {**self._dropped, **dropped}
        reading, names = order.ray.as_caller(order.headers), frozenset(dropped)
        again = replace(order, by=Caller.OTHER, key=("drop", names), plan=lambda now: plans.drop(names, now))
        watch = see_off(dropped, lambda: order.ray.running(reading, names), lambda: self.carry_out(again))
        task = asyncio.create_task(watch)
        self._watches.add(task)
        task.add_done_callback(lambda done: self._seen_off(done, dropped))

    def _seen_off(self, watch: asyncio.Task[None], dropped: Mapping[str, float]) -> None:
        self._watches.discard(watch)
        self._dropped = {name: at for name, at in self._dropped.items() if dropped.get(name) != at}

    def _note(self, order: Order, outcome: Outcome, plan: Plan | None = None) -> None:
        kept = plan.kept if plan else ()
        retired = plan.retired if plan and outcome is Outcome.FORWARDED else ()
        taken_over = plan.taken_over if plan and outcome is Outcome.FORWARDED else ()
        self.last_put = LastPut(time.time(), order.by, outcome, kept, retired, taken_over)
        self.metrics.puts.labels(order.by, outcome).inc()
        self.metrics.kept.inc(len(kept))
        self.metrics.retired.inc(len(retired))
        self.metrics.taken_over.inc(len(taken_over))
        self.metrics.declared_known.set(self.record.declared.config is not None)
        counts = {"kept": len(kept), "retired": len(retired), "taken_over": len(taken_over)}
        log.info("put", extra={"caller": order.by, "outcome": outcome, **counts})


def _deployed_at(running: Running, name: str) -> float:
    return running.applications[name].deployed_at


def _outcome(done: Done) -> Outcome:
    if done.answer is None:
        return Outcome.UNCHANGED
    return Outcome.FORWARDED if done.accepted else Outcome.RAY_REFUSED


def _outcome_of(error: Exception) -> Outcome:
    if isinstance(error, OutcomeUnknownError):
        return Outcome.OUTCOME_UNKNOWN
    if isinstance(error, RayRefusedError):
        return Outcome.RAY_REFUSED
    is_ours = isinstance(error, Refusal) and error.status < 500  # noqa: PLR2004 - the caller's to mend
    return Outcome.REFUSED if is_ours else Outcome.UNKNOWN_STATE


def _looked_at(under_way: asyncio.Future[Done]) -> None:
    """Nobody may be waiting any more; that is no reason for a warning."""
    if not under_way.cancelled():
        under_way.exception()

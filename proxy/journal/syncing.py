"""When the journal is written and read: at once if there is something to say, again after a while if it failed.

Nothing waits for it but the answer to a change, for a second: an answer says whether the journal has the change.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TypeVar

from proxy.http.local import Answer
from proxy.journal.client import JournalClient, JournalError
from proxy.journal.copy import JournalCopy
from proxy.metrics import JournalCall, JournalOutcome, Metrics
from proxy.settings import Settings
from serveconfig import following
from serveconfig.journal import Changes, Report, Role

log = logging.getLogger("holdfast.journal")

T = TypeVar("T")

_FOLLOWS_ON_S = 120.0
"""How long a cluster follows after it got the traffic: KubeRay lets the old one live for a minute."""

_MOST_AT_ONCE = 500
"""How many changes are sent at once; half as many after the journal has found them too large."""

_MOST_REPORTS = 100
_RETRY_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""After so many failures in a row, so many seconds; the last one from then on."""


@dataclass(slots=True)
class Syncing:
    """Keeps the copy and the journal alike. ``client`` is None where there is no journal."""

    copy: JournalCopy
    client: JournalClient | None
    settings: Settings
    metrics: Metrics
    has_read: bool = False
    contact_at: float | None = None
    problem: str = ""
    _told_declared: tuple[str, ...] | None = None
    _told_imperative: tuple[str, ...] | None = None
    _reports: list[Report] = field(default_factory=list)
    _most: int = _MOST_AT_ONCE
    _read_at: float = float("-inf")
    _read_revision: int = -1
    _serves_since: float = float("-inf")
    _told: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def follows(self) -> bool:
        """Does this cluster get what others change? Not once it has had the traffic for two minutes."""
        is_new = time.monotonic() - self._serves_since < _FOLLOWS_ON_S
        return self.copy.now.role is not Role.ACTIVE or is_new

    def report(self, report: Report) -> None:
        """Tell the owner of the RayService, when there is a journal to tell it to."""
        if self.client and len(self._reports) < _MOST_REPORTS:
            self._reports.append(report)
            self.copy.changed.set()

    async def written(self, names: Iterable[str], *, are_put: bool = False) -> str:
        """Does the journal have what was changed of these? ``written``, ``queued``, or ``none``.

        ``none``: there is no journal, or one of those that were put cannot be carried.
        """
        await self.copy.saved()
        if self.client is None:
            return "none"
        names = frozenset(names)
        if are_put and names - self.copy.now.held.keys():
            return "none"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.settings.journal_within_s):
                while names & self.copy.now.unsent.keys():
                    await self._told.wait()
        return "queued" if names & self.copy.now.unsent.keys() else "written"

    async def marked(self, answer: Answer, names: Iterable[str], *, are_put: bool = False) -> Answer:
        """The answer to a change of these, with the header that says whether the journal has it."""
        mark = (b"X-Holdfast-Journal", (await self.written(names, are_put=are_put)).encode())
        return replace(answer, headers=(*answer.headers, mark))

    async def run(self) -> None:
        """Until cancelled. Without a journal there is nothing to do."""
        failures = 0
        while self.client:
            self.copy.changed.clear()
            try:
                await self._once(self.client)
                failures = 0
            except JournalError as error:
                self._failed(error)
                failures += 1
                if error.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                    self._most = max(1, self._most // 2)
            except Exception as error:  # noqa: BLE001 - a fault of ours must not end the sidecar (G11)
                failures = len(_RETRY_S)
                self._failed(JournalError(f"a fault of the sidecar's own: {type(error).__name__}"))
            await self._pause(failures)

    async def _once(self, client: JournalClient) -> None:
        if self._has_news():
            await self._write(client)
        if time.monotonic() - self._read_at >= self._poll_s() or self._is_behind():
            await self._read(client)
        if self.problem:
            log.info("the journal answers again")
        self.problem, self.contact_at = "", time.time()
        self.metrics.journal_reachable.set(1)

    def _has_news(self) -> bool:
        now = self.copy.now
        return bool(
            now.unsent
            or self._reports
            or (now.declared != self._told_declared and now.declared is not None)
            or (now.runs_imperative != self._told_imperative and now.is_replayed)
        )

    def _is_behind(self) -> bool:
        """Has the copy gone back to an earlier revision, to read again from there?"""
        return self.copy.now.revision != self._read_revision

    async def _write(self, client: JournalClient) -> None:
        now, reports = self.copy.now, tuple(self._reports)
        sent = now.changes(self._most)
        imperative = now.runs_imperative if now.is_replayed else None
        taken = await self._counted(
            JournalCall.WRITE,
            client.write(Changes(now.journal, tuple(sent.values()), now.declared, imperative, reports)),
        )
        self._told_declared, self._told_imperative = now.declared, imperative
        del self._reports[: len(reports)]
        self.copy.take(following.taken(self.copy.now, sent, taken))
        self._wake_waiting()

    async def _read(self, client: JournalClient) -> None:
        now, started = self.copy.now, time.monotonic()
        page = await self._counted(JournalCall.READ, client.read(now.journal, now.revision))
        if now.role is not Role.ACTIVE and page.role is Role.ACTIVE and self.has_read:
            self._serves_since = started
        cluster = self.settings.journal_cluster
        self.copy.take(following.reading(self.copy.now, page, cluster, follows=self.follows))
        self._read_at, self._read_revision, self.has_read = started, page.revision, True

    async def _counted(self, call: JournalCall, work: Awaitable[T]) -> T:
        try:
            answer = await work
        except JournalError as error:
            outcome = JournalOutcome.REFUSED if error.status else JournalOutcome.UNREACHABLE
            self.metrics.journal_calls.labels(call, outcome).inc()
            raise
        self.metrics.journal_calls.labels(call, JournalOutcome.DONE).inc()
        return answer

    def _failed(self, error: JournalError) -> None:
        if str(error) != self.problem:
            log.warning("the journal is away; changes are kept until it is back", extra={"error": str(error)})
        self.problem = str(error)
        self.metrics.journal_reachable.set(0)

    async def _pause(self, failures: int) -> None:
        """After a failure for a while; else until there is something to say, or to read."""
        self.metrics.journal_unsent.set(len(self.copy.now.unsent))
        if failures:
            pause_s = _RETRY_S[min(failures, len(_RETRY_S)) - 1]
            await asyncio.sleep(pause_s * random.uniform(0.7, 1))  # noqa: S311 - so that sidecars do not come together
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.05, self._read_at + self._poll_s() - time.monotonic())):
                while not self._has_news() and not self._is_behind():
                    await self.copy.changed.wait()
                    self.copy.changed.clear()

    def _poll_s(self) -> float:
        return self.settings.journal_poll_s if self.follows else self.settings.journal_idle_poll_s

    def _wake_waiting(self) -> None:
        waiting, self._told = self._told, asyncio.Event()
        waiting.set()

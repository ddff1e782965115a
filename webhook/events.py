"""Events on RayServices, in KubeRay's style: ``kubectl describe rayservice`` shows what Holdfast did, and why.

They are written in the background. An admission waits for none, and one that cannot be written is counted and left.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from certs.apiserver import MERGE_PATCH, ApiError, UnreachableError
from webhook.ledger import Entry, Ledger
from webhook.metrics import Metrics, Told
from webhook.notices import Notice

log = logging.getLogger("holdfast.events")

COMPONENT = "holdfast"

_MOST_WAITING = 1000
"""How many Events may wait to be written. Beyond that they are dropped: something worse is going on."""

_MAX_MESSAGE = 1024
"""Kubernetes takes no longer one."""


class EventApi(Protocol):
    """What is needed of the API server; ``certs.apiserver.ApiServer`` has it."""

    async def create(self, path: str, manifest: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Make an object."""

    async def patch(self, path: str, change: Any, content_type: str) -> Any:  # noqa: ANN401 - JSON
        """Change one."""


@dataclass(frozen=True, slots=True)
class About:
    """The RayService that an Event is about. ``kubectl describe`` finds it by the uid."""

    namespace: str
    name: str
    uid: str


class Events:
    """Takes notices at any time, and writes them one after the other."""

    def __init__(self, api: EventApi, metrics: Metrics, clock: Callable[[], float] = time.time) -> None:
        self._api = api
        self._metrics = metrics
        self._clock = clock
        self._ledger = Ledger()
        self._is_writing = False
        self._waiting: asyncio.Queue[tuple[About, Notice]] = asyncio.Queue(_MOST_WAITING)

    def tell(self, about: About, notice: Notice) -> None:
        """Write it down when there is time."""
        try:
            self._waiting.put_nowait((about, notice))
        except asyncio.QueueFull:
            self._metrics.events.labels(Told.DROPPED).inc()

    async def run(self) -> None:
        """Write what waits, until cancelled."""
        while True:
            about, notice = await self._waiting.get()
            self._is_writing = True
            told = await self._write(about, notice)
            self._metrics.events.labels(told).inc()
            self._is_writing = False

    @property
    def is_idle(self) -> bool:
        """Is everything written?"""
        return self._waiting.empty() and not self._is_writing

    async def _write(self, about: About, notice: Notice) -> Told:
        name = f"{about.name}.{secrets.token_hex(8)}"
        entry = self._ledger.enter(
            (about.namespace, about.name), (notice.reason, notice.message), name, now_s := self._clock()
        )
        if entry is None:
            return Told.DROPPED
        path = f"/api/v1/namespaces/{about.namespace}/events"
        try:
            if entry.count == 1:
                await self._api.create(path, event(about, notice, entry, now_s))
                return Told.WRITTEN
            change = {"count": entry.count, "lastTimestamp": _time(now_s)}
            await self._api.patch(f"{path}/{entry.name}", change, MERGE_PATCH)
        except (ApiError, UnreachableError) as error:
            log.warning("event not written", extra={"reason": notice.reason, "error": str(error)})
            return Told.FAILED
        return Told.COUNTED


def event(about: About, notice: Notice, entry: Entry, now_s: float) -> dict[str, Any]:
    """A core/v1 Event, as KubeRay's recorder writes them."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": entry.name, "namespace": about.namespace},
        "involvedObject": {
            "apiVersion": "ray.io/v1",
            "kind": "RayService",
            "namespace": about.namespace,
            "name": about.name,
            "uid": about.uid,
        },
        "type": "Warning" if notice.reason.is_warning else "Normal",
        "reason": str(notice.reason),
        "message": notice.message[:_MAX_MESSAGE],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "firstTimestamp": _time(entry.first_s),
        "lastTimestamp": _time(now_s),
        "count": entry.count,
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

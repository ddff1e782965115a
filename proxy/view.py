"""KubeRay's GET: what concerns KubeRay, within KubeRay's patience.

1. One call to Ray at a time for the same question; it goes on when KubeRay has hung up, and its answer is remembered.
2. Ray late, down or failing: the last good answer, at most ``stale_for_s`` old, marked ``X-Holdfast-Stale``. Then 503.
3. Ray's other answers (400, 401, ...) are the caller's: they go back as they are.
4. A list without a controller of Serve proves nothing if there was one a moment ago: Ray's GCS is asked (facts: section
   6), and if there is still a controller, the answer counts as none.
5. An answer from before a change is never given after it: a RUNNING in it may be the old config's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from proxy.http.head import Headers, RequestHead
from proxy.http.local import Answer, Request
from proxy.journal.arrivals import Shown
from proxy.metrics import Metrics
from proxy.problems import problem
from proxy.ray import Ray, RayRefusedError, passed_on
from proxy.settings import Settings
from serveconfig.callers import VIA_API_SERVER
from serveconfig.errors import Refusal, UnknownStateError
from serveconfig.view import Listing

Question = tuple[Ray, bytes, Headers]
"""Whom, with what query, in whose name: who may not see what runs must not be told from somebody else's answer."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What Ray answered with 200. ``at`` is the monotonic clock's, in seconds."""

    question: Question
    headers: Headers
    listing: Listing
    at: float


@dataclass(slots=True)
class KubeRayView:
    """Answers KubeRay's GET.

    ``shown`` says what it sees, at the time of the answer and not of the call to Ray; ``saw`` gets what Ray said.
    """

    shown: Callable[[], Shown]
    saw: Callable[[Listing], None]
    settings: Settings
    metrics: Metrics
    last: Seen | None = None
    _asking: dict[Question, asyncio.Task[Seen | Answer]] = field(default_factory=dict)
    _changes: int = 0

    def forget(self) -> None:
        """Something was changed: what was seen before no longer counts, nor does what is being asked."""
        self.last = None
        self._changes += 1
        self._asking = {}

    async def get(self, ray: Ray, request: Request) -> Answer:
        """The answer to one GET.

        Raises:
            UnknownStateError: Ray does not say, and has not said for too long.
        """
        question = (ray, request.head.query, passed_on(request.head.headers))
        try:
            async with asyncio.timeout(self._patience_s(request.head)):
                seen = await asyncio.shield(self._ask(question))
        except TimeoutError:
            return self._stale(question) or problem(*_TOO_LATE)
        except RayRefusedError as error:
            return error.answer
        except Refusal:
            if stale := self._stale(question):
                return stale
            raise
        if isinstance(seen, Answer):
            return (self._stale(question) or seen) if seen.status >= HTTPStatus.INTERNAL_SERVER_ERROR else seen
        return self._shown(seen)

    def _ask(self, question: Question) -> asyncio.Task[Seen | Answer]:
        asking = self._asking.get(question)
        if asking is None:
            asking = self._asking[question] = asyncio.create_task(self._answer(question, self._changes))
            asking.add_done_callback(lambda done: self._answered(question, done))
        return asking

    async def _answer(self, question: Question, changes: int) -> Seen | Answer:
        ray, query, headers = question
        answer = await ray.applications(headers, query)
        if answer.status != HTTPStatus.OK:
            return answer
        before = self.last.listing if self.last else None
        listing = Listing.parse(b"".join(answer.body), before)
        had_controller = before is not None and before.has_controller
        if had_controller and not listing.has_controller and await ray.has_controller(ray.as_caller(headers)):
            raise UnknownStateError("Ray shows no application, but Serve does run.")
        seen = Seen(question, answer.headers, listing, time.monotonic())
        if changes == self._changes:
            self.last = seen
            self.saw(listing)
        return seen

    def _answered(self, question: Question, done: asyncio.Task[Seen | Answer]) -> None:
        if self._asking.get(question) is done:
            del self._asking[question]
        if not done.cancelled():
            done.exception()  # nobody may be waiting any more; that is no reason for a warning

    def _shown(self, seen: Seen, *marks: tuple[bytes, bytes]) -> Answer:
        wanted = self.shown()
        body = seen.listing.view(wanted.declared, wanted.arriving)
        return Answer(HTTPStatus.OK, (*seen.headers, *marks), (body,))

    def _stale(self, question: Question) -> Answer | None:
        """The last answer to the same question, unless it is too old."""
        if self.last is None or self.last.question != question:
            return None
        age_s = time.monotonic() - self.last.at
        if age_s > self.settings.stale_for_s:
            return None
        self.metrics.stale.inc()
        return self._shown(self.last, (b"X-Holdfast-Stale", f"{age_s:.1f}".encode()))

    def _patience_s(self, head: RequestHead) -> float:
        is_proxied = (head.first(b"user-agent") or b"").startswith(VIA_API_SERVER.encode())
        return self.settings.answer_within_proxied_s if is_proxied else self.settings.answer_within_s


_TOO_LATE = (
    HTTPStatus.SERVICE_UNAVAILABLE,
    UnknownStateError.title,
    "Ray has not answered in time, and what it said last is too old to be repeated.",
)

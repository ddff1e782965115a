"""Every call of ours to Ray. Each is made for a caller, with that caller's credentials and nobody else's.

Ours never carry the marks of a browser: Ray 2.59+ answers those with ``<redacted>`` in place of environment variables,
and a merge would write that back. They always carry a User-Agent: without one, Ray up to 2.51.1 answers 500.
"""

from __future__ import annotations

import asyncio
from typing import NoReturn

import msgspec

from proxy.http.head import Headers
from proxy.http.local import Answer
from proxy.http.upstream import Upstream, UpstreamBrokenError, UpstreamUnreachableError
from proxy.metrics import Metrics
from proxy.settings import Settings
from serveconfig.callers import SERVE_PATH
from serveconfig.errors import OutcomeUnknownError, UnknownStateError
from serveconfig.rayversion import RayVersion
from serveconfig.running import Running

CREDENTIALS = (b"authorization", b"x-ray-authorization", b"cookie")
"""What Ray reads a token from (Ray 2.52+), in its order of precedence."""

_NOT_OURS_TO_REPEAT = frozenset(
    b"connection keep-alive proxy-connection te trailer transfer-encoding upgrade "
    b"accept-encoding content-encoding content-length expect".split()
)
"""What belongs to the caller's connection, or to a body that is not sent on as it came."""

_CONTROLLERS = (
    b"/api/v0/actors?filter_keys=name&filter_predicates=%3D&filter_values=SERVE_CONTROLLER_ACTOR&limit=1000&timeout=5"
)
"""Ray's state API asks the GCS, and answers 500 while the GCS does not answer (seen on 2.9.3 and 2.60.0)."""


_ASKED_FOR = {"applications": "its applications", "version": "its version", "actors": "its actors"}


class RayRefusedError(Exception):
    """Ray says no to the caller (401, 403): its answer goes back as it is."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"Ray answered {answer.status}")
        self.answer = answer


class _Version(msgspec.Struct):
    ray_version: str
    session_name: str = ""


class _Actor(msgspec.Struct):
    state: str = ""
    ray_namespace: str = "serve"


class _ActorList(msgspec.Struct):
    result: list[_Actor]
    total: int
    num_after_truncation: int
    partial_failure_warning: str | None = None

    @property
    def is_whole(self) -> bool:
        return self.total == self.num_after_truncation and not self.partial_failure_warning


class _ActorData(msgspec.Struct):
    result: _ActorList


class _Actors(msgspec.Struct):
    result: bool
    data: _ActorData


class Ray:
    """One Ray, whose Serve API is at ``serve`` and whose other APIs are at ``dashboard`` (often the same)."""

    def __init__(self, serve: Upstream, dashboard: Upstream, settings: Settings, metrics: Metrics, agent: str) -> None:
        """``agent``: our User-Agent."""
        self._serve, self._dashboard = serve, dashboard
        self._settings, self._metrics = settings, metrics
        self._agent = (b"User-Agent", agent.encode())

    def as_caller(self, headers: Headers) -> Headers:
        """The headers of a call of ours, with the caller's credentials as they came."""
        return (self._agent, *((name, value) for name, value in headers if name.lower() in CREDENTIALS))

    async def applications(self, headers: Headers, query: bytes = b"") -> Answer:
        """``GET /api/serve/applications/``, whatever Ray answers.

        Raises:
            UnknownStateError: Ray does not answer, or not in time.
        """
        target = SERVE_PATH.encode() + (b"?" + query if query else b"")
        return await self._get("applications", self._serve, target, headers)

    async def running(self, headers: Headers, only: frozenset[str] | None = None) -> Running:
        """What runs, as far as Ray says; of the applications ``only`` these, if that is all that matters.

        Raises:
            RayRefusedError: the caller may not know.
            UnknownStateError, UnreadableAnswerError: nobody knows.
        """
        return Running.parse(_body(self._usable("applications", await self.applications(headers))), only)

    async def version(self, headers: Headers) -> RayVersion:
        """Ray's version. It is asked each time: behind the same address a newer one may run by now.

        Raises:
            RayRefusedError, UnknownStateError: as above.
        """
        answer = self._usable("version", await self._get("version", self._dashboard, b"/api/version", headers))
        try:
            return RayVersion(msgspec.json.decode(_body(answer), type=_Version).ray_version)
        except msgspec.DecodeError as error:
            self._lost("version", f"Ray's version cannot be read: {error}.", error)

    async def has_controller(self, headers: Headers) -> bool:
        """Does a controller of Serve exist, whatever its state? Asked of the GCS, by Ray's state API.

        This tells a cluster without Serve from a dashboard that could not look Serve up; both look alike in the list
        of applications (facts: section 6).

        Raises:
            RayRefusedError, UnknownStateError: as above.
        """
        timeout_s = self._settings.look_up_timeout_s
        answer = self._usable("actors", await self._get("actors", self._dashboard, _CONTROLLERS, headers, timeout_s))
        try:
            actors = msgspec.json.decode(_body(answer), type=_Actors)
        except msgspec.DecodeError as error:
            self._lost("actors", f"Ray's list of actors cannot be read: {error}.", error)
        listed = actors.data.result
        if not actors.result or not listed.is_whole:
            self._lost("actors", "Ray's list of actors is not whole.", None)
        return any(actor.state != "DEAD" and actor.ray_namespace == "serve" for actor in listed.result)

    async def put(self, headers: Headers, body: bytes) -> Answer:
        """``PUT /api/serve/applications/``, whatever Ray answers. The caller's headers go along, framing excepted.

        Raises:
            UnknownStateError: nothing was sent.
            OutcomeUnknownError: it was sent; Ray may or may not carry it out.
        """
        try:
            async with asyncio.timeout(self._settings.put_timeout_s):
                return await self._serve.exchange(
                    b"PUT",
                    SERVE_PATH.encode(),
                    passed_on(headers),
                    [body],
                    max_answer_bytes=self._settings.max_answer_bytes,
                )
        except UpstreamUnreachableError as error:
            self._lost("put", str(error), error)
        except (UpstreamBrokenError, TimeoutError) as error:
            self._metrics.ray_failures.labels("put").inc()
            raise OutcomeUnknownError(
                "Ray took the request and did not answer. It may still carry it out; sending it again does no harm."
            ) from error

    async def _get(
        self, call: str, upstream: Upstream, target: bytes, headers: Headers, timeout_s: float | None = None
    ) -> Answer:
        timeout_s = timeout_s or self._settings.read_timeout_s
        try:
            async with asyncio.timeout(timeout_s):
                return await upstream.exchange(
                    b"GET", target, headers, max_answer_bytes=self._settings.max_answer_bytes
                )
        except (UpstreamUnreachableError, UpstreamBrokenError) as error:
            self._lost(call, str(error), error)
        except TimeoutError as error:
            self._lost(call, f"Ray's dashboard did not answer within {timeout_s:g} s.", error)

    def _usable(self, call: str, answer: Answer) -> Answer:
        if answer.status in (401, 403):
            raise RayRefusedError(answer)
        if answer.status != 200:  # noqa: PLR2004 - OK
            self._lost(call, f"Ray answered {answer.status} when asked for {_ASKED_FOR[call]}.", None)
        return answer

    def _lost(self, call: str, why: str, cause: Exception | None) -> NoReturn:
        self._metrics.ray_failures.labels(call).inc()
        raise UnknownStateError(f"{why} Nothing was changed.") from cause


def passed_on(headers: Headers) -> Headers:
    """The caller's headers for a call that we make in its place: all but those of its connection and framing."""
    return tuple((name, value) for name, value in headers if name.lower() not in _NOT_OURS_TO_REPEAT)


def _body(answer: Answer) -> bytes:
    return b"".join(answer.body)

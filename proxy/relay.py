"""The relay: every request that comes in, answered here or passed to Ray byte for byte.

The life of a connection is `Relay._serve`, the life of a request is `Relay._exchange`. A request is read strictly
enough that Ray cannot take it for another; what passes is the bytes that came (`proxy.http`).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass

from proxy.http.framing import Body, UntilClosed, request_body
from proxy.http.head import BadRequestError, RequestHead, find_end, parse_request
from proxy.http.hop import stays_open
from proxy.http.local import Answer, ClientGoneError, Handler, Outcome, Request, problem, refused, rendered
from proxy.http.passing import pass_through
from proxy.http.upstream import Upstream
from proxy.http.wire import Wire

log = logging.getLogger("holdfast.relay")

_BACKLOG = 1024
_SWEEP_S = 30.0


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """What a client may ask of the relay. Times in seconds, sizes in bytes. Nothing limits how long an answer takes."""

    max_head_bytes: int = 64 * 1024
    """A request's head. aiohttp, so Ray, takes 8190 bytes a line and 128 lines; beyond this it is not asked."""

    head_timeout_s: float = 60.0
    """From the first byte of a request to the end of its head."""

    idle_timeout_s: float = 3630.0
    """Between requests. As long as Ray's aiohttp: no client finds a connection closed that Ray would have kept."""

    linger_s: float = 2.0
    """How long a client that is still sending is read from after its last answer. Closing at once would reset the
    connection, and the answer might be lost with it."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, for logs and metrics. No query, no field, no content."""

    method: str
    path: str
    status: int
    """0: the client left before there was an answer."""
    received_bytes: int
    sent_bytes: int
    duration_s: float
    passed_through: bool
    """It was Ray's to answer."""
    head: RequestHead | None = None
    """To tell what kind of request it was; None if it could not be read."""


class Relay:
    """Listens, and gives each request to the handler that ``route`` names, or to Ray if it names none.

    ``observe`` is told of each exchange when it is over.
    """

    def __init__(
        self,
        upstream: Upstream,
        route: Callable[[RequestHead], Handler | None],
        observe: Callable[[Exchange], None],
        limits: RelayLimits | None = None,
    ) -> None:
        self._upstream = upstream
        self._route = route
        self._observe = observe
        self._limits = limits or RelayLimits()
        self._servers: list[asyncio.Server] = []
        self._serving: dict[Wire, asyncio.Task[None]] = {}
        self._sweep: asyncio.TimerHandle | None = None
        self._draining = False

    async def listen(self, host: str, port: int, *, sock: socket.socket | None = None) -> int:
        """Accept connections at ``host:port`` (0: any free port), or on ``sock``. Returns the port.

        Raises:
            OSError: the port is in use.
        """
        loop = asyncio.get_running_loop()
        where = {"sock": sock} if sock is not None else {"host": host, "port": port}
        server = await loop.create_server(lambda: Wire(self._welcome), backlog=_BACKLOG, **where)
        self._servers.append(server)
        if self._sweep is None:
            self._close_idle()
        return int(server.sockets[0].getsockname()[1])

    async def drain(self, grace_s: float) -> None:
        """Accept nothing more, let the exchanges in flight finish, and end what is left of them after ``grace_s``."""
        self._draining = True
        for server in self._servers:
            server.close()
        if self._sweep is not None:
            self._sweep.cancel()
        for client in self._serving:
            if client.idle_since is not None:
                client.close()
        if self._serving:
            await asyncio.wait(self._serving.values(), timeout=grace_s)
        for client, task in self._serving.items():
            client.abort()
            task.cancel()
        if self._serving:
            await asyncio.wait(self._serving.values())

    def _welcome(self, client: Wire) -> None:
        client.keep_alive()
        self._serving[client] = asyncio.create_task(self._serve(client))

    async def _serve(self, client: Wire) -> None:
        """The life of a connection: one exchange after the other, until one of the two sides has had enough."""
        try:
            while not self._draining:
                head = await self._next_head(client)
                if head is None or not await self._exchange(client, head):
                    break
        except BadRequestError as error:
            await self._refuse(client, error)
        except Exception:
            log.exception("connection failed")
            client.abort()
        finally:
            client.close()
            del self._serving[client]

    async def _exchange(self, client: Wire, head: RequestHead) -> bool:
        """The life of a request. Returns whether another may follow on the connection."""
        meter, passes = _Meter(client, head), False
        body: Body = UntilClosed()  # as far as is known, before it is
        try:
            body = request_body(head)
            handler = self._route(head)
            passes = handler is None
            if handler is None:
                outcome = await pass_through(client, head, body, self._upstream)
            else:
                outcome = await _answer_here(Request(head, client, body), handler)
        except BadRequestError as error:
            outcome = refused(error)
        if outcome.answer is not None:
            outcome = await self._give(client, outcome.answer, head, stays_open=outcome.stays_open)
        self._observe(meter.exchange(outcome.status, passed_through=passes))
        if not outcome.stays_open and not body.done:
            await self._part(client)
        return outcome.stays_open

    async def _next_head(self, client: Wire) -> RequestHead | None:
        """The next request's head; None: the client has no more.

        Raises:
            BadRequestError: it is malformed, too long, or took too long to come.
        """
        loop = asyncio.get_running_loop()
        scanned, deadline = 0, 0.0
        while True:
            while client.received.startswith(b"\r\n"):  # RFC 9112, 2.2: old clients send one after a body
                client.take(2)
                scanned = 0
            end = find_end(client.received, scanned, self._limits.max_head_bytes, BadRequestError)
            if end:
                return parse_request(client.take(end))
            scanned = max(0, len(client.received) - 3)
            if client.received:
                deadline = deadline or loop.time() + self._limits.head_timeout_s
                more = await _more_before(client, deadline)
            else:
                client.idle_since = loop.time()
                more = await client.more()
                client.idle_since = None
            if not more:
                return None

    async def _give(self, client: Wire, answer: Answer, head: RequestHead | None, *, stays_open: bool) -> Outcome:
        """Send an answer of ours."""
        stays_open = stays_open and not self._draining
        client.write(*rendered(answer, head, stays_open=stays_open))
        await client.drain()
        return Outcome(0 if client.lost else answer.status, stays_open)

    async def _refuse(self, client: Wire, error: BadRequestError) -> None:
        """Answer what cannot be read as a request, and part: where another would begin is not known."""
        meter = _Meter(client, None)
        outcome = await self._give(client, problem(error.status, str(error)), None, stays_open=False)
        self._observe(meter.exchange(outcome.status, passed_through=False))
        await self._part(client)

    async def _part(self, client: Wire) -> None:
        """Close the connection of a client that may still be sending."""
        client.finish()
        await client.discard(self._limits.linger_s)

    def _close_idle(self) -> None:
        """Close what has been idle for too long; every half a minute, so that a request does not cost a timer."""
        loop = asyncio.get_running_loop()
        since = loop.time() - self._limits.idle_timeout_s
        for client in self._serving:
            if client.idle_since is not None and client.idle_since < since:
                client.close()
        self._sweep = loop.call_later(_SWEEP_S, self._close_idle)


class _Meter:
    """What an exchange took, from the end of its head on."""

    __slots__ = ("_client", "_head", "_received", "_sent", "_started")

    def __init__(self, client: Wire, head: RequestHead | None) -> None:
        self._client = client
        self._head = head
        self._started = asyncio.get_running_loop().time()
        self._received = client.taken_bytes - (len(head.raw) if head else 0)
        self._sent = client.written_bytes

    def exchange(self, status: int, *, passed_through: bool) -> Exchange:
        return Exchange(
            method=self._head.method.decode("ascii") if self._head else "",
            path=self._head.path if self._head else "",
            status=status,
            received_bytes=self._client.taken_bytes - self._received,
            sent_bytes=self._client.written_bytes - self._sent,
            duration_s=asyncio.get_running_loop().time() - self._started,
            passed_through=passed_through,
            head=self._head,
        )


async def _more_before(client: Wire, deadline: float) -> bool:
    try:
        async with asyncio.timeout_at(deadline):
            return await client.more()
    except TimeoutError as error:
        raise BadRequestError("The head of the request did not come in time.", 408) from error


async def _answer_here(request: Request, handler: Handler) -> Outcome:
    """What ``handler`` answers, or what its error means. A fault of ours is logged, and costs this request only."""
    try:
        answer = await handler(request)
    except BadRequestError as error:
        answer = problem(error.status, str(error))
    except ClientGoneError:
        return Outcome(0)
    except Exception:
        log.exception("handler failed")
        answer = problem(500, "Holdfast failed to answer this request. Its log has the reason.", title="Internal error")
    return Outcome(answer.status, await request.skip() and stays_open(request.head), answer)

"""The connections to Ray: kept alive, and used by the relay and by Holdfast's own calls alike.

A connection that was used before may just be closing, which shows only after a request was sent on it. So it is given
only to requests that may be sent twice: GET and HEAD without a body. They are sent once more, on a new connection, if
the old one ended without a byte of an answer. All others get a new connection, and are never sent twice.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence

from proxy.http.framing import response_body
from proxy.http.head import BadAnswerError, Headers, ResponseHead, find_end, parse_response
from proxy.http.hop import stays_open
from proxy.http.local import Answer
from proxy.http.wire import Wire

MAX_ANSWER_HEAD_BYTES = 256 * 1024
"""aiohttp sets no limit to the head of an answer; this one is far above any that Ray was seen to send (1 KiB)."""

REPEATABLE = frozenset((b"GET", b"HEAD"))
"""What may be sent again if it went unanswered and had no body: RFC 9110, 9.2.2, and Ray's GETs change nothing."""

_FINAL = 200


class UpstreamError(Exception):
    """Ray gave no answer. The text is a sentence for the caller; it holds nothing of the request."""


class UpstreamUnreachableError(UpstreamError):
    """No connection to Ray could be made: nothing was sent."""


class UpstreamBrokenError(UpstreamError):
    """The request was sent, and no whole answer came: what Ray did with it is not known."""


class Upstream:
    """Ray at ``host:port``, or, over ``tls``, somebody else: ``who`` is what an error calls it.

    A connection must be up within ``connect_timeout_s``. Of those that are not in use, ``max_idle`` are kept for
    ``idle_s``: less than aiohttp keeps its end (75 s in the oldest Ray), so that it is we who close.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        connect_timeout_s: float = 1.5,
        max_idle: int = 32,
        idle_s: float = 15.0,
        tls: ssl.SSLContext | None = None,
        who: str = "Ray's dashboard",
    ) -> None:
        self._host, self._port = host, port
        self._tls, self._who = tls, who
        self._connect_timeout_s = connect_timeout_s
        self._max_idle = max_idle
        self._idle_s = idle_s
        self._idle: list[Wire] = []
        self._expiry: asyncio.TimerHandle | None = None
        bracketed = f"[{host}]" if ":" in host else host
        self.authority = f"{bracketed}:{port}"

    def reuse(self) -> Wire | None:
        """An idle connection, the one used last; or None."""
        while self._idle:
            wire = self._idle.pop()
            wire.watch(None)
            if not wire.received and not wire.ended:
                wire.idle_since = None
                return wire
            wire.abort()
        return None

    async def connect(self) -> Wire:
        """A new connection.

        Raises:
            UpstreamUnreachableError: it was refused, or not up in time.
        """
        try:
            async with asyncio.timeout(self._connect_timeout_s):
                loop = asyncio.get_running_loop()
                _, wire = await loop.create_connection(Wire, self._host, self._port, ssl=self._tls)
        except (OSError, TimeoutError) as error:
            raise UpstreamUnreachableError(
                f"{self._who} at {self.authority} cannot be reached. It may be starting, restarting or down: "
                "try again, and look at the head pod if it stays so."
            ) from error
        return wire

    def release(self, wire: Wire) -> None:
        """Keep a connection on which an exchange has come to its end, or close it if it cannot carry another."""
        if wire.received or wire.ended or wire.finished or wire.unsent_bytes or len(self._idle) >= self._max_idle:
            wire.abort()
            return
        wire.used = True
        wire.idle_since = asyncio.get_running_loop().time()
        self._idle.append(wire)
        wire.watch(lambda: self._ended_idle(wire))
        if self._expiry is None:
            self._expire_later(self._idle_s)

    async def exchange(
        self,
        method: bytes,
        target: bytes,
        headers: Headers,
        body: Sequence[bytes | memoryview] = (),
        *,
        max_answer_bytes: int,
    ) -> Answer:
        """Send a request and read the whole answer. Host and Content-Length are added where ``headers`` has none.

        The answer has its fields as they came, and its content without chunk lines; it is not content-decoded.
        Cancelling closes the connection.

        Raises:
            UpstreamUnreachableError: no connection, so nothing was sent.
            UpstreamBrokenError: sent, but the connection ended too early, what came is not HTTP, or its content is
                longer than ``max_answer_bytes``.
        """
        request = (self._head(method, target, headers, sum(map(len, body))), *body)
        wire = (self.reuse() if method in REPEATABLE and not body else None) or await self.connect()
        try:
            wire.write(*request)
            head = await next_response(wire)
            if head is None and wire.used:
                wire.abort()
                wire = await self.connect()
                wire.write(*request)
                head = await next_response(wire)
            while head is None or head.status < _FINAL:
                head = await following_response(wire)
            answer, reusable = await _read_answer(wire, head, method, max_answer_bytes)
        except BadAnswerError as error:
            wire.abort()
            raise self.broken(error) from error
        except BaseException:
            wire.abort()
            raise
        if reusable:
            self.release(wire)
        else:
            wire.abort()
        return answer

    def broken(self, error: BadAnswerError) -> UpstreamBrokenError:
        """What to tell the caller of an answer that did not come, or not whole."""
        return UpstreamBrokenError(
            f"{self._who} at {self.authority} gave no whole answer. {error} What it did with the request is not known."
        )

    async def close(self) -> None:
        """Close the idle connections; those in use are their users' to close."""
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None
        while wire := self.reuse():
            wire.abort()
        await asyncio.sleep(0)

    def _head(self, method: bytes, target: bytes, headers: Headers, length: int) -> bytes:
        names = {name.lower() for name, _ in headers}
        lines = [b"%s %s HTTP/1.1" % (method, target)]
        if b"host" not in names:
            lines.append(b"Host: " + self.authority.encode())
        lines += [b"%s: %s" % field for field in headers]
        if b"content-length" not in names and (length or method in (b"PUT", b"POST")):
            lines.append(b"Content-Length: %d" % length)
        return b"\r\n".join((*lines, b"", b""))

    def _ended_idle(self, wire: Wire) -> None:
        if wire in self._idle:
            self._idle.remove(wire)
        wire.watch(None)
        wire.abort()

    def _expire_later(self, seconds: float) -> None:
        self._expiry = asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        self._expiry = None
        expired = asyncio.get_running_loop().time() - self._idle_s
        for wire in [wire for wire in self._idle if wire.idle_since is not None and wire.idle_since <= expired]:
            self._ended_idle(wire)
        if self._idle:
            self._expire_later(self._idle_s / 2)


async def next_response(wire: Wire) -> ResponseHead | None:
    """The next answer head, perhaps an interim one. None: the connection ended before its first byte.

    Raises:
        BadAnswerError: it ended in the middle, or what came is not an answer.
    """
    scanned = 0
    while True:
        end = find_end(wire.received, scanned, MAX_ANSWER_HEAD_BYTES, BadAnswerError)
        if end:
            return parse_response(wire.take(end))
        scanned = max(0, len(wire.received) - 3)
        if not await wire.more():
            return _ended_early() if wire.received else None


async def following_response(wire: Wire) -> ResponseHead:
    """The answer head that must come, after an interim one.

    Raises:
        BadAnswerError: as `next_response`, or the connection ended.
    """
    return await next_response(wire) or _ended_early()


async def _read_answer(wire: Wire, head: ResponseHead, method: bytes, limit: int) -> tuple[Answer, bool]:
    """The answer, and whether its connection may be used again."""
    body, content = response_body(head, method), bytearray()
    while not body.done:
        taken = body.scan(wire.received, content)
        wire.take(taken)
        if len(content) > limit:
            raise BadAnswerError(f"Its content is longer than {limit} bytes.")
        if not taken and not await wire.more():
            if not body.ends_with_connection or wire.broken:
                _ended_early()
            break
    answer = Answer(head.status, head.headers, (bytes(content),), head.reason)
    return answer, body.done and stays_open(head)


def _ended_early() -> ResponseHead:
    raise BadAnswerError("It closed the connection before the end of it.")

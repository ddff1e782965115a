"""Requests that are answered here instead of by Ray: what a handler is given, and what it gives back."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from proxy.http.framing import Body
from proxy.http.head import BadRequestError, Headers, RequestHead
from proxy.http.wire import Wire

SKIPPED_BYTES = 1024 * 1024
SKIPPED_S = 1.0
"""How much of a body that no handler wanted is read, and for how long, so that the connection can be used again."""

_REASONS = {
    200: b"OK",
    201: b"Created",
    202: b"Accepted",
    204: b"No Content",
    304: b"Not Modified",
    400: b"Bad Request",
    401: b"Unauthorized",
    403: b"Forbidden",
    404: b"Not Found",
    405: b"Method Not Allowed",
    406: b"Not Acceptable",
    408: b"Request Timeout",
    409: b"Conflict",
    412: b"Precondition Failed",
    413: b"Content Too Large",
    415: b"Unsupported Media Type",
    422: b"Unprocessable Content",
    428: b"Precondition Required",
    431: b"Request Header Fields Too Large",
    500: b"Internal Server Error",
    502: b"Bad Gateway",
    503: b"Service Unavailable",
    504: b"Gateway Timeout",
    505: b"HTTP Version Not Supported",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_OF_THE_CONNECTION = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade")
)
_WITHOUT_CONTENT = (204, 304)


class BodyTooLargeError(BadRequestError):
    """The body is longer than its reader allows. Not caught by the handler, it is answered with 413."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is longer than {limit} bytes.", 413)


class ClientGoneError(Exception):
    """The client left, or finished sending, before its request was whole. There is nobody to answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, whole. ``reason`` is filled in for the usual statuses."""

    status: int
    headers: Headers = ()
    body: Sequence[bytes | memoryview] = ()
    reason: bytes = b""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an exchange ended: with this status, or 0 if the client left before there was one."""

    status: int
    stays_open: bool = False
    """Whether the client's connection may carry another."""
    answer: Answer | None = None
    """The answer that remains to be given, if it is ours to give."""


class Request:
    """A request as its handler sees it."""

    __slots__ = ("_asked_for", "_body", "_content", "_wire", "head")

    def __init__(self, head: RequestHead, wire: Wire, body: Body) -> None:
        self.head = head
        self._wire = wire
        self._body = body
        self._content = bytearray()
        self._asked_for = not _waits_to_be_asked(head)

    async def read(self, limit: int) -> bytes:
        """The body without chunk lines, not content-decoded. A client that waits to be asked for it is asked.

        Raises:
            BodyTooLargeError: it is longer than ``limit`` bytes; raised before it is read, as far as it says so itself.
            BadRequestError: it is not framed as it should be.
            ClientGoneError: it will never be whole.
        """
        if not await self._read(limit):
            raise BodyTooLargeError(limit)
        return bytes(self._content)

    async def skip(self) -> bool:
        """Throw away what was not read, so that the next request can be. False: it is too long, or does not come.

        A client that waits to be asked for its body is not asked; whether it will send it is then its own choice.
        """
        self._content = bytearray()
        if self._body.done:
            return True
        if not self._asked_for and not self._wire.received:
            return False
        try:
            async with asyncio.timeout(SKIPPED_S):
                return await self._read(SKIPPED_BYTES)
        except (BadRequestError, ClientGoneError, TimeoutError):
            return False

    async def _read(self, limit: int) -> bool:
        """Read the body to its end. False: it is longer than ``limit``."""
        while len(self._content) + self._body.announced_bytes <= limit:
            if self._body.done:
                return True
            taken = self._body.scan(self._wire.received, self._content)
            self._wire.take(taken)
            if not taken:
                await self._wait()
        return False

    async def _wait(self) -> None:
        if not self._asked_for and not self._wire.received:
            self._wire.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._asked_for = True
        if not await self._wire.more():
            raise ClientGoneError


Handler = Callable[[Request], Awaitable[Answer]]


def _waits_to_be_asked(head: RequestHead) -> bool:
    """RFC 9110, 10.1.1. An HTTP/1.0 client knows nothing of it, whatever it sends."""
    return head.version == b"1.1" and (head.first(b"expect") or b"").lower() == b"100-continue"


def problem(status: int, detail: str, headers: Headers = (), title: str = "") -> Answer:
    """An error as RFC 9457 has it. ``detail`` is a sentence that holds nothing of the request."""
    title = title or _REASONS[status].decode()
    body = json.dumps({"type": "about:blank", "title": title, "status": status, "detail": detail})
    return Answer(status, ((b"Content-Type", b"application/problem+json"), *headers), [body.encode()])


def refused(error: BadRequestError) -> Outcome:
    """The answer to a request that is malformed. Where the next would begin is not certain: none may follow."""
    return Outcome(error.status, answer=problem(error.status, str(error)))


def rendered(answer: Answer, head: RequestHead | None, *, stays_open: bool) -> list[bytes | memoryview]:
    """The answer as bytes to send, to the request ``head`` (None: it could not be read).

    Fields that belong to a connection are left out, whoever put them there: an answer of Ray's may be given back as it
    is. Content-Length and Date are set; Connection where the client could not know.
    """
    reason = answer.reason or _REASONS.get(answer.status, b"")
    lines = [b"HTTP/1.1 %d %s" % (answer.status, reason)]
    bodiless = answer.status in _WITHOUT_CONTENT or answer.status < 200  # noqa: PLR2004 - 1xx
    to_head = head is not None and head.method == b"HEAD"
    lengths = [value for name, value in answer.headers if name.lower() == b"content-length"]
    lines += [
        b"%s: %s" % (name, value)
        for name, value in answer.headers
        if name.lower() not in _OF_THE_CONNECTION and name.lower() != b"content-length"
    ]
    if not bodiless:
        # The answer to a HEAD has the length that the answer to a GET would have.
        length = lengths[0] if to_head and lengths and not answer.body else b"%d" % sum(map(len, answer.body))
        lines.append(b"Content-Length: " + length)
    if not any(name.lower() == b"date" for name, _ in answer.headers):
        lines.append(b"Date: " + http_date(time.time()))
    if not stays_open:
        lines.append(b"Connection: close")
    elif head is not None and head.version == b"1.0":
        lines.append(b"Connection: keep-alive")
    content = () if bodiless or to_head else answer.body
    return [b"\r\n".join((*lines, b"", b"")), *content]


def http_date(seconds: float) -> bytes:
    """Unix time as RFC 9110, 5.6.7 writes it. (`email.utils` does it too, and costs 4 MB.)"""
    t = time.gmtime(seconds)
    clock = f"{t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02}"
    return f"{_DAYS[t.tm_wday]}, {t.tm_mday:02} {_MONTHS[t.tm_mon - 1]} {t.tm_year:04} {clock} GMT".encode()

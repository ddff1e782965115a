"""Where a body ends, and by which rule: RFC 9112, 6. Pure.

A body is copied, not decoded: what is found here is only how many of the bytes at hand belong to it. Requests are held
to the letter, since a dispute about where one ends would let the next pass unseen:

| request                                                      | body                            |
|--------------------------------------------------------------|---------------------------------|
| neither Content-Length nor Transfer-Encoding                 | none                            |
| one Content-Length of 1 to 18 digits                         | so many bytes                   |
| one Transfer-Encoding, exactly ``chunked``, HTTP/1.1         | chunks, to the last one         |
| both, or repeated, or a list, or any other value; CONNECT    | 400                             |

| answer                                                       | body                            |
|--------------------------------------------------------------|---------------------------------|
| to HEAD; 1xx, 204, 304                                       | none, whatever its fields say   |
| Transfer-Encoding that ends in ``chunked``                   | chunks (Content-Length ignored) |
| any other Transfer-Encoding                                  | until the connection closes     |
| Content-Length, perhaps repeated with the same value         | so many bytes                   |
| none of these                                                | until the connection closes     |
"""

from __future__ import annotations

import re
from collections.abc import Callable

from proxy.http.head import BadAnswerError, BadRequestError, Fault, RequestHead, ResponseHead, parse_field

_LENGTH = re.compile(rb"[0-9]{1,18}")
# 15 digits are a chunk of 2^60 bytes: no number that any parser could take for another.
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;[\t\x20-\x7e\x80-\xff]*)?\r\n")
_MAX_CHUNK_LINE_BYTES = 4096
_MAX_TRAILER_BYTES = 65536
_NOT_IN_TRAILERS = frozenset((b"content-length", b"transfer-encoding", b"host"))
_NO_BODY_STATUSES = (204, 304)


class Body:
    """A body of a known number of bytes, and the vocabulary of the two other kinds."""

    __slots__ = ("_left", "done")

    def __init__(self, length: int = 0) -> None:
        self._left = length
        self.done = length == 0
        """Whether the whole body has been seen."""

    @property
    def announced_bytes(self) -> int:
        """How long the body is, as far as is known: what is left of a Content-Length, else 0."""
        return self._left

    @property
    def ends_with_connection(self) -> bool:
        """Whether the end of the connection is the end of the body."""
        return False

    def scan(self, received: bytes, payload: bytearray | None = None) -> int:
        """How many bytes at the front of ``received`` are the body's. Called again with those that follow them.

        The content in them, without chunk lines and trailers, is appended to ``payload``.

        Raises:
            BadRequestError, BadAnswerError: as the body was made: these are no chunks.
        """
        taken = min(self._left, len(received))
        self._left -= taken
        self.done = self._left == 0
        if payload is not None:
            payload += received[:taken]
        return taken


class UntilClosed(Body):
    """A body that ends with its connection."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.done = False

    @property
    def ends_with_connection(self) -> bool:
        """Yes: that is the rule."""
        return True

    def scan(self, received: bytes, payload: bytearray | None = None) -> int:
        """All of it."""
        if payload is not None:
            payload += received
        return len(received)


class Chunks(Body):
    """A chunked body: to the empty line after the last chunk and its trailers.

    Chunk lines and trailers are taken whole, content as it comes.
    """

    __slots__ = ("_fault", "_step", "_trailer_bytes")

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.done = False
        self._fault = fault
        self._trailer_bytes = 0
        self._step: Callable[[bytes, int, bytearray | None], int] = self._chunk_line

    @property
    def announced_bytes(self) -> int:
        """Chunks announce nothing about the whole."""
        return 0

    def scan(self, received: bytes, payload: bytearray | None = None) -> int:
        """As `Body.scan`."""
        at = 0
        while not self.done:
            after = self._step(received, at, payload)
            if after == at:
                break
            at = after
        return at

    def _chunk_line(self, received: bytes, at: int, _: bytearray | None) -> int:
        end = self._line_end(received, at, _MAX_CHUNK_LINE_BYTES)
        if end == at:
            return at
        line = _CHUNK_LINE.fullmatch(received, at, end)
        if line is None:
            raise self._fault("A chunk does not begin with its size: 1 to 15 hexadecimal digits and CRLF.")
        self._left = int(line[1], 16)
        self._step = self._content if self._left else self._trailer
        return end

    def _content(self, received: bytes, at: int, payload: bytearray | None) -> int:
        end = min(at + self._left, len(received))
        self._left -= end - at
        if payload is not None:
            payload += received[at:end]
        if not self._left:
            self._step = self._content_end
        return end

    def _content_end(self, received: bytes, at: int, _: bytearray | None) -> int:
        end = received[at : at + 2]
        if not b"\r\n".startswith(end):
            raise self._fault("A chunk is longer than the size before it says.")
        if len(end) < len(b"\r\n"):
            return at
        self._step = self._chunk_line
        return at + 2

    def _trailer(self, received: bytes, at: int, _: bytearray | None) -> int:
        end = self._line_end(received, at, _MAX_TRAILER_BYTES - self._trailer_bytes)
        if end == at:
            return at
        self._trailer_bytes += end - at
        line = received[at:end]
        if line == b"\r\n":
            self.done = True
        elif parse_field(line, self._fault)[0].lower() in _NOT_IN_TRAILERS:
            raise self._fault("A trailer may not say how the message is framed, or for which host it is.")
        return end

    def _line_end(self, received: bytes, at: int, limit: int) -> int:
        """The index after the line that begins at ``at``; ``at`` while it is not whole."""
        newline = received.find(b"\n", at, at + limit)
        if newline >= 0:
            return newline + 1
        if len(received) - at >= limit:
            raise self._fault(f"A chunk line or the trailers are longer than {limit} bytes.", 431)
        return at


def request_body(head: RequestHead) -> Body:
    """What follows a request's head.

    Raises:
        BadRequestError: by the table above (400).
    """
    sized, coded = b"content-length" in head.names, b"transfer-encoding" in head.names
    if not sized and not coded:
        return Body()
    if head.method == b"CONNECT":
        raise BadRequestError("A CONNECT request has no body: leave out Content-Length and Transfer-Encoding.")
    if sized and coded:
        raise BadRequestError("Content-Length and Transfer-Encoding exclude each other: send one of them.")
    values = head.all(b"content-length" if sized else b"transfer-encoding")
    if sized:
        if len(values) > 1 or not _LENGTH.fullmatch(values[0]):
            raise BadRequestError("Content-Length must be given once, as 1 to 18 digits.")
        return Body(int(values[0]))
    if len(values) > 1 or values[0].lower() != b"chunked" or head.version != b"1.1":
        raise BadRequestError('The only Transfer-Encoding read here is "chunked", given once, in HTTP/1.1.')
    return Chunks(BadRequestError)


def response_body(head: ResponseHead, method: bytes) -> Body:
    """What follows an answer's head, to a request with that method.

    Raises:
        BadAnswerError: its Content-Length is no number, or it has two that differ.
    """
    if method == b"HEAD" or head.status < 200 or head.status in _NO_BODY_STATUSES:  # noqa: PLR2004 - 1xx
        return Body()
    if b"transfer-encoding" in head.names:
        last = head.all(b"transfer-encoding")[-1].rpartition(b",")[2]
        return Chunks(BadAnswerError) if last.strip(b" \t").lower() == b"chunked" else UntilClosed()
    if b"content-length" not in head.names:
        return UntilClosed()
    lengths = set(head.all(b"content-length"))
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise BadAnswerError("Content-Length is not one number.")
    return Body(int(length))

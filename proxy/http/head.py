"""Request and answer heads: strict to read, kept as the bytes that came. Pure.

Whatever two parsers might read differently is refused, so that a request is never one thing here and another at Ray:
bare CR or LF, folded lines, space around a field's name, control bytes. Whatever is only unusual passes: unknown
methods, bytes above 127, repeated fields, a missing Host. Those are for Ray to judge.

Any bytes parse, or raise `BadRequestError` (a request) or `BadAnswerError` (an answer), and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from proxy.http.path import path_and_query

Headers = tuple[tuple[bytes, bytes], ...]
"""Fields as received: order, case and repeats kept, white space around the value removed."""

END_OF_HEAD = b"\r\n\r\n"

# RFC 9110, 5.6.2 and 5.5: a token, and what a field's value may hold.
_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_VALUE = rb"[\t\x20-\x7e\x80-\xff]*"
_REQUEST_LINE = re.compile(rb"(%s) ([\x21-\x7e\x80-\xff]+) HTTP/(\d\.\d)\r\n" % _TOKEN)
_STATUS_LINE = re.compile(rb"HTTP/(1\.[01]) ([1-9]\d\d)(?: (%s))?\r\n" % _VALUE)
_FIELD = re.compile(rb"(%s):(%s)\r\n" % (_TOKEN, _VALUE))
_BROKEN_LINE = re.compile(rb"(?<!\r)\n|\r(?=[^\n])|\0")


class MalformedError(Exception):
    """What came is not HTTP/1.1, or could be read in two ways. The text is a sentence for whoever sent it.

    ``status`` is how a request is refused for it: 400, 408, 413, 431 or 505.
    """

    def __init__(self, sentence: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.status = status


class BadRequestError(MalformedError):
    """A request that is refused before Ray sees it, or sees the whole of it."""


class BadAnswerError(MalformedError):
    """Ray's answer cannot be passed on: where it ends is not certain, or that end did not come."""


Fault = type[BadRequestError] | type[BadAnswerError]
"""Whose mistake it is when what is being read is malformed."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What requests and answers have in common."""

    version: bytes
    """``b"1.1"`` or ``b"1.0"``."""
    headers: Headers = field(repr=False)
    names: frozenset[bytes] = field(repr=False)
    """The fields' names in lower case: most questions about a head are answered by what it does not hold."""
    raw: bytes = field(repr=False)
    """The head as it came, with the empty line that ends it. Forwarding repeats these bytes."""

    def first(self, name: bytes) -> bytes | None:
        """The value of the first field of that name (any case), or None."""
        name = name.lower()
        if name not in self.names:
            return None
        return next(value for given, value in self.headers if given.lower() == name)

    def all(self, name: bytes) -> list[bytes]:
        """The values of all fields of that name (any case), in order."""
        name = name.lower()
        return [value for given, value in self.headers if given.lower() == name] if name in self.names else []


@dataclass(frozen=True, slots=True)
class RequestHead(_Head):
    """A request up to its body."""

    method: bytes
    target: bytes = field(repr=False)
    """As received, in whatever form."""
    path: str
    """Decoded as Ray's router matches it: see `proxy.http.path`."""
    query: bytes = field(repr=False)
    """Raw, without the ``?``."""


@dataclass(frozen=True, slots=True)
class ResponseHead(_Head):
    """An answer up to its body; also an interim one (1xx)."""

    status: int
    reason: bytes


def find_end(received: bytes, start: int, limit: int, fault: Fault) -> int:
    """Where the head at the front of ``received`` ends, in bytes; 0 while its end has not come.

    Only bytes from ``start`` on are looked at: what was looked at before need not be again, but for its last three.

    Raises:
        BadRequestError, BadAnswerError: the head is longer than ``limit`` bytes (431), or what came of it holds a NUL
            or a line that does not end in CRLF: then no end would ever come.
    """
    end = received.find(END_OF_HEAD, start) + len(END_OF_HEAD)
    found = end >= len(END_OF_HEAD)
    if (end if found else len(received)) > limit:
        raise fault(f"The head is longer than {limit} bytes.", 431)
    if found:
        return end
    if _BROKEN_LINE.search(received, start):
        raise fault("The head has a NUL byte, or a line that does not end in CRLF.")
    return 0


def parse_request(raw: bytes) -> RequestHead:
    """The request head ``raw``, which ends with its empty line.

    Raises:
        BadRequestError: it is not one (400), or of another version than HTTP/1.0 and 1.1 (505).
    """
    line = _REQUEST_LINE.match(raw)
    if line is None:
        raise BadRequestError(
            "The request line is not METHOD TARGET HTTP/1.1, with single spaces and no control bytes."
        )
    method, target, version = line.groups()
    if version not in (b"1.1", b"1.0"):
        raise BadRequestError("Only HTTP/1.1 and HTTP/1.0 are spoken here.", 505)
    headers, names = _fields(raw, line.end(), BadRequestError)
    path, query = path_and_query(target)
    return RequestHead(version, headers, names, raw, method, target, path, query)


def parse_response(raw: bytes) -> ResponseHead:
    """The answer head ``raw``, which ends with its empty line.

    Raises:
        BadAnswerError: it is not one.
    """
    line = _STATUS_LINE.match(raw)
    if line is None:
        raise BadAnswerError("The status line is not HTTP/1.1 STATUS REASON.")
    version, status, reason = line.groups()
    headers, names = _fields(raw, line.end(), BadAnswerError)
    return ResponseHead(version, headers, names, raw, int(status), reason or b"")


def parse_field(line: bytes, fault: Fault) -> tuple[bytes, bytes]:
    """One field, given its line with the CRLF: a trailer.

    Raises:
        BadRequestError, BadAnswerError: it is not a field.
    """
    match = _FIELD.fullmatch(line)
    if match is None:
        raise fault(_what_is_wrong(line[:-2]))
    return match[1], match[2].strip(b" \t")


def _fields(raw: bytes, start: int, fault: Fault) -> tuple[Headers, frozenset[bytes]]:
    end = len(raw) - 2
    found = _FIELD.findall(raw, start, end)
    # The pattern passes over what it does not match: the fields must fill the block to the byte. 3 = ":" and CRLF.
    if sum([len(name) + len(value) + 3 for name, value in found]) != end - start:
        raise fault(next(_what_is_wrong(line) for line in raw[start:end].split(b"\r\n") if not _is_field(line)))
    headers = tuple([(name, value.strip(b" \t")) for name, value in found])
    return headers, frozenset([name.lower() for name, _ in found])


def _is_field(line: bytes) -> bool:
    return _FIELD.fullmatch(line + b"\r\n") is not None


def _what_is_wrong(line: bytes) -> str:
    """A sentence on why ``line`` is no field. It repeats nothing of the line: that may be a secret."""
    name, colon, _ = line.partition(b":")
    if line[:1] in (b" ", b"\t"):
        return "A header field is folded over two lines: send it as one."
    if not colon:
        return "A header line has no colon."
    if not name:
        return "A header field has no name."
    if re.fullmatch(_TOKEN, name):
        return "A header field's value has a control byte."
    return "A header field's name has a space or another byte that names may not have."

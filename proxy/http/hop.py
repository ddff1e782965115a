"""The fields that belong to one connection, and what becomes of them on the next: RFC 9110, 7.6.1 and 7.8. Pure.

A client's connection and the one to Ray live and end together, so ``close`` and ``keep-alive`` are as true of the
second as of the first and are stated again, in the same bytes. So is an upgrade: it makes a tunnel of both. All else
that Connection names is removed, except what makes a message what it is (``_MADE_OF``): "Connection: Content-Length"
would otherwise let a client change where its request ends.

Bodies are copied chunk by chunk, so Transfer-Encoding stays true as well. Trailers pass as they are.
"""

from __future__ import annotations

from collections.abc import Callable

from proxy.http.head import RequestHead, ResponseHead

Options = frozenset[bytes]
"""What a message's Connection fields name, in lower case."""

_RESTATED = frozenset((b"close", b"keep-alive", b"upgrade", b"te", b"http2-settings"))
_MADE_OF = frozenset((b"host", b"content-length", b"transfer-encoding"))


def _dropped(_value: bytes, _options: Options) -> None:
    return None


def _options_restated(value: bytes, _options: Options) -> bytes | None:
    options = _members(value)
    kept = [option for option in options if option.lower() in _RESTATED]
    return value if kept == options else b", ".join(kept) or None


def _trailers_only(value: bytes, _options: Options) -> bytes | None:
    members = _members(value)
    kept = [member for member in members if member.lower() == b"trailers"]
    return value if kept == members else b", ".join(kept) or None


def _with_an_upgrade(value: bytes, options: Options) -> bytes | None:
    return value if b"upgrade" in options else None


Restate = Callable[[bytes, Options], bytes | None]
"""A field's value on this connection -> its value on the next, or None: the field is left out."""

RULES: dict[bytes, Restate] = {
    b"connection": _options_restated,
    b"keep-alive": _dropped,
    b"proxy-connection": _dropped,
    b"te": _trailers_only,
    b"upgrade": _with_an_upgrade,
    b"http2-settings": _with_an_upgrade,  # RFC 7540, 3.2.1: goes with "Upgrade: h2c"
}


def forwarded_request(head: RequestHead) -> bytes:
    """The head that Ray gets: the same bytes, without the lines that were for this connection only."""
    return head.raw if head.names.isdisjoint(RULES) else _restated(head)


def forwarded_response(head: ResponseHead) -> bytes:
    """The head that the client gets, likewise.

    RFC 9112, 6.3: of an answer that has both, Transfer-Encoding holds and Content-Length is removed.
    """
    both = b"content-length" in head.names and b"transfer-encoding" in head.names
    if not both and head.names.isdisjoint(RULES):
        return head.raw
    return _restated(head, without=b"content-length" if both else b"")


def stays_open(head: RequestHead | ResponseHead) -> bool:
    """Whether the connection may carry another message after this one: RFC 9112, 9.3."""
    if b"connection" not in head.names:
        return head.version == b"1.1"
    options = connection_options(head)
    return b"close" not in options and (head.version == b"1.1" or b"keep-alive" in options)


def asks_upgrade(head: RequestHead) -> bool:
    """Whether what follows the request may be another protocol, if Ray agrees: an upgrade or CONNECT."""
    return head.method == b"CONNECT" or (b"upgrade" in head.names and b"upgrade" in connection_options(head))


def connection_options(head: RequestHead | ResponseHead) -> Options:
    """What the Connection fields name, in lower case."""
    return frozenset([option.lower() for value in head.all(b"connection") for option in _members(value)])


def _restated(head: RequestHead | ResponseHead, without: bytes = b"") -> bytes:
    options = connection_options(head)
    start, *lines = head.raw.split(b"\r\n")
    kept = [start]
    for line, (name, value) in zip(lines, head.headers, strict=False):
        lower = name.lower()
        if lower == without or (lower in options and lower not in _RESTATED | _MADE_OF):
            continue
        restated = RULES[lower](value, options) if lower in RULES else value
        if restated is not None:
            kept.append(line if restated == value else name + b": " + restated)
    return b"\r\n".join((*kept, b"", b""))


def _members(value: bytes) -> list[bytes]:
    return [member for part in value.split(b",") if (member := part.strip(b" \t"))]

"""Websockets and other protocols that a connection can be switched to."""

import base64
import hashlib

from tests.differential.cases.requests import OK
from tests.differential.play import CLOSES, LEFT, Case
from tests.differential.steps import (
    Close,
    Finish,
    Flood,
    Hear,
    Read,
    ReadBytes,
    ReadToEnd,
    Reset,
    Send,
    SendSlowly,
    Tell,
)

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = base64.b64encode(hashlib.sha1(KEY + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())  # noqa: S324 - RFC 6455
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: ray\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: v1.log, v2.log\r\n"
    b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
) % KEY
SWITCHED = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: %s\r\n"
    b"Sec-WebSocket-Protocol: v2.log\r\nX-Log: 1\r\n\r\n"
) % ACCEPT
HELLO = b"\x81\x85\x01\x02\x03\x04" + bytes(a ^ b for a, b in zip(b"hello", b"\x01\x02\x03\x04\x01", strict=True))
CLOSE = b"\x88\x82\x00\x00\x00\x00\x03\xe8"
PING = b"\x89\x80\x00\x00\x00\x00"


def switched(name, client, upstream, *, request=UPGRADE, answer=SWITCHED, then=LEFT):
    """A connection that is switched, and what both do with it."""
    return Case(name, [Send(request), Read(), *client], [[Read(), Send(answer), *upstream]], then=then)


def refused(name, answer, *, request=UPGRADE, **expected):
    return Case(name, [Send(request), Read(b"ok")], [[Read(), Send(answer)]], **expected)


WEBSOCKETS = [
    switched(
        "frames both ways",
        [Send(HELLO), Read(b"\x81\x05HELLO"), Send(CLOSE)],
        [Read(HELLO), Send(b"\x81\x05HELLO"), Read(CLOSE), Send(b"\x88\x02\x03\xe8"), Close()],
        then=CLOSES,
    ),
    Case(
        "frames that come with the request",
        [Send(UPGRADE + HELLO), Read(), Read(b"!")],
        [[Read(), Send(SWITCHED), Read(HELLO), Send(b"!"), Close()]],
        then=CLOSES,
    ),
    Case(
        "frames that come with the answer",
        [Send(UPGRADE), Read(b"hello")],
        [[Read(), Send(SWITCHED + b"\x81\x05hello"), Close()]],
        then=CLOSES,
    ),
    switched("pings are for the other end", [Send(PING), Read(b"\x8a\x00")], [Read(PING), Send(b"\x8a\x00")]),
    switched(
        "fragments and reserved bits",
        [Send(b"\x41\x80\x00\x00\x00\x00" + b"\x80\x80\x00\x00\x00\x00"), Read(b"!")],
        [ReadBytes(12), Send(b"!")],
    ),
    switched(
        "a frame of five megabytes",
        [Read(b"end"), Send(b"!")],
        [Send(b"\x82\x7f" + (5_000_000).to_bytes(8) + b"x" * 4_999_997 + b"end"), Read(b"!")],
    ),
    switched("what is no frame at all", [Send(b"\r\nGET / HTTP/1.1\r\n\r\n"), Read(b"!")], [Read(), Send(b"!")]),
    switched("bytes one by one", [SendSlowly(HELLO), Read(b"!")], [Read(HELLO), Send(b"!")]),
    switched("the upstream ends it", [], [Close()], then=CLOSES),
    switched("the client ends it", [Close()], [ReadToEnd()]),
    switched("the client is gone", [Reset()], [ReadToEnd()]),
    switched(
        "the client has finished, the upstream has not",
        [Finish(), Read(b"!")],
        [ReadToEnd(), Send(b"!"), Close()],
        then=CLOSES,
    ),
    switched("the upstream has finished, the client has not", [ReadToEnd(), Send(HELLO)], [Finish(), Read(HELLO)]),
    switched("a client that reads nothing stops the upstream", [Hear("stalled")], [Flood(64_000_000), Tell("stalled")]),
    switched(
        "an upstream that reads nothing stops the client",
        [Flood(64_000_000), Tell("stalled")],
        [Hear("stalled"), Close()],
    ),
]

REFUSED = [
    refused("a refusal", b"HTTP/1.1 403 Forbidden\r\nX-Why: no\r\nContent-Length: 2\r\n\r\nok"),
    refused(
        "a refusal that names what is supported",
        b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\nok",
    ),
    refused("an upgrade that is ignored", OK),
    Case(
        "a refusal that closes",
        [Send(UPGRADE), Read(b"ok")],
        [[Read(), Send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), Close()]],
        then=CLOSES,
    ),
    Case(
        "what follows a refused upgrade is a request like any other",
        [Send(UPGRADE + b"GET /next HTTP/1.1\r\n\r\n"), Read(b"ok"), Read(b"ok")],
        [[Read(), Send(OK)], [Read(), Send(OK)]],
    ),
    Case(
        "an upgrade with a body that is refused",
        [
            Send(UPGRADE.replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n") + b"hello"),
            Read(b"ok"),
        ],
        [[Read(b"hello"), Send(OK)]],
    ),
]

H2C = (
    b"GET / HTTP/1.1\r\nHost: ray\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"
)
CONNECT = b"CONNECT other:80 HTTP/1.1\r\nHost: other:80\r\n\r\n"

OTHERS = [
    refused("an offer of HTTP/2 that is ignored", OK, request=H2C),
    switched(
        "an offer of HTTP/2 that is accepted",
        [Send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Read(b"!")],
        [Read(b"SM\r\n\r\n"), Send(b"!")],
        request=H2C,
        answer=b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    ),
    switched(
        "an upgrade after a body",
        [Send(b"bytes"), Read(b"!")],
        [Read(b"bytes"), Send(b"!")],
        request=H2C.replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\nContent-Length: 0\r\n\r\n"),
    ),
    switched(
        "a tunnel that is granted",
        [Send(b"bytes"), Read(b"!")],
        [Read(b"bytes"), Send(b"!")],
        request=CONNECT,
        answer=b"HTTP/1.1 200 Connection established\r\n\r\n",
    ),
    refused(
        "a tunnel that is refused", b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 2\r\n\r\nok", request=CONNECT
    ),
]

CASES = [*WEBSOCKETS, *REFUSED, *OTHERS]

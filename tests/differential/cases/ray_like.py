"""Against aiohttp, as Ray's dashboard is. The answers tell what it saw."""

from tests.differential.cases.upgrades import CLOSE, HELLO, UPGRADE
from tests.differential.play import AIOHTTP, CLOSES, Case
from tests.differential.steps import Finish, Read, Send

END = b'"}'


def aio(name, request, end=END, **more):
    return Case(f"aiohttp: {name}", [Send(request), Read(end)] if end else [Send(request)], AIOHTTP, **more)


CASES = [
    aio("a small GET", b"GET /a?b HTTP/1.1\r\nHost: ray\r\nUser-Agent: x\r\n\r\n"),
    aio("a path with escapes", b"GET /%61%2f%25/../x?%7e HTTP/1.1\r\nHost: ray\r\n\r\n"),
    aio(
        "fields of a KubeRay",
        b"GET / HTTP/1.1\r\nHost: ray:8265\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n\r\n",
    ),
    aio(
        "a body with a length",
        b"PUT / HTTP/1.1\r\nHost: ray\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    ),
    aio(
        "a body in chunks",
        b"POST / HTTP/1.1\r\nHost: ray\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\n{}\r\n0\r\nA: b\r\n\r\n",
    ),
    aio("a DELETE", b"DELETE / HTTP/1.1\r\nHost: ray\r\n\r\n"),
    aio(
        "a client that waits for 100",
        b"PUT / HTTP/1.1\r\nHost: ray\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    ),
    aio(
        "an expectation nobody knows",
        b"PUT / HTTP/1.1\r\nHost: ray\r\nExpect: x\r\nContent-Length: 0\r\n\r\n",
        b"Failed",
    ),
    aio("a stream", b"GET /stream HTTP/1.1\r\nHost: ray\r\n\r\n", b"0\r\n\r\n"),
    aio("a stream for HTTP/1.0", b"GET /stream HTTP/1.0\r\n\r\n", b"", then=CLOSES),
    aio("HTTP/1.0 with keep-alive", b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
    aio("a request that closes", b"GET / HTTP/1.1\r\nHost: ray\r\nConnection: close\r\n\r\n", b"", then=CLOSES),
    aio("HEAD", b"HEAD / HTTP/1.1\r\nHost: ray\r\n\r\n", b"\r\n\r\n"),
    aio("an error of the application's", b"GET /fail HTTP/1.1\r\nHost: ray\r\n\r\n", "café".encode()),
    aio(
        "a body that is too large for it",
        b"POST / HTTP/1.1\r\nHost: ray\r\nContent-Length: 100000\r\n\r\n" + b"a" * 100_000,
        b"exceeded",
    ),
    aio(
        "a line that is too long for it",
        b"GET / HTTP/1.1\r\nHost: ray\r\nX-A: " + b"a" * 9000 + b"\r\n\r\n",
        b"",
        then=CLOSES,
    ),
    aio("two hosts, which it refuses", b"GET / HTTP/1.1\r\nHost: ray\r\nHost: b\r\n\r\n", b"", then=CLOSES),
    aio("no host, which it refuses", b"GET / HTTP/1.1\r\nUser-Agent: x\r\n\r\n", b"", then=CLOSES),
    aio("a method it refuses", b"BREW / HTTP/1.1\r\nHost: ray\r\n\r\n", b"", then=CLOSES),
    aio("raw bytes in the target, which it refuses", b"GET /caf\xe9 HTTP/1.1\r\nHost: ray\r\n\r\n", b"", then=CLOSES),
    aio(
        "requests in one packet",
        b"GET /1 HTTP/1.1\r\nHost: ray\r\n\r\nPOST /2 HTTP/1.1\r\nHost: ray\r\nContent-Length: 2\r\n\r\n{}",
        b'7b7d"}',
    ),
    aio(
        "a plain GET where websockets live", b"GET /ws HTTP/1.1\r\nHost: ray\r\n\r\n", b"", then=[Read(b'"WebSocket".')]
    ),
    Case(
        "aiohttp: a websocket with a subprotocol",
        [
            Send(UPGRADE.replace(b"Sec-WebSocket-Extensions: permessage-deflate\r\n", b"")),
            Read(),
            Send(HELLO),
            Read(b"HELLO"),
            Send(CLOSE),
        ],
        AIOHTTP,
        then=CLOSES,
    ),
    Case(
        "aiohttp: a client that finishes sending is taken for gone",
        [Send(b"GET /ws HTTP/1.1\r\n"), Finish()],
        AIOHTTP,
        then=CLOSES,
    ),
]

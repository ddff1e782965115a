"""Answers."""

import gzip

from tests.differential.play import Case
from tests.differential.steps import (
    Hear,
    Read,
    ReadBytes,
    Send,
    SendSlowly,
    Tell,
)

GET = b"GET /answer HTTP/1.1\r\nHost: ray\r\n\r\n"
HEAD = b"HEAD /answer HTTP/1.1\r\nHost: ray\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
GZIPPED = gzip.compress(b"hello " * 100, mtime=0)


def answered(name, sent, *, request=GET, **expected):
    """An answer that comes whole; the connection stays."""
    return Case(name, [Send(request), ReadBytes(len(expected.get("answer", sent)))], [[Read(), Send(sent)]], **expected)


HEADS = [
    answered("a reason nobody else gives", b"HTTP/1.1 200 Fine, thank you\r\nContent-Length: 0\r\n\r\n"),
    answered("an empty reason", b"HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"),
    answered("no reason, and no space before it", b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
    answered("a reason in latin-1", b"HTTP/1.1 200 Enti\xe8rement\r\nContent-Length: 0\r\n\r\n"),
    answered("a status nobody knows", b"HTTP/1.1 799 Odd\r\nContent-Length: 2\r\n\r\nok"),
    answered("neither Date nor Server nor Content-Type", OK + b"Content-Length: 2\r\n\r\nok"),
    answered("a Date and a Server of the upstream's", OK + b"Date: never\r\nServer: Ray\r\nContent-Length: 0\r\n\r\n"),
    answered("the order and the case of fields", OK + b"zeta: 1\r\ncontent-LENGTH: 0\r\naLpHa: 2\r\n\r\n"),
    answered(
        "repeated cookies", OK + b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nset-cookie: c=3\r\nContent-Length: 0\r\n\r\n"
    ),
    answered(
        "values in latin-1, empty, and with white space",
        OK + b"A: caf\xe9\r\nB:\r\nC:  d  \r\nContent-Length: 0\r\n\r\n",
    ),
    answered("a value of 100,000 bytes", OK + b"A: " + b"a" * 100_000 + b"\r\nContent-Length: 0\r\n\r\n"),
    answered(
        "a redirect is not followed",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/x\r\nContent-Length: 0\r\n\r\n",
    ),
    answered("a challenge", b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 2\r\n\r\nno"),
    answered("an error with a body", b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 9\r\n\r\nTraceback"),
    answered(
        "a partial answer", b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nok"
    ),
    answered("a Connection field that keeps alive", OK + b"Connection: keep-alive\r\nContent-Length: 0\r\n\r\n"),
    answered("two equal lengths", OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
    Case(
        "a head that comes byte by byte",
        [Send(GET), Read(b"ok")],
        [[Read(), SendSlowly(OK + b"Content-Length: 2\r\n\r\nok")]],
    ),
    answered(
        "Keep-Alive is removed",
        OK + b"Keep-Alive: timeout=5\r\nContent-Length: 2\r\n\r\nok",
        answer=OK + b"Content-Length: 2\r\n\r\nok",
    ),
    answered(
        "a field that Connection names is removed",
        OK + b"Connection: X-Hop\r\nX-Hop: 1\r\nContent-Length: 2\r\n\r\nok",
        answer=OK + b"Content-Length: 2\r\n\r\nok",
    ),
    answered(
        "a length beside chunks is removed",
        OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        answer=CHUNKED + b"0\r\n\r\n",
    ),
]

BODILESS = [
    answered("204", b"HTTP/1.1 204 No Content\r\n\r\n"),
    answered("205", b"HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"),
    answered(
        "304 with the length of what it does not send",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\nETag: a\r\n\r\n",
    ),
    answered("304 with a Transfer-Encoding", b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"),
    answered("HEAD with a length", OK + b"Content-Length: 1234\r\n\r\n", request=HEAD),
    answered("HEAD with chunks", CHUNKED, request=HEAD),
    answered("HEAD without either", OK + b"\r\n", request=HEAD),
    answered("HEAD of an error", b"HTTP/1.1 404 Not Found\r\nContent-Length: 14\r\n\r\n", request=HEAD),
]

INTERIM = [
    answered("early hints", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok"),
    answered("three interim answers", b"HTTP/1.1 102 Processing\r\n\r\n" * 3 + OK + b"Content-Length: 2\r\n\r\nok"),
    answered("a 100 that nobody waits for", b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok"),
    answered(
        "an interim answer nobody knows", b"HTTP/1.1 199 Odd\r\nX: y\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok"
    ),
    Case(
        "early hints come early",
        [Send(GET), Read(b"\r\n\r\n"), Tell("hints"), Read(b"ok")],
        [[Read(), Send(b"HTTP/1.1 103 Early Hints\r\n\r\n"), Hear("hints"), Send(OK + b"Content-Length: 2\r\n\r\nok")]],
    ),
]

CODED = [
    answered("chunks", CHUNKED + b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"),
    answered("chunks of one byte", CHUNKED + b"1\r\na\r\n" * 500 + b"0\r\n\r\n"),
    answered("chunk extensions", CHUNKED + b"5;a=1\r\nhello\r\n0;b\r\n\r\n"),
    answered("trailers", CHUNKED.replace(b"OK\r\n", b"OK\r\nTrailer: A\r\n") + b"1\r\na\r\n0\r\nA: b\r\nC:d\r\n\r\n"),
    answered("no chunk but the last", CHUNKED + b"0\r\n\r\n"),
    answered(
        "gzip with a length", OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(GZIPPED) + GZIPPED
    ),
    answered(
        "gzip in chunks",
        CHUNKED.replace(b"OK\r\n", b"OK\r\nContent-Encoding: gzip\r\n")
        + b"%x\r\n%s\r\n0\r\n\r\n" % (len(GZIPPED), GZIPPED),
    ),
    answered("what only claims to be gzip", OK + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok"),
    answered("what claims to be br", OK + b"Content-Encoding: br\r\nContent-Length: 2\r\n\r\nok"),
    answered("two megabytes", OK + b"Content-Length: 2000000\r\n\r\n" + bytes(range(250)) * 8000),
    answered(
        "a body that looks like an answer",
        OK + b"Content-Length: 38\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ),
]

CASES = [*HEADS, *BODILESS, *INTERIM, *CODED]

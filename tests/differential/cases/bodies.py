"""Request bodies."""

import gzip

from tests.differential.cases.requests import OK
from tests.differential.play import CLOSES, LEFT, Case
from tests.differential.steps import (
    Close,
    Finish,
    Flood,
    Hear,
    Pause,
    Read,
    ReadBytes,
    ReadToEnd,
    Reset,
    Send,
    SendSlowly,
    Tell,
)

GZIPPED = gzip.compress(b"hello " * 100, mtime=0)
NOISE = bytes(range(256)) * 4096
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
TOO_LARGE = b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\nok"


def head(method, *fields):
    return b"\r\n".join((method + b" /upload HTTP/1.1", b"Host: ray", *fields, b"", b""))


def sized(method, body, *fields):
    return head(method, *fields, b"Content-Length: %d" % len(body)) + body


def chunked(body, *fields, method=b"POST"):
    return head(method, *fields, b"Transfer-Encoding: chunked") + body


def upload(name, request, **expected):
    """A request that comes whole, in one piece."""
    return Case(name, [Send(request), Read(b"ok")], [[ReadBytes(len(request)), Send(OK)]], **expected)


FRAMED = [
    upload("a body with a length", sized(b"POST", b"hello")),
    upload("a PUT of nothing", sized(b"PUT", b"")),
    upload("a PUT without a length", head(b"PUT")),
    upload("a DELETE without a length", head(b"DELETE")),
    upload("a DELETE with a body", sized(b"DELETE", b"hello")),
    upload("a GET with a body", sized(b"GET", b"hello")),
    upload("an unknown method with a body", sized(b"BREW", b"hello")),
    upload("a length with zeros in front", head(b"POST", b"Content-Length: 0005") + b"hello"),
    upload("a length with white space around it", head(b"POST", b"Content-Length:  5 ") + b"hello"),
    upload("a length whose name is in lower case", head(b"POST", b"content-length: 5") + b"hello"),
    upload("a body that looks like a request", sized(b"POST", b"\r\n\r\nGET /not-a-request HTTP/1.1\r\n\r\n")),
    upload("a body of one mebibyte of every byte", sized(b"PUT", NOISE)),
    upload("a gzipped body stays gzipped", sized(b"POST", GZIPPED, b"Content-Encoding: gzip")),
    upload("a body that only claims to be gzipped", sized(b"POST", b"hello", b"Content-Encoding: gzip")),
    upload("a body without a Content-Type", sized(b"POST", b"hello")),
    upload("chunks", chunked(b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")),
    upload("chunks of one byte", chunked(b"1\r\na\r\n" * 500 + b"0\r\n\r\n")),
    upload("no chunk but the last", chunked(b"0\r\n\r\n")),
    upload(
        "chunk sizes in either case, with zeros in front",
        chunked(b"0A\r\n0123456789\r\n0b\r\n0123456789a\r\n00\r\n\r\n"),
    ),
    upload("chunk extensions", chunked(b'5;a=1;b="c d"\r\nhello\r\n0;last\r\n\r\n')),
    upload("trailers", chunked(b"5\r\nhello\r\n0\r\nX-Sum: 1\r\nx-sum:2\r\n\r\n", b"Trailer: X-Sum")),
    upload(
        "chunks that look like requests",
        chunked(b"1e\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\nX: y\r\n\r\n0\r\n\r\n".replace(b"1e", b"1d")),
    ),
    upload("the name of the coding in another case", head(b"POST", b"transfer-encoding: Chunked") + b"0\r\n\r\n"),
    upload("chunks in a GET", chunked(b"5\r\nhello\r\n0\r\n\r\n", method=b"GET")),
    Case(
        "a body that comes byte by byte",
        [SendSlowly(sized(b"POST", b"hello")), Read(b"ok")],
        [[Read(b"hello"), Send(OK)]],
    ),
    Case(
        "chunks and trailers that come byte by byte",
        [SendSlowly(chunked(b"5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n")), Read(b"ok")],
        [[Read(b"A: b\r\n\r\n"), Send(OK)]],
    ),
]

IN_TIME = [
    Case(
        "the head of a request goes on before its body",
        [Send(head(b"POST", b"Content-Length: 5")), Hear("head"), Send(b"hello"), Read(b"ok")],
        [[Read(), Tell("head"), ReadBytes(5), Send(OK)]],
    ),
    Case(
        "a part of a body goes on before the rest",
        [Send(head(b"POST", b"Content-Length: 10") + b"hello"), Hear("half"), Send(b"world"), Read(b"ok")],
        [[Read(b"hello"), Tell("half"), ReadBytes(5), Send(OK)]],
    ),
    Case(
        "a chunk goes on before the next",
        [Send(chunked(b"5\r\nhello\r\n")), Hear("half"), Send(b"0\r\n\r\n"), Read(b"ok")],
        [[Read(b"hello\r\n"), Tell("half"), Read(b"0\r\n\r\n"), Send(OK)]],
    ),
    Case(
        "a part of a chunk goes on before the rest",
        [Send(chunked(b"a\r\nhello")), Hear("half"), Send(b"world\r\n0\r\n\r\n"), Read(b"ok")],
        [[Read(b"hello"), Tell("half"), Read(b"0\r\n\r\n"), Send(OK)]],
    ),
    Case(
        "an upload that nobody reads stalls at the client",
        [Send(head(b"PUT", b"Content-Length: 64000000")), Hear("head"), Flood(64_000_000), Tell("stalled")],
        [[Read(), Tell("head"), Hear("stalled"), Close()]],
        then=LEFT,
    ),
]

EXPECTED = [
    Case(
        "a client that waits for 100 gets the upstream's",
        [
            Send(head(b"PUT", b"Expect: 100-continue", b"Content-Length: 5")),
            Read(CONTINUE),
            Send(b"hello"),
            Read(b"ok"),
        ],
        [[Read(), Send(CONTINUE), Read(b"hello"), Send(OK)]],
    ),
    Case(
        "a client that waits for 100 is refused by the upstream",
        [Send(head(b"PUT", b"Expect: 100-continue", b"Content-Length: 5")), Read(b"ok")],
        [
            [
                Read(),
                Send(b"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
                Close(),
            ]
        ],
        then=CLOSES,
    ),
    Case(
        "an upstream that never says 100 gets the body all the same",
        [Send(head(b"PUT", b"Expect: 100-continue", b"Content-Length: 5")), Pause(0.2), Send(b"hello"), Read(b"ok")],
        [[Read(b"hello"), Send(OK)]],
    ),
    Case(
        "a client that does not wait for 100 gets it nonetheless",
        [Send(sized(b"PUT", b"hello", b"Expect: 100-continue")), Read(b"ok")],
        [[Read(b"hello"), Send(CONTINUE + OK)]],
    ),
    Case(
        "a client that waits for 100 with chunks",
        [Send(chunked(b"", b"Expect: 100-continue")), Read(CONTINUE), Send(b"1\r\na\r\n0\r\n\r\n"), Read(b"ok")],
        [[Read(), Send(CONTINUE), Read(b"0\r\n\r\n"), Send(OK)]],
    ),
    Case(
        "an expectation nobody knows",
        [Send(sized(b"PUT", b"hello", b"Expect: the-unexpected")), Read(b"ok")],
        [[Read(b"hello"), Send(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nok")]],
    ),
]

EARLY = [
    Case(
        "an answer during an upload, which goes on",
        [Send(head(b"POST", b"Content-Length: 10") + b"hello"), Read(b"ok"), Send(b"world")],
        [[Read(b"hello"), Send(OK), ReadBytes(5)]],
    ),
    Case(
        "an answer before any of the upload, which goes on",
        [Send(head(b"POST", b"Content-Length: 5")), Read(b"ok"), Send(b"hello")],
        [[Read(), Send(OK), ReadBytes(5)]],
    ),
    Case(
        "an answer during an upload, and the end of the connection",
        [Send(head(b"POST", b"Content-Length: 10") + b"hello"), Read(b"ok")],
        [[Read(b"hello"), Send(TOO_LARGE), Finish()]],
        then=CLOSES,
    ),
    Case(
        "a refusal of ten megabytes of which most have not been sent",
        [Send(head(b"POST", b"Content-Length: 10000000") + NOISE[:100000]), Read(b"ok")],
        [[Read(), ReadBytes(100000), Send(TOO_LARGE), Close()]],
        then=CLOSES,
    ),
    Case(
        "an answer that begins before the upload ends and ends after it",
        [Send(head(b"POST", b"Content-Length: 5")), Read(b"o"), Send(b"hello"), Read(b"k")],
        [[Read(), Send(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n o"), Read(b"hello"), Send(b"k")]],
    ),
    Case(
        "an echo in chunks while the upload is running",
        [Send(chunked(b"1\r\na\r\n")), Read(b"a\r\n"), Send(b"1\r\nb\r\n0\r\n\r\n"), Read(b"0\r\n\r\n")],
        [
            [
                Read(b"a\r\n"),
                Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"),
                Read(b"0\r\n\r\n"),
                Send(b"1\r\nb\r\n0\r\n\r\n"),
            ]
        ],
    ),
]

CUT = [
    Case(
        "a body that its client finishes too early",
        [Send(head(b"POST", b"Content-Length: 10") + b"hello"), Finish()],
        [[Read(b"hello"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "a body that its client finishes too early gets the upstream's answer",
        [Send(head(b"POST", b"Content-Length: 10") + b"hello"), Finish(), Read(b"ok")],
        [[Read(b"hello"), ReadToEnd(), Send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nok"), Close()]],
        then=CLOSES,
    ),
    Case(
        "chunks that their client finishes too early",
        [Send(chunked(b"5\r\nhello\r\n")), Finish()],
        [[Read(b"hello\r\n"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "an upload whose client is gone",
        [Send(head(b"POST", b"Content-Length: 10") + b"hello"), Hear("half"), Reset()],
        [[Read(b"hello"), Tell("half"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "an upload whose upstream is gone",
        [Send(head(b"POST", b"Content-Length: 10") + b"hello"), Read(b"}")],
        [[Read(b"hello"), Reset()]],
        then=LEFT,
        refused=502,
        seen=head(b"POST", b"Content-Length: 10") + b"hello",
    ),
]

CASES = [*FRAMED, *IN_TIME, *EXPECTED, *EARLY, *CUT]

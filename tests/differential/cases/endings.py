"""How answers end: in time, in the middle, or because somebody leaves."""

from tests.differential.cases.answers import CHUNKED, GET, OK
from tests.differential.play import CLOSES, LEFT, Case
from tests.differential.steps import Close, Finish, Flood, Hear, Pause, Read, ReadToEnd, Reset, Send, Tell


def closing(name, *steps, **expected):
    """An answer after which the connection is closed; ``steps`` are the upstream's."""
    return Case(name, [Send(GET)], [[Read(), *steps]], then=CLOSES, **expected)


ENDINGS = [
    closing("an answer that ends with its connection", Send(OK + b"\r\nhello"), Close()),
    closing("an empty answer that ends with its connection", Send(OK + b"\r\n"), Close()),
    closing(
        "a coding without chunks ends with its connection", Send(OK + b"Transfer-Encoding: gzip\r\n\r\nhello"), Close()
    ),
    closing("an answer in HTTP/1.0", Send(b"HTTP/1.0 200 OK\r\n\r\nhello"), Close()),
    closing("an answer in HTTP/1.0 with a length", Send(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"), Close()),
    closing("a Connection field that closes", Send(OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok"), Close()),
    closing(
        "chunks and a Connection field that closes",
        Send(CHUNKED.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n") + b"0\r\n\r\n"),
        Close(),
    ),
    closing("an answer cut before its length", Send(OK + b"Content-Length: 10\r\n\r\nhello"), Close()),
    closing("an answer cut between chunks", Send(CHUNKED + b"5\r\nhello\r\n"), Close()),
    closing("an answer cut inside a chunk", Send(CHUNKED + b"a\r\nhello"), Close()),
    closing("an answer cut before the end of its trailers", Send(CHUNKED + b"0\r\nA: b\r\n"), Close()),
    Case(
        "an answer without an end, cut by a reset",
        [Send(GET), Read(b"hello"), Tell("read")],
        [[Read(), Send(OK + b"\r\nhello"), Hear("read"), Reset()]],
        then=CLOSES,
    ),
    Case(
        "an answer with a length, cut by a reset",
        [Send(GET), Read(b"hello"), Tell("read")],
        [[Read(), Send(OK + b"Content-Length: 9\r\n\r\nhello"), Hear("read"), Reset()]],
        then=CLOSES,
        answer=OK + b"Content-Length: 9\r\n\r\nhello",
    ),
]

STREAMS = [
    Case(
        f"a line of a stream comes at once: {kind}",
        [Send(GET), Read(b"one"), Tell("one"), Read(b"two"), Tell("two"), Read(end)],
        [[Read(), Send(opening), Hear("one"), Send(second), Hear("two"), Send(last), *closing_]],
        then=then,
    )
    for kind, opening, second, last, end, closing_, then in (
        ("chunked", CHUNKED + b"3\r\none\r\n", b"3\r\ntwo\r\n", b"0\r\n\r\n", b"0\r\n\r\n", [], None),
        ("with a length", OK + b"Content-Length: 9\r\n\r\none", b"two", b"end", b"end", [], None),
        ("until it closes", OK + b"\r\none", b"two", b"end", b"end", [Close()], CLOSES),
    )
    for then in [then or Case.then]
] + [
    Case(
        "the head of an answer comes before its body",
        [Send(GET), Read(), Tell("head"), Read(b"ok")],
        [[Read(), Send(OK + b"Content-Length: 2\r\n\r\n"), Hear("head"), Send(b"ok")]],
    ),
    Case(
        "an answer that takes longer than a connection may",
        [Send(GET), Read(b"ok")],
        [[Read(), Pause(1.7), Send(OK + b"Content-Length: 2\r\n\r\nok")]],
    ),
    Case(
        "a download that nobody reads stalls at the upstream",
        [Send(GET), Hear("stalled")],
        [[Read(), Send(OK + b"Content-Length: 64000000\r\n\r\n"), Flood(64_000_000), Tell("stalled")]],
        then=LEFT,
    ),
]

LEAVING = [
    Case(
        "a client that leaves an idle stream",
        [Send(GET), Read(b"one"), Close()],
        [[Read(), Send(CHUNKED + b"3\r\none\r\n"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "a client that resets an idle stream",
        [Send(GET), Read(b"one"), Reset()],
        [[Read(), Send(CHUNKED + b"3\r\none\r\n"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "a client that leaves before its answer",
        [Send(GET), Hear("read"), Close()],
        [[Read(), Tell("read"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "a client that resets before its answer",
        [Send(GET), Hear("read"), Reset()],
        [[Read(), Tell("read"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "a client that leaves in the middle of a large answer",
        [Send(GET), Read(b"\r\n\r\n"), Reset(), Tell("left")],
        [[Read(), Send(OK + b"\r\n"), Hear("left"), ReadToEnd()]],
        then=LEFT,
    ),
    Case(
        "a client that finishes sending still gets its answer",
        [Send(GET), Finish(), Read(b"ok")],
        [[Read(), ReadToEnd(), Send(OK + b"Content-Length: 2\r\n\r\nok"), Close()]],
        then=CLOSES,
    ),
    Case(
        "a client that finishes sending still gets the rest of a stream",
        [Send(GET), Read(b"one"), Finish(), Read(b"two")],
        [[Read(), Send(OK + b"\r\none"), ReadToEnd(), Send(b"two"), Close()]],
        then=CLOSES,
    ),
]

BROKEN = [
    Case("nobody listens", [Send(GET), Read(b"}")], None, then=LEFT, refused=502),
    Case(
        "nobody listens, and the client uploads",
        [Send(b"PUT / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhello"), Read(b"}")],
        None,
        then=CLOSES,
        refused=502,
    ),
    Case(
        "the upstream closes without an answer",
        [Send(GET), Read(b"}")],
        [[Read(), Close()]],
        then=LEFT,
        refused=502,
        seen=GET,
    ),
    Case(
        "the upstream closes in the middle of its head",
        [Send(GET), Read(b"}")],
        [[Read(), Send(OK + b"A: "), Close()]],
        then=LEFT,
        refused=502,
        seen=GET,
    ),
    Case(
        "the upstream does not speak HTTP",
        [Send(GET), Read(b"}")],
        [[Read(), Send(b"220 mail ESMTP\r\n\r\n")]],
        then=LEFT,
        refused=502,
        seen=GET,
    ),
    Case(
        "the upstream folds a field",
        [Send(GET), Read(b"}")],
        [[Read(), Send(OK + b"A: b\r\n c\r\n\r\n")]],
        then=LEFT,
        refused=502,
        seen=GET,
    ),
    Case(
        "the upstream gives two lengths",
        [Send(GET), Read(b"}")],
        [[Read(), Send(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")]],
        then=LEFT,
        refused=502,
        seen=GET,
    ),
    Case(
        "the upstream switches protocols unasked",
        [Send(GET), Read(b"}")],
        [[Read(), Send(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")]],
        then=LEFT,
        refused=502,
        seen=GET,
    ),
    Case(
        "the upstream's chunks are none",
        [Send(GET), Read(b"}")],
        [[Read(), Send(CHUNKED + b"xyz\r\n")]],
        then=LEFT,
        refused=502,
        seen=GET,
    ),
]

CASES = [*ENDINGS, *STREAMS, *LEAVING, *BROKEN]

"""Several requests on one connection."""

from tests.differential.cases.bodies import head, sized
from tests.differential.cases.requests import OK, OK_1_0
from tests.differential.play import CLOSES, LEFT, Case
from tests.differential.steps import Close, Finish, Hear, Pause, Read, ReadBytes, ReadToEnd, Send, SendSlowly, Tell

FIRST, SECOND, THIRD = (b"GET /%d HTTP/1.1\r\nHost: ray\r\n\r\n" % number for number in (1, 2, 3))
POST = sized(b"POST", b"hello")
CHUNKS = head(b"POST", b"Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n"


def answer(number):
    return b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok%d" % number


CASES = [
    Case(
        "requests one after the other",
        [Send(FIRST), Read(b"ok1"), Send(SECOND), Read(b"ok2"), Send(THIRD), Read(b"ok3")],
        [[Read(), Send(answer(1))], [Read(), Send(answer(2))], [Read(), Send(answer(3))]],
    ),
    Case(
        "requests in one packet",
        [Send(FIRST + SECOND + THIRD), Read(b"ok1"), Read(b"ok2"), Read(b"ok3")],
        [[Read(), Send(answer(1))], [Read(), Send(answer(2))], [Read(), Send(answer(3))]],
    ),
    Case(
        "requests with and without bodies in one packet",
        [Send(POST + FIRST + CHUNKS + SECOND), Read(b"ok1"), Read(b"ok2"), Read(b"ok3"), Read(b"ok4")],
        [
            [Read(b"hello"), Send(answer(1))],
            [Read(), Send(answer(2))],
            [Read(b"0\r\n\r\n"), Send(answer(3))],
            [Read(), Send(answer(4))],
        ],
    ),
    Case(
        "requests in one packet, of which one closes",
        [Send(FIRST.replace(b"Host", b"Connection: close\r\nHost") + SECOND), Read(b"ok")],
        [[Read(b"Host: ray\r\n\r\n"), Send(OK), Finish(), ReadToEnd()]],
        then=CLOSES,
        seen=FIRST.replace(b"Host", b"Connection: close\r\nHost"),
    ),
    Case(
        "requests byte by byte",
        [SendSlowly(FIRST + POST + SECOND), Read(b"ok1"), Read(b"ok2"), Read(b"ok3")],
        [[Read(), Send(answer(1))], [Read(b"hello"), Send(answer(2))], [Read(), Send(answer(3))]],
    ),
    Case(
        "a packet that ends inside the next request",
        [Send(POST + FIRST[:9]), Read(b"ok1"), Send(FIRST[9:]), Read(b"ok2")],
        [[Read(b"hello"), Send(answer(1))], [Read(), Send(answer(2))]],
    ),
    Case(
        "a packet that begins inside a body and ends inside the next",
        [Send(POST[:-3]), Hear("part"), Send(POST[-3:] + POST[:-3]), Read(b"ok1"), Send(POST[-3:]), Read(b"ok2")],
        [[Read(b"he"), Tell("part"), Read(b"llo"), Send(answer(1))], [Read(b"hello"), Send(answer(2))]],
    ),
    Case(
        "requests in one packet from a client that then finishes",
        [Send(FIRST + SECOND), Finish(), Read(b"ok1"), Read(b"ok2")],
        [[Read(), Send(answer(1))], [Read(), Send(answer(2)), Close()]],
        then=CLOSES,
    ),
    Case(
        "a slow answer holds back the next",
        [Send(FIRST + SECOND), Read(b"ok1"), Read(b"ok2")],
        [[Read(), Pause(0.2), Send(answer(1))], [Read(), Send(answer(2))]],
    ),
    Case(
        "answers of every framing one after the other",
        [Send(FIRST + SECOND + THIRD), Read(b"ok1"), Read(b"0\r\n\r\n"), Read(b"ok3")],
        [
            [Read(), Send(answer(1))],
            [Read(), Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")],
            [Read(), Send(answer(3))],
        ],
    ),
    Case(
        "HEAD and GET one after the other",
        [Send(FIRST.replace(b"GET", b"HEAD") + SECOND), Read(), Read(b"ok2")],
        [[Read(), Send(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")], [Read(), Send(answer(2))]],
    ),
    Case(
        "an HTTP/1.0 request after one of HTTP/1.1",
        [Send(FIRST), Read(b"ok1"), Send(SECOND.replace(b"/1.1", b"/1.0")), Read(b"ok")],
        [[Read(), Send(answer(1))], [Read(), Send(OK_1_0), Close()]],
        then=CLOSES,
    ),
    Case(
        "a client that leaves between requests",
        [Send(FIRST), Read(b"ok1"), Close()],
        [[Read(), Send(answer(1))]],
        then=LEFT,
    ),
    Case(
        "a client that leaves in the middle of a head",
        [Send(FIRST), Read(b"ok1"), Send(SECOND[:20]), Close()],
        [[Read(), Send(answer(1))]],
        then=LEFT,
    ),
    Case(
        "an empty line after a body",
        [Send(POST + b"\r\n" + FIRST), Read(b"ok1"), Read(b"ok2")],
        [[Read(b"hello"), Send(answer(1))], [Read(b"ray\r\n\r\n"), Send(answer(2))]],
        seen=POST + FIRST,
    ),
    Case(
        "an answer that came early, and the next request",
        [Send(head(b"POST", b"Content-Length: 5")), Read(b"ok1"), Send(b"hello" + FIRST), Read(b"ok2")],
        [[Read(), Send(answer(1)), ReadBytes(5)], [Read(), Send(answer(2))]],
    ),
]

"""What a connection's own fields become on the next connection."""

import pytest

from proxy.http.head import parse_request, parse_response
from proxy.http.hop import asks_upgrade, forwarded_request, forwarded_response, stays_open

REQUESTS = {
    "fields that are for the end": ([b"a: 1", b"A:2 ", b"Cookie: x"], [b"a: 1", b"A:2 ", b"Cookie: x"]),
    "keep-alive": ([b"Connection: Keep-Alive"], [b"Connection: Keep-Alive"]),
    "close": ([b"CONNECTION:close"], [b"CONNECTION:close"]),
    "a Connection that names nothing": ([b"Connection: ,", b"A: b"], [b"Connection: ,", b"A: b"]),
    "what Connection names": ([b"A: 1", b"Connection: a , B", b"b: 2", b"C: 3"], [b"C: 3"]),
    "what Connection names beside its own": ([b"Connection: close, a", b"A: 1"], [b"Connection: close"]),
    "Connection itself": ([b"Connection: connection", b"A: 1"], [b"A: 1"]),
    "what makes the message": (
        [b"Connection: host, content-length, transfer-encoding", b"Host: ray", b"Content-Length: 0"],
        [b"Host: ray", b"Content-Length: 0"],
    ),
    "Keep-Alive": ([b"Keep-Alive: 5", b"A: 1"], [b"A: 1"]),
    "Proxy-Connection": ([b"proxy-connection: close", b"A: 1"], [b"A: 1"]),
    "TE": ([b"TE: trailers, gzip"], [b"TE: trailers"]),
    "TE as it is": ([b"te:  trailers"], [b"te:  trailers"]),
    "TE without trailers": ([b"TE: gzip", b"A: 1"], [b"A: 1"]),
    "an upgrade": ([b"Connection: Upgrade", b"Upgrade: websocket"], [b"Connection: Upgrade", b"Upgrade: websocket"]),
    "an upgrade beside others": (
        [b"Connection: x, Upgrade", b"Upgrade: websocket", b"X: 1"],
        [b"Connection: Upgrade", b"Upgrade: websocket"],
    ),
    "an Upgrade that is not named": ([b"Upgrade: websocket", b"A: 1"], [b"A: 1"]),
    "an offer of HTTP/2": (
        [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: x"],
        [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: x"],
    ),
    "settings without an upgrade": (
        [b"Connection: http2-settings", b"HTTP2-Settings: x"],
        [b"Connection: http2-settings"],
    ),
}
ANSWERS = {
    "nothing of the connection's": ([b"A: 1"], [b"A: 1"]),
    "Keep-Alive": ([b"Keep-Alive: timeout=5", b"A: 1"], [b"A: 1"]),
    "an upgrade that is offered": ([b"Connection: upgrade", b"Upgrade: ws"], [b"Connection: upgrade", b"Upgrade: ws"]),
    "a coding": ([b"Transfer-Encoding: chunked"], [b"Transfer-Encoding: chunked"]),
    "a length and a coding": (
        [b"content-length: 5", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: chunked"],
    ),
}
PERSISTENCE = {
    "HTTP/1.1": (b"GET / HTTP/1.1\r\n\r\n", True),
    "HTTP/1.1 with close": (b"GET / HTTP/1.1\r\nConnection: a, Close\r\n\r\n", False),
    "HTTP/1.1 with both": (b"GET / HTTP/1.1\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n", False),
    "HTTP/1.1 with anything else": (b"GET / HTTP/1.1\r\nConnection: x\r\n\r\n", True),
    "HTTP/1.0": (b"GET / HTTP/1.0\r\n\r\n", False),
    "HTTP/1.0 with keep-alive": (b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", True),
    "HTTP/1.0 with anything else": (b"GET / HTTP/1.0\r\nConnection: x\r\n\r\n", False),
}
UPGRADES = {
    "named and given": (b"GET / HTTP/1.1\r\nConnection: keep-alive, Upgrade\r\nUpgrade: a\r\n\r\n", True),
    "given only": (b"GET / HTTP/1.1\r\nUpgrade: a\r\n\r\n", False),
    "named only": (b"GET / HTTP/1.1\r\nConnection: upgrade\r\n\r\n", False),
    "CONNECT": (b"CONNECT a:1 HTTP/1.1\r\n\r\n", True),
}


def block(line, fields):
    return b"\r\n".join((line, *fields, b"", b""))


@pytest.mark.parametrize(("came", "goes"), REQUESTS.values(), ids=REQUESTS.keys())
def test_a_request_goes_on_without_what_was_for_its_connection(came, goes):
    line = b"GET /a?b HTTP/1.1"

    assert block(line, goes) == forwarded_request(parse_request(block(line, came)))


@pytest.mark.parametrize(("came", "goes"), ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_goes_on_without_what_was_for_its_connection(came, goes):
    line = b"HTTP/1.1 200 Fine"

    assert block(line, goes) == forwarded_response(parse_response(block(line, came)))


@pytest.mark.parametrize(("raw", "expected"), PERSISTENCE.values(), ids=PERSISTENCE.keys())
def test_a_connection_stays_open_as_its_messages_say(raw, expected):
    assert expected is stays_open(parse_request(raw))


@pytest.mark.parametrize(("raw", "expected"), UPGRADES.values(), ids=UPGRADES.keys())
def test_an_upgrade_is_asked_for_by_both_fields(raw, expected):
    assert expected is asks_upgrade(parse_request(raw))

"""Request lines and fields."""

from tests.differential.play import CLOSES, Case
from tests.differential.steps import Close, Read, ReadBytes, Send, SendSlowly

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
OK_1_0 = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"


def get(name, request_line, *fields, then=None, answer=OK, **expected):
    """A request without a body, and the answer to it."""
    request = b"\r\n".join((request_line, *fields, b"", b""))
    upstream = [ReadBytes(len(expected.get("seen", request))), Send(answer)]
    if then is CLOSES:
        return Case(name, [Send(request)], [[*upstream, Close()]], then=CLOSES, **expected)
    return Case(name, [Send(request), Read(b"ok")], [upstream], **expected)


def stripped(name, fields, kept):
    """Fields of which only ``kept`` may reach the upstream."""
    seen = b"\r\n".join((b"GET / HTTP/1.1", b"Host: ray", *kept, b"X-Last: 1", b"", b""))
    return get(name, b"GET / HTTP/1.1", b"Host: ray", *fields, b"X-Last: 1", seen=seen)


LINES = [
    get("a small GET", b"GET /api/version HTTP/1.1", b"Host: ray"),
    get("a query with unusual characters", b'GET /a?x={"y":[1|2]}&z=%7e\\^` HTTP/1.1', b"Host: ray"),
    get("a lone question mark", b"GET /a? HTTP/1.1", b"Host: ray"),
    get("two question marks", b"GET /a??b? HTTP/1.1", b"Host: ray"),
    get("an encoded slash", b"GET /a%2Fb HTTP/1.1", b"Host: ray"),
    get("an encoded slash in lower case", b"GET /a%2fb HTTP/1.1", b"Host: ray"),
    get("an encoded percent sign, and an encoded NUL", b"GET /a%25%00 HTTP/1.1", b"Host: ray"),
    get("percent signs that encode nothing", b"GET /100%/%zz HTTP/1.1", b"Host: ray"),
    get("double slashes", b"GET //a//b// HTTP/1.1", b"Host: ray"),
    get("dot segments", b"GET /a/../b/./c HTTP/1.1", b"Host: ray"),
    get("a fragment", b"GET /a#b?c HTTP/1.1", b"Host: ray"),
    get("a semicolon and a plus", b"GET /a;p=1+2?q=1+2 HTTP/1.1", b"Host: ray"),
    get("a target with bytes above 127", b"GET /caf\xc3\xa9?\xff HTTP/1.1", b"Host: ray"),
    get("a target in absolute form", b"GET http://other/a?b HTTP/1.1", b"Host: ray"),
    get("a target in absolute form without a path", b"GET http://other HTTP/1.1", b"Host: ray"),
    get("the asterisk form", b"OPTIONS * HTTP/1.1", b"Host: ray"),
    get("a target of 8,000 bytes", b"GET /%s HTTP/1.1" % (b"a" * 8000), b"Host: ray"),
    get("a target of 60,000 bytes", b"GET /%s HTTP/1.1" % (b"a" * 60000), b"Host: ray"),
    get("a method nobody knows", b"BREW /pot HTTP/1.1", b"Host: ray"),
    get("a method in lower case", b"get / HTTP/1.1", b"Host: ray"),
    get("a method of WebDAV", b"PROPFIND / HTTP/1.1", b"Host: ray"),
    get("a method of odd characters", b"M-SEARCH!#$%&'*+.^_`|~ / HTTP/1.1", b"Host: ray"),
    get("HTTP/1.0 stays HTTP/1.0", b"GET / HTTP/1.0", b"Host: ray", then=CLOSES, answer=OK_1_0),
    get("HTTP/1.0 without a Host", b"GET / HTTP/1.0", then=CLOSES, answer=OK_1_0),
    get(
        "HTTP/1.0 with keep-alive",
        b"GET / HTTP/1.0",
        b"Connection: keep-alive",
        answer=b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    ),
    get("HTTP/1.1 without a Host", b"GET / HTTP/1.1", b"User-Agent: x"),
    get("HTTP/1.1 without any field", b"GET / HTTP/1.1"),
    Case(
        "an empty line before the request",
        [Send(b"\r\nGET / HTTP/1.1\r\nHost: ray\r\n\r\n"), Read(b"ok")],
        [[Read(b"Host: ray\r\n\r\n"), Send(OK)]],
        seen=b"GET / HTTP/1.1\r\nHost: ray\r\n\r\n",
    ),
    Case(
        "a head that comes byte by byte",
        [SendSlowly(b"GET /slow HTTP/1.1\r\nHost: ray\r\nX-A: b\r\n\r\n"), Read(b"ok")],
        [[Read(), Send(OK)]],
    ),
]

FIELDS = [
    get("the order and the case of fields", b"GET / HTTP/1.1", b"zeta: 1", b"HOST: ray", b"aLpHa: 2", b"accept: */*"),
    get("repeated fields", b"GET / HTTP/1.1", b"Host: ray", b"X-R: 1", b"X-R: 2", b"X-R: 1"),
    get("repeated fields that differ in case", b"GET / HTTP/1.1", b"Host: ray", b"X-R: 1", b"X-r: 2", b"x-r: 3"),
    get("an empty value", b"GET / HTTP/1.1", b"Host: ray", b"X-Empty:", b"X-Space: "),
    get("white space around values", b"GET / HTTP/1.1", b"Host:ray", b"X-A:   a b  ", b"X-T:\ta\tb\t"),
    get("a value in latin-1", b"GET / HTTP/1.1", b"Host: ray", b"X-Name: caf\xe9"),
    get("a value in UTF-8", b"GET / HTTP/1.1", b"Host: ray", b"X-Name: caf\xc3\xa9 \xf0\x9f\x90\xa0"),
    get("200 fields", b"GET / HTTP/1.1", b"Host: ray", *(b"X-%d: %d" % (n, n) for n in range(200))),
    get("a value of 30,000 bytes", b"GET / HTTP/1.1", b"Host: ray", b"Cookie: " + b"c" * 30000),
    get("repeated cookies", b"GET / HTTP/1.1", b"Host: ray", b"Cookie: a=1", b"Cookie: b=2"),
    get("two hosts", b"GET / HTTP/1.1", b"Host: ray", b"Host: other"),
    get(
        "two content types and two user agents",
        b"GET / HTTP/1.1",
        b"Content-Type: a/b",
        b"Content-Type: c/d",
        b"User-Agent: x",
        b"User-Agent: y",
    ),
    get("no User-Agent, no Accept", b"GET / HTTP/1.1", b"Host: ray"),
    get(
        "a User-Agent of KubeRay",
        b"GET / HTTP/1.1",
        b"Host: ray",
        b"User-Agent: Go-http-client/1.1",
        b"Accept-Encoding: gzip",
    ),
    get(
        "the marks of a browser",
        b"GET / HTTP/1.1",
        b"Host: ray",
        b"User-Agent: Mozilla/5.0",
        b"Origin: http://evil",
        b"Referer: http://evil/x",
        b"Sec-Fetch-Mode: cors",
        b"Sec-Fetch-Site: cross-site",
    ),
    get(
        "tokens and cookies",
        b"GET / HTTP/1.1",
        b"Host: ray",
        b"Authorization: Bearer t0ken",
        b"x-ray-authorization: Bearer other",
        b"Cookie: ray-authentication-token=t",
    ),
    get(
        "what other proxies have added",
        b"GET / HTTP/1.1",
        b"Host: ray",
        b"Via: 1.1 a",
        b"X-Forwarded-For: 10.0.0.1",
        b"Forwarded: for=10.0.0.1",
    ),
    get("conditions and ranges", b"GET / HTTP/1.1", b"Host: ray", b'If-None-Match: "a", W/"b"', b"Range: bytes=0-1"),
    get(
        "names that look like framing",
        b"GET / HTTP/1.1",
        b"Host: ray",
        b"Content_Length: 5",
        b"Content-Length2: 5",
        b"X-Transfer-Encoding: chunked",
    ),
    get("a Connection field that keeps alive", b"GET / HTTP/1.1", b"Host: ray", b"Connection: keep-alive"),
    get(
        "a Connection field that closes",
        b"GET / HTTP/1.1",
        b"Host: ray",
        b"Connection: close",
        then=CLOSES,
        answer=b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
    ),
    get("a Connection field that closes, in another case", b"GET / HTTP/1.1", b"connection: Close", then=CLOSES),
    get("a TE field that accepts trailers", b"GET / HTTP/1.1", b"Host: ray", b"TE: trailers", b"Connection: TE"),
]

HOP_BY_HOP = [
    stripped("a field that Connection names is removed", [b"Connection: X-Hop", b"X-Hop: 1"], []),
    stripped(
        "it is removed in any case", [b"connection: x-hop , X-OTHER", b"X-Hop: 1", b"x-other: 2", b"X-hop: 3"], []
    ),
    stripped(
        "keep-alive is kept beside what is removed",
        [b"Connection: keep-alive, X-Hop", b"X-Hop: 1"],
        [b"Connection: keep-alive"],
    ),
    stripped(
        "Keep-Alive is removed", [b"Keep-Alive: timeout=5", b"Connection: keep-alive"], [b"Connection: keep-alive"]
    ),
    stripped("Proxy-Connection is removed", [b"Proxy-Connection: keep-alive"], []),
    stripped("a TE field keeps only trailers", [b"TE: gzip;q=0.5, trailers"], [b"TE: trailers"]),
    stripped("a TE field without trailers is removed", [b"TE: deflate"], []),
    stripped("an Upgrade that Connection does not name is removed", [b"Upgrade: websocket"], []),
    stripped("HTTP2-Settings are removed without an upgrade", [b"HTTP2-Settings: AAMAAABkAAQ"], []),
    stripped("Connection cannot name the Host away", [b"Connection: Host"], []),
    stripped(
        "what Connection names is removed from two such fields",
        [b"Connection: a", b"A: 1", b"Connection: b", b"B: 2"],
        [],
    ),
]

CASES = [*LINES, *FIELDS, *HOP_BY_HOP]

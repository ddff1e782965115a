"""What must never reach the upstream: bytes that two parsers might read differently."""

from tests.differential.play import CLOSES, Case
from tests.differential.steps import Finish, Hear, Read, ReadToEnd, Send, Tell

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: ray\r\n\r\n"


def refused(name, request, status=400):
    """Bytes that are refused, with a request behind them that would be glad to slip through."""
    return Case(name, [Send(request + SMUGGLED)], [], then=CLOSES, refused=status)


def line(name, request_line, status=400):
    return refused(name, request_line + b"\r\nHost: ray\r\n\r\n", status)


def field(name, *fields, body=b""):
    return refused(name, b"\r\n".join((b"POST / HTTP/1.1", b"Host: ray", *fields, b"", b"")) + body)


def chunks(name, body, *, status=400):
    return refused(name, b"POST / HTTP/1.1\r\nHost: ray\r\nTransfer-Encoding: chunked\r\n\r\n" + body, status)


LENGTH, CODING = b"Content-Length: 5", b"Transfer-Encoding: chunked"

CASES = [
    field("a length and a coding", LENGTH, CODING, body=b"0\r\n\r\n"),
    field("a coding and a length", CODING, LENGTH, body=b"0\r\n\r\n"),
    field("a coding and a length of nothing", CODING, b"Content-Length: 0", body=b"0\r\n\r\n"),
    field("two equal lengths", LENGTH, LENGTH, body=b"hello"),
    field("two lengths", LENGTH, b"Content-Length: 6", body=b"hello"),
    field("two lengths whose names differ in case", LENGTH, b"content-length: 5", body=b"hello"),
    field("a list of lengths", b"Content-Length: 5, 5", body=b"hello"),
    field("a length with a plus", b"Content-Length: +5", body=b"hello"),
    field("a negative length", b"Content-Length: -5", body=b"hello"),
    field("a length in hexadecimal", b"Content-Length: 0x5", body=b"hello"),
    field("a length with an underscore", b"Content-Length: 1_0", body=b"hello"),
    field("a length of two numbers", b"Content-Length: 5 0", body=b"hello"),
    field("an empty length", b"Content-Length:", body=b"hello"),
    field("a length in other digits", "Content-Length: \u0665".encode(), body=b"hello"),
    field("a length beyond all bounds", b"Content-Length: 99999999999999999999", body=b"hello"),
    field("a coding nobody knows", b"Transfer-Encoding: zip", body=b"0\r\n\r\n"),
    field("a coding before the chunks", b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n"),
    field("a coding after the chunks", b"Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n"),
    field("chunks twice", b"Transfer-Encoding: chunked, chunked", body=b"0\r\n\r\n"),
    field("two codings", CODING, CODING, body=b"0\r\n\r\n"),
    field("a coding in quotes", b'Transfer-Encoding: "chunked"', body=b"0\r\n\r\n"),
    field("a coding that only ends like chunks", b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n"),
    field("an empty coding", b"Transfer-Encoding:", body=b"0\r\n\r\n"),
    field("identity", b"Transfer-Encoding: identity", body=b""),
    field("a coding with a vertical tab", b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n"),
    refused("a coding in HTTP/1.0", b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    refused("a tunnel with a length", b"CONNECT a:1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"),
    field("a space before the colon", b"Transfer-Encoding : chunked", body=b"0\r\n\r\n"),
    field("a tab before the colon", b"Content-Length\t: 5", body=b"hello"),
    field("a space in a name", b"Content Length: 5"),
    field("a name that is empty", b": 5"),
    field("a name with a byte above 127", b"Content-L\xe9ngth: 5"),
    field("a line without a colon", b"Content-Length"),
    field("a folded field", b"X-A: b\r\n Content-Length: 5"),
    field("a field folded with a tab", b"X-A: b\r\n\tContent-Length: 5"),
    field("a first field that is folded", b" X-A: b"),
    field("a bare LF between fields", b"X-A: b\nContent-Length: 5", body=b"hello"),
    field("a bare CR in a value", b"X-A: b\rContent-Length: 5", body=b"hello"),
    field("a NUL in a value", b"X-A: b\0c"),
    field("a NUL in a name", b"X-\0A: b"),
    field("a control byte in a value", b"X-A: b\x08c"),
    field("a DEL in a value", b"X-A: b\x7fc"),
    refused("lines that end in LF", b"GET / HTTP/1.1\nHost: ray\n\n"),
    refused("a request line that ends in LF", b"GET / HTTP/1.1\nHost: ray\r\n\r\n"),
    refused("an empty line that ends in LF", b"GET / HTTP/1.1\r\nHost: ray\r\n\nX: y\r\n\r\n"),
    line("two spaces before the target", b"GET  / HTTP/1.1"),
    line("a tab before the target", b"GET\t/ HTTP/1.1"),
    line("a space in the target", b"GET /a b HTTP/1.1"),
    line("a NUL in the target", b"GET /\0 HTTP/1.1"),
    line("a space at the end of the line", b"GET / HTTP/1.1 "),
    line("a space at its beginning", b" GET / HTTP/1.1"),
    line("no version", b"GET /"),
    line("no target", b"GET HTTP/1.1"),
    line("a method that is no token", b"GE(T / HTTP/1.1"),
    line("a version in lower case", b"GET / http/1.1"),
    line("a version of two digits", b"GET / HTTP/1.10"),
    line("HTTP/1.2", b"GET / HTTP/1.2", 505),
    line("HTTP/0.9", b"GET / HTTP/0.9", 505),
    refused("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    refused("a TLS handshake", b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03"),
    refused("a head of 70,000 bytes", b"GET / HTTP/1.1\r\nX-A: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    refused("20,000 fields", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n", 431),
    chunks("a chunk size with 0x", b"0x5\r\nhello\r\n0\r\n\r\n"),
    chunks("a negative chunk size", b"-5\r\nhello\r\n0\r\n\r\n"),
    chunks("a chunk size with a plus", b"+5\r\nhello\r\n0\r\n\r\n"),
    chunks("a chunk size beyond all bounds", b"fffffffffffffffff\r\nhello\r\n0\r\n\r\n"),
    chunks("a chunk size of 64 bits", b"10000000000000005\r\nhello\r\n0\r\n\r\n"),
    chunks("a chunk size with a space before it", b" 5\r\nhello\r\n0\r\n\r\n"),
    chunks("a chunk size with a space after it", b"5 \r\nhello\r\n0\r\n\r\n"),
    chunks("no chunk size", b"\r\nhello\r\n0\r\n\r\n"),
    chunks("a chunk size that is none", b"hello\r\n0\r\n\r\n"),
    chunks("a chunk line that ends in LF", b"5\nhello\r\n0\r\n\r\n"),
    chunks("a chunk that ends in LF", b"5\r\nhello\n0\r\n\r\n"),
    chunks("a chunk longer than its size", b"5\r\nhello!\r\n0\r\n\r\n"),
    chunks("a chunk shorter than its size", b"5\r\nhell\r\n0\r\n\r\n"),
    chunks("a CR in a chunk extension", b"5;a\rb\r\nhello\r\n0\r\n\r\n"),
    chunks("an LF in a chunk extension", b"5;a\nb\r\nhello\r\n0\r\n\r\n"),
    chunks("a chunk extension of 5,000 bytes", b"5;" + b"a" * 5000 + b"\r\nhello\r\n0\r\n\r\n", status=431),
    chunks("a trailer that gives a length", b"0\r\nContent-Length: 5\r\n\r\n"),
    chunks("a trailer that gives a coding", b"0\r\ntransfer-encoding: chunked\r\n\r\n"),
    chunks("a folded trailer", b"0\r\nX: y\r\n z\r\n\r\n"),
    chunks("a trailer that ends in LF", b"0\r\nX: y\n\r\n"),
    Case(
        "a bad chunk that comes after its request was sent on",
        [
            Send(b"POST / HTTP/1.1\r\n" + CODING + b"\r\n\r\n5\r\nhello\r\n"),
            Hear("half"),
            Send(b"0x0\r\n\r\n" + SMUGGLED),
        ],
        [[Read(b"hello\r\n"), Tell("half"), ReadToEnd()]],
        then=CLOSES,
        refused=400,
        seen=b"POST / HTTP/1.1\r\n" + CODING + b"\r\n\r\n5\r\nhello\r\n",
    ),
    Case(
        "a bad request behind a good one",
        [
            Send(b"GET / HTTP/1.1\r\n\r\n"),
            Read(b"ok"),
            Send(b"GET / HTTP/1.1\r\nA : b\r\n\r\n"),
            Finish(),
            Read(b"400 Bad"),
        ],
        [[Read(), Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]],
        then=CLOSES,
        refused=200,
        seen=b"GET / HTTP/1.1\r\n\r\n",
    ),
]

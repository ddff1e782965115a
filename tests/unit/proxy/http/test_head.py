"""Heads: kept as they came, or refused for a reason that can be told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.http.head import (
    BadAnswerError,
    BadRequestError,
    find_end,
    parse_field,
    parse_request,
    parse_response,
)

LIMIT = 64 * 1024
REQUEST = b"GET /a%20b?c HTTP/1.1\r\nHost: ray\r\nX-R: 1\r\nx-r:\t 2 \r\n\r\n"

REFUSED = {
    "no request": (b"hello\r\n\r\n", "request line"),
    "nothing": (b"\r\n", "request line"),
    "a space in the target": (b"GET /a b HTTP/1.1\r\n\r\n", "request line"),
    "a folded field": (b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "folded"),
    "a first field that is folded": (b"GET / HTTP/1.1\r\n\tc: d\r\n\r\n", "folded"),
    "a line without a colon": (b"GET / HTTP/1.1\r\nA\r\n\r\n", "no colon"),
    "a field without a name": (b"GET / HTTP/1.1\r\n: b\r\n\r\n", "no name"),
    "a space before the colon": (b"GET / HTTP/1.1\r\nA : b\r\n\r\n", "name has a space"),
    "a name beyond ASCII": (b"GET / HTTP/1.1\r\nA\xe9: b\r\n\r\n", "name has a space or another byte"),
    "a control byte": (b"GET / HTTP/1.1\r\nOk: 1\r\nA: b\x01\r\n\r\n", "control byte"),
    "a bare CR": (b"GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n", "control byte"),
}
UNENDED = {
    "a line that ends in LF": b"GET / HTTP/1.1\n",
    "an LF after lines that end well": b"GET / HTTP/1.1\r\nA: b\n",
    "a CR in a line": b"GET / HTTP/1.1\rA",
    "a NUL": b"GET /\0",
}


def test_a_request_head_is_kept_as_it_came():
    head = parse_request(REQUEST)

    assert (
        head.method,
        head.target,
        head.version,
        head.path,
        head.query,
    ) == (b"GET", b"/a%20b?c", b"1.1", "/a b", b"c")
    assert head.headers == ((b"Host", b"ray"), (b"X-R", b"1"), (b"x-r", b"2"))
    assert head.raw == REQUEST


def test_fields_are_found_in_any_case():
    head = parse_request(REQUEST)

    assert head.first(b"X-r") == b"1"
    assert head.all(b"x-R") == [b"1", b"2"]
    assert None is head.first(b"absent")
    assert head.all(b"absent") == []


def test_g12_a_head_shows_no_value_when_it_is_printed():
    head = parse_request(b"GET /?token=s3cret HTTP/1.1\r\nAuthorization: s3cret\r\n\r\n")

    assert "s3cret" not in repr(head)


@pytest.mark.parametrize(("raw", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_could_be_read_in_two_ways_is_refused_with_a_reason(raw, why):
    with pytest.raises(BadRequestError, match=why) as error:
        parse_request(raw)

    assert error.value.status == 400


@pytest.mark.parametrize("version", [b"2.0", b"1.2", b"0.9"])
def test_other_versions_are_refused_as_such(version):
    with pytest.raises(BadRequestError) as error:
        parse_request(b"GET / HTTP/%s\r\n\r\n" % version)

    assert error.value.status == 505


@pytest.mark.parametrize(
    ("line", "status", "reason"),
    [
        (b"HTTP/1.1 200 OK", 200, b"OK"),
        (b"HTTP/1.0 404 Not  here", 404, b"Not  here"),
        (b"HTTP/1.1 200 ", 200, b""),
        (b"HTTP/1.1 200", 200, b""),
    ],
)
def test_an_answer_head_is_kept_as_it_came(line, status, reason):
    raw = line + b"\r\nA: b\r\n\r\n"

    head = parse_response(raw)

    assert (status, reason, ((b"A", b"b"),), raw) == (head.status, head.reason, head.headers, head.raw)


@pytest.mark.parametrize("raw", [b"220 mail\r\n\r\n", b"HTTP/2 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nA : b\r\n\r\n"])
def test_what_is_no_answer_is_called_one_of_ray_s(raw):
    with pytest.raises(BadAnswerError):
        parse_response(raw)


def test_the_end_of_a_head_is_found_where_it_is():
    assert len(REQUEST) == find_end(REQUEST + b"more\r\n\r\n", 0, LIMIT, BadRequestError)


@pytest.mark.parametrize("count", range(len(REQUEST)))
def test_a_part_of_a_head_has_no_end_yet(count):
    assert find_end(REQUEST[:count], 0, LIMIT, BadRequestError) == 0


@pytest.mark.parametrize("received", UNENDED.values(), ids=UNENDED.keys())
def test_a_head_that_will_never_end_well_is_refused_at_once(received):
    with pytest.raises(BadRequestError):
        find_end(received, 0, LIMIT, BadRequestError)


@pytest.mark.parametrize("received", [b"a" * 101, b"a" * 97 + b"\r\n\r\n"], ids=["without an end", "with one"])
def test_a_head_beyond_the_limit_is_too_large(received):
    with pytest.raises(BadRequestError) as error:
        find_end(received, 0, 100, BadRequestError)

    assert error.value.status == 431


def test_a_trailer_is_a_field():
    assert parse_field(b"A: b c \r\n", BadRequestError) == (b"A", b"b c")
    with pytest.raises(BadRequestError, match="no colon"):
        parse_field(b"A\r\n", BadRequestError)


@given(st.binary() | st.lists(st.sampled_from([b"GET / HTTP/1.1\r\n", b"A: b\r\n", b"\r\n", b":", b"\n", b"\r", b" "])))
def test_any_bytes_parse_or_are_refused_and_nothing_else(data):
    raw = (data if isinstance(data, bytes) else b"".join(data)) + b"\r\n\r\n"
    try:
        kept = parse_request(raw).raw
    except BadRequestError:
        kept = raw

    assert raw == kept


def test_a_head_of_a_great_many_fields_takes_no_great_time():
    """Thirteen thousand fields in 64 KiB: any step that is quadratic shows in the durations of the run."""
    head = parse_request(b"GET / HTTP/1.1\r\n" + b"A:b\r\n" * 13_000 + b"\r\n")

    assert len(head.headers) == 13_000

"""Where bodies end: the tables at the top of `proxy.http.framing`, row by row, and however the bytes are cut."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.http.framing import Body, Chunks, UntilClosed, request_body, response_body
from proxy.http.head import BadAnswerError, BadRequestError, parse_request, parse_response

LENGTH, CHUNKED = b"Content-Length: 5", b"Transfer-Encoding: chunked"
NEXT = b"GET /next HTTP/1.1\r\n"


def request(*fields, line=b"POST / HTTP/1.1"):
    return parse_request(b"\r\n".join((line, *fields, b"", b"")))


def answer(status, *fields):
    return parse_response(b"\r\n".join((b"HTTP/1.1 %d x" % status, *fields, b"", b"")))


REQUESTS = {
    "neither": ([], Body, True),
    "a length": ([LENGTH], Body, False),
    "a length of nothing": ([b"Content-Length: 0"], Body, True),
    "chunks": ([CHUNKED], Chunks, False),
    "chunks in capitals": ([b"TRANSFER-ENCODING:  CHUNKED "], Chunks, False),
}
REFUSED = {
    "both": [LENGTH, CHUNKED],
    "two lengths": [LENGTH, LENGTH],
    "a list of lengths": [b"Content-Length: 5, 5"],
    "a signed length": [b"Content-Length: +5"],
    "no digits": [b"Content-Length: five"],
    "an empty length": [b"Content-Length: "],
    "a superscript digit": ["Content-Length: ²".encode()],
    "nineteen digits": [b"Content-Length: " + b"1" * 19],
    "two codings": [CHUNKED, CHUNKED],
    "an unknown coding": [b"Transfer-Encoding: zip"],
    "a coding before chunks": [b"Transfer-Encoding: gzip, chunked"],
    "no coding": [b"Transfer-Encoding: "],
}
ANSWERS = {
    "to HEAD": (answer(200, LENGTH), b"HEAD", Body, True),
    "interim": (answer(103, LENGTH), b"GET", Body, True),
    "204": (answer(204, CHUNKED), b"GET", Body, True),
    "304": (answer(304, LENGTH), b"GET", Body, True),
    "chunks": (answer(200, CHUNKED), b"GET", Chunks, False),
    "chunks and a length": (answer(200, LENGTH, CHUNKED), b"GET", Chunks, False),
    "chunks last": (answer(200, b"Transfer-Encoding: gzip , Chunked"), b"GET", Chunks, False),
    "chunks last of two": (answer(200, b"Transfer-Encoding: gzip", CHUNKED), b"GET", Chunks, False),
    "another coding": (answer(200, b"Transfer-Encoding: gzip"), b"GET", UntilClosed, False),
    "a length": (answer(200, LENGTH), b"GET", Body, False),
    "the same length twice": (answer(200, LENGTH, LENGTH), b"GET", Body, False),
    "none": (answer(200), b"GET", UntilClosed, False),
}
CODED = {
    "nothing": (b"0\r\n\r\n", b""),
    "one chunk": (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
    "two chunks": (b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", b"hello!"),
    "either case and zeros": (b"0A\r\n0123456789\r\n00a\r\n0123456789\r\n000\r\n\r\n", b"0123456789" * 2),
    "extensions": (b'5;a="b c";d\r\nhello\r\n0;e\r\n\r\n', b"hello"),
    "trailers": (b"1\r\na\r\n0\r\nA: b\r\nc:d\r\n\r\n", b"a"),
    "content that looks like its end": (b"7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", b"\r\n0\r\n\r\n"),
}
MALFORMED = {
    "0x": b"0x5\r\nhello\r\n",
    "negative": b"-5\r\n",
    "sixteen digits": b"0000000000000005\r\nhello\r\n",
    "white space": b"5 \r\nhello\r\n",
    "no size": b"\r\n",
    "an LF after the size": b"5\nhello\r\n",
    "an LF after the content": b"5\r\nhello\n\n0\r\n\r\n",
    "more content than its size": b"5\r\nhello!\r\n",
    "a control byte in an extension": b"5;a\x01\r\nhello\r\n",
    "a trailer without a colon": b"0\r\nA\r\n\r\n",
    "a folded trailer": b"0\r\nA: b\r\n c\r\n\r\n",
    "a trailer that frames": b"0\r\nTransfer-Encoding: chunked\r\n\r\n",
    "a trailer that says the length": b"0\r\ncontent-length: 5\r\n\r\n",
    "an endless chunk line": b"5;" + b"a" * 5000,
    "endless trailers": b"0\r\n" + b"A: b\r\n" * 20_000,
}


@pytest.mark.parametrize(("fields", "kind", "done"), REQUESTS.values(), ids=REQUESTS.keys())
def test_what_follows_a_request(fields, kind, done):
    body = request_body(request(*fields))

    assert (kind, done) == (type(body), body.done)


@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED.keys())
def test_a_request_whose_end_could_be_disputed_is_refused(fields):
    with pytest.raises(BadRequestError) as error:
        request_body(request(*fields))

    assert error.value.status == 400


@pytest.mark.parametrize("line", [b"POST / HTTP/1.0", b"CONNECT a:1 HTTP/1.1"])
def test_chunks_are_refused_where_they_cannot_be(line):
    with pytest.raises(BadRequestError):
        request_body(request(CHUNKED, line=line))


@pytest.mark.parametrize(("head", "method", "kind", "done"), ANSWERS.values(), ids=ANSWERS.keys())
def test_what_follows_an_answer(head, method, kind, done):
    body = response_body(head, method)

    assert (kind, done) == (type(body), body.done)


@pytest.mark.parametrize("fields", [[b"Content-Length: 1", b"Content-Length: 2"], [b"Content-Length: x"]])
def test_an_answer_whose_end_could_be_disputed_is_refused(fields):
    with pytest.raises(BadAnswerError):
        response_body(answer(200, *fields), b"GET")


@pytest.mark.parametrize(("coded", "content"), CODED.values(), ids=CODED.keys())
@pytest.mark.parametrize("step", [1, 2, 3, 7, 1000])
def test_chunks_end_where_they_end_however_they_come(coded, content, step):
    assert (len(coded), content) == scanned(Chunks(BadRequestError), coded + NEXT, step)


@pytest.mark.parametrize("coded", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("step", [7, 1000])
def test_what_is_no_chunk_is_the_fault_of_its_sender(coded, step):
    with pytest.raises(BadAnswerError):
        scanned(Chunks(BadAnswerError), coded, step)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=8), st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_any_content_in_any_chunks_cut_anywhere_is_found_again(contents, cuts):
    coded = b"".join(b"%x\r\n%s\r\n" % (len(content), content) for content in contents) + b"0\r\nT: x\r\n\r\n"

    assert (len(coded), b"".join(contents)) == scanned(Chunks(BadRequestError), coded + NEXT, *cuts)


@given(st.binary(max_size=60), st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_any_bytes_are_chunks_or_are_refused_however_they_are_cut(data, cuts):
    assert verdict(data, len(data) or 1) == verdict(data, *cuts)


@settings(max_examples=50)
@given(st.integers(0, 50), st.lists(st.integers(1, 9), min_size=1, max_size=20))
def test_a_body_with_a_length_ends_there(length, cuts):
    data = bytes(range(100))

    assert (length, data[:length]) == scanned(Body(length), data, *cuts)


def test_a_body_can_be_measured_without_being_kept():
    body = Body(5)

    assert (body.scan(b"abc"), body.scan(b"defg"), body.done) == (3, 2, True)


def test_a_body_without_an_end_is_all_there_is():
    body, content = UntilClosed(), bytearray()

    assert (body.scan(b"abc", content), body.scan(b"de")) == (3, 2)
    assert (body.done, content) == (False, b"abc")


def test_bodies_say_what_is_known_of_their_end():
    kinds = (Body(5), Chunks(BadRequestError), UntilClosed())

    assert [body.announced_bytes for body in kinds] == [5, 0, 0]
    assert [body.ends_with_connection for body in kinds] == [False, False, True]


def scanned(body, data, *cuts):
    """How many bytes of ``data`` the body takes when they come in pieces of ``cuts`` bytes, over and over."""
    taken, at, turn, content = 0, 0, 0, bytearray()
    while not body.done and at < len(data):
        at += cuts[turn % len(cuts)]
        turn += 1
        taken += body.scan(data[taken:at], content)
    return taken, bytes(content)


def verdict(data, *cuts):
    try:
        return scanned(Chunks(BadRequestError), data, *cuts)
    except BadRequestError as error:
        return str(error)

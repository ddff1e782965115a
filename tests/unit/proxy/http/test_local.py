"""What is answered here: bodies read within bounds, answers written as HTTP wants them."""

import json

import pytest

from proxy.http.head import parse_request
from proxy.http.local import Answer, BodyTooLargeError, ClientGoneError, http_date, problem, rendered

GET, HEAD, OLD = (
    parse_request(b"%s / HTTP/%s\r\n\r\n" % pair) for pair in ((b"GET", b"1.1"), (b"HEAD", b"1.1"), (b"GET", b"1.0"))
)
BODY = [b"hel", memoryview(b"lo")]


def written(answer, head=GET, *, stays_open=True):
    return b"".join(rendered(answer, head, stays_open=stays_open))


def test_an_answer_is_written_with_its_length_and_a_date():
    first, date, *rest = written(Answer(200, ((b"A", b"b"),), BODY)).split(b"\r\nDate: ")

    assert (first, rest) == (b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 5", [])
    assert date.endswith(b" GMT\r\n\r\nhello")


def test_an_answer_of_ray_s_is_given_back_without_what_was_for_its_connection():
    headers = (
        (b"Transfer-Encoding", b"chunked"),
        (b"Keep-Alive", b"timeout=5"),
        (b"Connection", b"close"),
        (b"content-length", b"99"),
        (b"Date", b"then"),
        (b"Server", b"Ray"),
    )

    assert (
        written(Answer(200, headers, BODY, b"Fine"))
        == b"HTTP/1.1 200 Fine\r\nDate: then\r\nServer: Ray\r\nContent-Length: 5\r\n\r\nhello"
    )


@pytest.mark.parametrize(
    ("answer", "head", "stays_open", "expected"),
    [
        (Answer(200, (), BODY), HEAD, True, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nDate: x\r\n\r\n"),
        (
            Answer(200, ((b"Content-Length", b"99"),)),
            HEAD,
            True,
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nDate: x\r\n\r\n",
        ),
        (Answer(204), GET, True, b"HTTP/1.1 204 No Content\r\nDate: x\r\n\r\n"),
        (Answer(304, (), BODY), GET, True, b"HTTP/1.1 304 Not Modified\r\nDate: x\r\n\r\n"),
        (Answer(799), GET, True, b"HTTP/1.1 799 \r\nContent-Length: 0\r\nDate: x\r\n\r\n"),
        (
            Answer(200),
            OLD,
            True,
            b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: x\r\nConnection: keep-alive\r\n\r\n",
        ),
        (Answer(200), GET, False, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nDate: x\r\nConnection: close\r\n\r\n"),
        (
            Answer(400),
            None,
            False,
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nDate: x\r\nConnection: close\r\n\r\n",
        ),
    ],
    ids=["HEAD", "HEAD with a length", "204", "304", "a status nobody knows", "HTTP/1.0", "the last", "to no request"],
)
def test_an_answer_is_written_as_its_request_wants_it(answer, head, stays_open, expected):
    text = written(answer, head, stays_open=stays_open)
    date = text.split(b"Date: ")[1].split(b"\r\n")[0]

    assert expected == text.replace(date, b"x")


def test_a_problem_is_a_sentence():
    answer = problem(502, "Ray is away.", ((b"Retry-After", b"1"),))

    assert answer.headers == ((b"Content-Type", b"application/problem+json"), (b"Retry-After", b"1"))
    assert json.loads(answer.body[0]) == {
        "type": "about:blank",
        "title": "Bad Gateway",
        "status": 502,
        "detail": "Ray is away.",
    }


def test_a_date_is_written_as_http_wants_it():
    assert http_date(784111777) == b"Sun, 06 Nov 1994 08:49:37 GMT"


PUT = b"PUT /read HTTP/1.1\r\n%s\r\n\r\n"
BODIES = {
    "none": (b"PUT /read HTTP/1.1\r\n\r\n", b""),
    "with a length": (PUT % b"Content-Length: 5" + b"hello", b"hello"),
    "in chunks": (PUT % b"Transfer-Encoding: chunked" + b"2;x\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n", b"hello"),
    "gzipped, left as it is": (PUT % b"Content-Encoding: gzip\r\nContent-Length: 2" + b"\x1f\x8b", b"\x1f\x8b"),
}


async def read_and_tell(request):
    return Answer(200, (), [b"[" + await request.read(5) + b"]"])


@pytest.mark.parametrize(("sent", "expected"), BODIES.values(), ids=BODIES.keys())
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "byte by byte"])
async def test_a_handler_reads_the_body(house, sent, expected, at_once):
    house.handlers["/read"] = read_and_tell
    client = await house.client()

    for piece in [sent] if at_once else [sent[at : at + 1] for at in range(len(sent))]:
        await client.send(piece)

    assert (await client.read(b"]")).endswith(b"[" + expected + b"]")


async def test_a_body_can_be_read_twice(house):
    async def twice(request):
        return Answer(200, (), [await request.read(9), await request.read(9), b"]"])

    house.handlers["/read"] = twice
    client = await house.client()

    assert (await client.ask(BODIES["in chunks"][0], b"]")).endswith(b"hellohello]")


@pytest.mark.parametrize(
    "sent",
    [
        PUT % b"Content-Length: 6" + b"hello!",
        PUT % b"Transfer-Encoding: chunked" + b"3\r\nhel\r\n3\r\nlo!\r\n0\r\n\r\n",
    ],
    ids=["by its length", "by its count"],
)
async def test_a_body_over_the_limit_is_413_and_the_connection_stays(house, sent):
    house.handlers["/read"] = read_and_tell
    client = await house.client()

    assert b"HTTP/1.1 413 " in await client.ask(sent, b"}")
    assert b"[hello]" in await client.ask(BODIES["with a length"][0], b"]")


async def test_a_body_far_over_the_limit_is_413_before_it_is_sent(house):
    house.handlers["/read"] = read_and_tell
    client = await house.client()

    answer = await client.ask(PUT % b"Content-Length: 500000000", b"}")

    assert b"HTTP/1.1 413 " in answer
    assert b"Connection: close" in answer


async def test_a_handler_may_answer_a_body_over_the_limit_in_its_own_words(house):
    async def own_words(request):
        try:
            await request.read(5)
        except BodyTooLargeError as error:
            return Answer(error.status, (), [b"my words"])
        raise AssertionError

    house.handlers["/read"] = own_words
    client = await house.client()

    assert b"413" in await client.ask(PUT % b"Content-Length: 6" + b"hello!", b"my words")


async def test_a_connection_stays_after_a_body_of_any_size_was_read(house):
    async def count(request):
        return Answer(200, (), [b"[%d]" % len(await request.read(1 << 24))])

    house.handlers["/read"] = count
    client = await house.client()

    for _ in range(2):
        answer = await client.ask(PUT % b"Content-Length: 3000000" + b"a" * 3_000_000, b"]")
        assert answer.endswith(b"[3000000]")
        assert b"Connection: close" not in answer


async def test_a_body_that_no_handler_wanted_is_skipped(house):
    async def uninterested(_):
        return Answer(200, (), [b"no thanks"])

    house.handlers["/read"] = uninterested
    client = await house.client()

    await client.send(PUT % b"Content-Length: 10")
    await client.send(b"0123456789" + PUT % b"Content-Length: 0")

    for _ in range(2):
        assert b"Connection: close" not in await client.read(b"no thanks")


async def test_a_client_that_waits_for_100_is_asked_when_the_body_is_read(house):
    house.handlers["/read"] = read_and_tell
    client = await house.client()

    assert (
        await client.ask(PUT % b"Expect: 100-continue\r\nContent-Length: 5", b"\r\n\r\n")
        == b"HTTP/1.1 100 Continue\r\n\r\n"
    )
    assert (await client.ask(b"hello", b"]")).endswith(b"[hello]")


async def test_a_client_that_waits_for_100_is_not_asked_for_what_nobody_reads(house):
    async def refuse(_):
        return Answer(409)

    house.handlers["/read"] = refuse
    client = await house.client()

    answer = await client.ask(PUT % b"Expect: 100-continue\r\nContent-Length: 5", b"\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 409 ")
    assert b"Connection: close" in answer


async def test_an_http_1_0_client_is_never_sent_100(house):
    house.handlers["/read"] = read_and_tell
    client = await house.client()
    await client.send(b"PUT /read HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")

    assert (await client.ask(b"hello", b"]")).startswith(b"HTTP/1.1 200 ")


async def test_a_malformed_chunk_is_400_and_the_end_of_the_connection(house):
    house.handlers["/read"] = read_and_tell
    client = await house.client()
    await client.send(PUT % b"Transfer-Encoding: chunked" + b"2\r\nhe\r\n")
    await client.send(b"0x3\r\nllo\r\n")

    assert (await client.rest()).startswith(b"HTTP/1.1 400 ")


async def test_a_client_that_leaves_before_its_body_is_whole_is_gone_for_the_handler(house):
    seen = []

    async def note(request):
        try:
            await request.read(10)
        except ClientGoneError:
            seen.append("gone")
            raise

    house.handlers["/read"] = note
    client = await house.client()
    await client.send(PUT % b"Content-Length: 10" + b"hello")
    client.writer.write_eof()

    assert await client.rest() == b""
    assert seen == ["gone"]
    assert [exchange.status for exchange in house.exchanges] == [0]

"""Our own calls to Ray: whole answers or an error that says whether anything was sent."""

import asyncio
import socket

import pytest

from proxy.http.upstream import Upstream, UpstreamBrokenError, UpstreamUnreachableError
from proxy.http.wire import Wire
from tests.unit.proxy.http.conftest import OK, eventually

LIMIT = 1000
USER_AGENT = ((b"User-Agent", b"holdfast"),)
ANSWERS = {
    "a length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello", 1),
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n",
        b"hello",
        1,
    ),
    "interim answers before it": (b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!", b"!", 1),
    "nothing": (b"HTTP/1.1 204 No Content\r\n\r\n", b"", 1),
    "a Connection field that closes": (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n!", b"!", 2),
}
BROKEN = {
    "no HTTP": b"220 mail\r\n\r\n",
    "too long by its length": b"HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n" + b"a" * 1001,
    "too long in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + b"a" * 1001,
    "bad chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    "a head without an end": b"HTTP/1.1 200 OK\r\nA: " + b"a" * 300_000,
}


def cut(data):
    """A Ray that sends so much and closes."""

    async def answer(_, writer):
        writer.write(data)
        writer.close()

    return answer


def get(upstream, **options):
    return upstream.exchange(b"GET", b"/x?y", USER_AGENT, **({"max_answer_bytes": LIMIT} | options))


@pytest.mark.parametrize(("sent", "content", "connections"), ANSWERS.values(), ids=ANSWERS.keys())
async def test_an_answer_is_read_whole_and_its_connection_used_again(ray, house, sent, content, connections):
    ray.answer = sent

    for _ in range(2):
        answer = await get(house.upstream)

    assert content == b"".join(answer.body)
    assert connections == ray.connections


async def test_an_answer_has_its_fields_as_they_came(ray, house):
    ray.answer = b"HTTP/1.1 404 Not here\r\nx-A: b\r\nContent-Length: 0\r\n\r\n"

    answer = await get(house.upstream)

    assert (
        answer.status,
        answer.reason,
        answer.headers,
    ) == (404, b"Not here", ((b"x-A", b"b"), (b"Content-Length", b"0")))


async def test_an_answer_may_end_with_its_connection(ray, house):
    ray.answer = cut(b"HTTP/1.1 200 OK\r\n\r\nhello")

    assert b"".join((await get(house.upstream)).body) == b"hello"


async def test_a_request_says_its_host_and_its_length(ray, house):
    await get(house.upstream)
    await house.upstream.exchange(b"PUT", b"/x", (), max_answer_bytes=LIMIT)
    await house.upstream.exchange(
        b"DELETE", b"/x", ((b"host", b"h"),), [b"a", memoryview(b"bc")], max_answer_bytes=LIMIT
    )
    await eventually(lambda: len(ray.heads) == 3)

    host = b"Host: 127.0.0.1:%d" % ray.port
    assert [
        b"GET /x?y HTTP/1.1\r\n" + host + b"\r\nUser-Agent: holdfast\r\n\r\n",
        b"PUT /x HTTP/1.1\r\n" + host + b"\r\nContent-Length: 0\r\n\r\n",
        b"DELETE /x HTTP/1.1\r\nhost: h\r\nContent-Length: 3\r\n\r\n",
    ] == ray.heads


async def test_nobody_there_means_nothing_was_sent(ray, house):
    await ray.stop()

    with pytest.raises(UpstreamUnreachableError, match="cannot be reached"):
        await get(house.upstream)


async def test_a_connection_that_does_not_come_up_is_given_up_in_time():
    """A listener whose queue is full lets a client wait. KubeRay waits 2 s, so we wait less."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        upstream = Upstream("127.0.0.1", listener.getsockname()[1], connect_timeout_s=0.05)
        results = await asyncio.gather(*(upstream.connect() for _ in range(4)), return_exceptions=True)

        assert UpstreamUnreachableError in map(type, results)
        for wire in results:
            if isinstance(wire, Wire):
                wire.abort()
        await asyncio.sleep(0)


@pytest.mark.parametrize("sent", BROKEN.values(), ids=BROKEN.keys())
async def test_what_is_no_whole_answer_is_broken(ray, house, sent):
    ray.answer = sent

    with pytest.raises(UpstreamBrokenError, match="not known"):
        await get(house.upstream)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"])
async def test_an_answer_that_is_cut_is_broken(ray, house, sent):
    ray.answer = cut(sent)

    with pytest.raises(UpstreamBrokenError):
        await get(house.upstream)


async def test_g9_a_get_is_sent_again_when_a_connection_used_before_turns_out_to_be_closing(ray, house):
    await get(house.upstream)

    async def once_more(_, writer):
        ray.answer = OK
        writer.close()

    ray.answer = once_more
    answer = await get(house.upstream)

    assert (answer.status, len(ray.heads), ray.connections) == (200, 3, 2)


async def test_g9_a_get_is_not_sent_again_on_a_new_connection(ray, house):
    ray.answer = cut(b"")

    with pytest.raises(UpstreamBrokenError):
        await get(house.upstream)

    assert len(ray.heads) == 1


async def test_g9_a_put_never_goes_on_a_connection_used_before(ray, house):
    await get(house.upstream)
    await house.upstream.exchange(b"PUT", b"/x", (), max_answer_bytes=LIMIT)

    assert ray.connections == 2


async def test_a_connection_that_ray_closed_is_not_used(ray, house):
    await get(house.upstream)
    ray.hang_up()
    await eventually(lambda: ray.ended)

    assert (await get(house.upstream)).status == 200


async def test_a_connection_on_which_ray_spoke_unasked_is_not_used(ray, house):
    ray.answer = OK + b"HTTP/1.1 408 Request Timeout\r\n\r\n"

    for _ in range(2):
        await get(house.upstream)

    assert ray.connections == 2


async def test_idle_connections_are_few_and_for_a_short_time(ray):
    upstream = Upstream("127.0.0.1", ray.port, max_idle=2, idle_s=0.05)

    await asyncio.gather(*(get(upstream) for _ in range(4)))
    await eventually(lambda: ray.ended == 4)

    assert ray.connections == 4
    await upstream.close()


async def test_closing_closes_what_is_idle(ray):
    upstream = Upstream("127.0.0.1", ray.port)
    await get(upstream)

    await upstream.close()

    await eventually(lambda: ray.ended == 1)


async def test_cancelling_a_call_closes_its_connection(ray, house):
    async def never(reader, _):
        await reader.read()

    ray.answer = never
    call = asyncio.create_task(get(house.upstream))
    await eventually(lambda: ray.heads)

    call.cancel()

    await eventually(lambda: ray.ended == 1)


def test_an_address_of_ipv6_is_written_in_brackets():
    assert Upstream("::1", 8265).authority == "[::1]:8265"

"""Exchanges that pass: the orders in which their halves can come. What passes is proved in tests/differential."""

import asyncio

import pytest

from tests.unit.proxy.http.conftest import OK, eventually

GET = b"GET /pass HTTP/1.1\r\nHost: ray\r\n\r\n"
POST = b"POST /pass HTTP/1.1\r\nHost: ray\r\nContent-Length: 10\r\n\r\n"
UPGRADE = b"GET /ws HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
MUCH = 4_000_000


async def take_ten(reader, writer):
    await reader.readexactly(10)
    writer.write(OK)


async def answer_early(reader, writer):
    writer.write(OK)
    await reader.readexactly(10)


async def answer_and_close(_, writer):
    writer.write(OK)
    writer.close()


async def shout(reader, writer):
    writer.write(SWITCHED)
    while data := await reader.read(1 << 16):
        writer.write(data.upper())


async def test_a_body_goes_on_as_it_comes(house, ray):
    ray.answer = take_ten
    client = await house.client()
    await client.send(POST + b"hello")

    assert await client.ask(b"world", b"ok") == OK


async def test_an_early_answer_goes_back_and_the_upload_goes_on(house, ray):
    ray.answer = answer_early
    client = await house.client()

    assert await client.ask(POST + b"hello", b"ok") == OK
    ray.answer = OK
    assert await client.ask(b"world" + GET, b"ok") == OK
    assert len(ray.heads) == 2


async def test_an_early_answer_that_closes_ends_the_upload(house, ray):
    ray.answer = answer_and_close
    client = await house.client()

    assert await client.ask(POST + b"hello", b"ok") == OK
    assert await client.rest() == b""


async def test_an_upload_of_a_client_that_leaves_is_cut(house, ray):
    ray.answer = take_ten
    client = await house.client()
    await client.send(POST + b"hello")
    await eventually(lambda: ray.heads)

    client.reset()

    await eventually(lambda: ray.ended == 1)
    await eventually(lambda: [told.status for told in house.exchanges] == [0])


async def test_a_bad_chunk_after_good_ones_cuts_the_upload_and_is_400(house, ray):
    ray.answer = take_ten
    client = await house.client()
    await client.send(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    await eventually(lambda: ray.heads)

    assert b"HTTP/1.1 400 " in await client.ask(b"0x1\r\n", b"}")
    await eventually(lambda: ray.ended == 1)


async def test_interim_answers_go_back_at_once(house, ray):
    go_on = asyncio.Event()

    async def hint(_, writer):
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await go_on.wait()
        writer.write(OK)

    ray.answer = hint
    client = await house.client()

    assert await client.ask(GET, b"\r\n\r\n") == b"HTTP/1.1 103 Early Hints\r\n\r\n"
    go_on.set()
    assert await client.read(b"ok") == OK


async def test_an_answer_without_an_end_ends_with_its_connection(house, ray):
    async def pour(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + b"a" * MUCH)
        writer.close()

    ray.answer = pour
    client = await house.client()
    await client.send(GET)

    assert (await client.rest()).count(b"a") == MUCH


@pytest.mark.parametrize("framing", [b"Content-Length: 9", b"Transfer-Encoding: chunked"])
async def test_an_answer_that_breaks_off_ends_the_connection(house, ray, framing):
    async def cut(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n\r\n5\r\nhell")
        writer.close()

    ray.answer = cut
    client = await house.client()
    await client.send(GET)

    assert (await client.rest()).endswith(b"\r\n\r\n5\r\nhell")
    assert [told.status for told in house.exchanges] == [200]


async def test_a_reset_in_an_answer_without_an_end_is_a_reset_for_the_client(house, ray):
    """A clean end would say that the answer is whole."""

    async def reset(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhello")
        await reader.readexactly(1)

    ray.answer = reset
    client = await house.client()
    await client.ask(GET, b"hello")

    ray.reset()

    with pytest.raises(ConnectionResetError):
        await client.rest()


async def test_chunks_that_go_wrong_are_502_if_nothing_was_sent_yet_and_else_the_end(house, ray):
    async def good_then_bad(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await go_on.wait()
        writer.write(b"what\r\n")
        await reader.read()

    go_on = asyncio.Event()
    client = await house.client()
    ray.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nwhat\r\n"
    assert b"HTTP/1.1 502 " in await client.ask(GET, b"}")

    ray.answer = good_then_bad
    await client.ask(GET, b"a\r\n")
    go_on.set()
    assert await client.rest() == b""


async def test_an_upgrade_makes_a_tunnel_and_early_bytes_are_not_lost(house, ray):
    ray.answer = shout
    client = await house.client()

    assert await client.ask(UPGRADE + b"early", b"EARLY") == SWITCHED + b"EARLY"
    assert await client.ask(b"late", b"LATE") == b"LATE"
    client.writer.write_eof()
    assert await client.rest() == b""
    await eventually(lambda: [told.status for told in house.exchanges] == [101])


async def test_a_tunnel_ends_for_ray_when_its_client_is_gone(house, ray):
    ray.answer = shout
    client = await house.client()
    await client.ask(UPGRADE, b"\r\n\r\n")

    client.reset()

    await eventually(lambda: ray.ended == 1)


async def test_a_refused_upgrade_leaves_the_client_s_connection_and_gives_up_ray_s(house, ray):
    """aiohttp may be waiting for frames on it."""
    client = await house.client()

    assert await client.ask(UPGRADE, b"ok") == OK
    assert await client.ask(GET, b"ok") == OK
    assert ray.connections == 2


async def test_a_switch_that_nobody_asked_for_is_502(house, ray):
    ray.answer = SWITCHED
    client = await house.client()

    assert b"HTTP/1.1 502 " in await client.ask(GET, b"}")


async def test_a_client_that_has_finished_sending_gets_its_answer(house, ray):
    async def at_the_end(reader, writer):
        assert await reader.read() == b""
        writer.write(OK)

    ray.answer = at_the_end
    client = await house.client()
    await client.send(GET)
    client.writer.write_eof()

    assert await client.rest() == OK


async def test_a_slow_reader_holds_back_ray(house, ray):
    sent = []

    async def pour(_, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 64000000\r\n\r\n")
        for _ in range(64):
            writer.write(b"a" * 1_000_000)
            await writer.drain()
            sent.append(1)

    ray.answer = pour
    client = await house.client()
    await client.send(GET)
    await eventually(lambda: sent)
    await asyncio.sleep(0.1)

    assert len(sent) < 40

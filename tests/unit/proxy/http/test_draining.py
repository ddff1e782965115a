"""How the relay stops: what is in flight finishes, and nothing waits for ever."""

import asyncio

import pytest

from proxy.http.local import Answer
from tests.unit.proxy.http.conftest import OK, eventually

GET = b"GET /pass HTTP/1.1\r\nHost: ray\r\n\r\n"


async def test_a_drained_relay_accepts_nothing_more(house):
    client = await house.client()
    await client.ask(GET, b"ok")

    await house.relay.drain(5)

    assert await client.rest() == b""
    with pytest.raises(ConnectionRefusedError):
        await house.client()


async def test_draining_lets_an_upload_finish(house, ray):
    async def read_all(reader, writer):
        await reader.readexactly(10)
        writer.write(OK)

    ray.answer = read_all
    uploading = await house.client()
    await uploading.send(b"PUT /a HTTP/1.1\r\nContent-Length: 10\r\n\r\nhello")
    await eventually(lambda: ray.heads)

    draining = asyncio.create_task(house.relay.drain(5))
    await asyncio.sleep(0.01)
    await uploading.send(b"world")

    assert await uploading.rest() == OK
    await draining


async def test_draining_tells_the_last_answer_of_ours_as_the_last(house):
    go_on = asyncio.Event()

    async def slow(_):
        await go_on.wait()
        return Answer(200)

    house.handlers["/slow"] = slow
    client = await house.client()
    await client.send(b"GET /slow HTTP/1.1\r\n\r\n")
    await asyncio.sleep(0.01)
    draining = asyncio.create_task(house.relay.drain(5))
    await asyncio.sleep(0)
    go_on.set()

    assert b"Connection: close" in await client.rest()
    await draining


async def test_draining_ends_after_its_grace(house, ray):
    async def tunnel(reader, writer):
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        await reader.read()

    ray.answer = tunnel
    client = await house.client()
    await client.ask(b"GET /ws HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", b"\r\n\r\n")

    started = asyncio.get_running_loop().time()
    await house.relay.drain(0.05)

    assert asyncio.get_running_loop().time() - started < 2
    assert await client.rest() == b""

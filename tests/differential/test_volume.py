"""Much data and many connections: the relay holds none of it."""

import asyncio
import contextlib
import sys
import time
from pathlib import Path

import pytest

from tests.differential.proxies import running

MIB = 1 << 20
BLOCK = bytes(MIB)
MANY_BYTES = 500 * MIB
GET = b"GET /stream HTTP/1.1\r\nHost: ray\r\n\r\n"

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def fresh_relay():
    """Of its own: what earlier tests left in its memory would hide what these take."""
    with running("tests.differential.peers", "--kind", "relay") as proxy:
        yield proxy


@contextlib.asynccontextmanager
async def serving(port, converse):
    """An upstream that has ``converse``d to the end with each of its clients when the block is left."""
    conversations = []

    async def serve(reader, writer):
        conversations.append(asyncio.current_task())
        await converse(reader, writer)
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", port, limit=MIB, backlog=500)
    try:
        async with asyncio.timeout(60):
            yield
            await asyncio.gather(*conversations)
    finally:
        server.close()


def memory(pid, row):
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(row)]
    return int(line.split()[1]) * 1024


async def swallow(reader, writer):
    """An upstream that takes an upload and tells how much it was."""
    await reader.readuntil(b"\r\n\r\n")
    left = MANY_BYTES
    while left:
        left -= len(await reader.read(MIB))
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nall")
    await reader.read()


async def pour(reader, writer):
    """An upstream that gives a download."""
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % MANY_BYTES)
    for _ in range(MANY_BYTES // MIB):
        writer.write(BLOCK)
        await writer.drain()
    await reader.read()


async def upload(reader, writer):
    writer.write(b"PUT /package HTTP/1.1\r\nHost: ray\r\nContent-Length: %d\r\n\r\n" % MANY_BYTES)
    for _ in range(MANY_BYTES // MIB):
        writer.write(BLOCK)
        await writer.drain()
    assert (await reader.readuntil(b"all")).startswith(b"HTTP/1.1 200 ")


async def download(reader, writer):
    writer.write(GET)
    await reader.readuntil(b"\r\n\r\n")
    left = MANY_BYTES
    while left:
        left -= len(await reader.read(MIB))


@linux_only
@pytest.mark.parametrize(("upstream", "client"), [(swallow, upload), (pour, download)], ids=["upload", "download"])
async def test_g9_500_mb_pass_in_8_mb_of_memory(fresh_relay, upstream, client):
    async with serving(fresh_relay.upstream_port, upstream):
        reader, writer = await asyncio.open_connection("127.0.0.1", fresh_relay.port, limit=MIB)
        before = memory(fresh_relay.pid, "VmRSS")
        await client(reader, writer)
        grown = memory(fresh_relay.pid, "VmHWM") - before
        writer.close()
        await writer.wait_closed()

    print(f"{client.__name__} of 500 MB: {grown / MIB:.1f} MB more")
    assert grown <= 8 * MIB


async def test_g9_any_number_of_streams_are_open_at_once_and_each_comes_at_once(relay):
    """200 idle streams, each with its first line; and when the clients leave, the upstream knows."""
    ended = []

    async def stream(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        assert await reader.read() == b""
        ended.append(time.monotonic())

    async with serving(relay.upstream_port, stream):
        streams = [await asyncio.open_connection("127.0.0.1", relay.port) for _ in range(200)]
        for _, writer in streams:
            writer.write(GET)
        for reader, _ in streams:
            assert (await reader.readuntil(b"one")).startswith(b"HTTP/1.1 200 OK\r\n")
        left = time.monotonic()
        for _, writer in streams:
            writer.close()
            await writer.wait_closed()

    assert len(ended) == 200
    print(f"200 streams were left, and the upstream knew of the last after {1000 * (max(ended) - left):.0f} ms")

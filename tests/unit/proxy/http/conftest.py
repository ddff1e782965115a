"""A Ray to play with, a relay in front of it, and a client that says exactly what it is told to."""

import asyncio
import socket
import struct
from contextlib import suppress

import pytest

from proxy.http.upstream import Upstream
from proxy.relay import Relay, RelayLimits

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def linger_for_nothing(writer):
    """Closing will be a reset."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class PlayedRay:
    """Answers each head that it reads with ``answer``: bytes to send, or a coroutine that is given the connection."""

    def __init__(self):
        self.answer = OK
        self.heads = []
        self.connections = 0
        self.ended = 0
        self.port = 0
        self._writers = []

    async def start(self, port=0):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        self.connections += 1
        self._writers.append(writer)
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                if isinstance(self.answer, bytes):
                    writer.write(self.answer)
                else:
                    await self.answer(reader, writer)
        self.ended += 1
        writer.close()

    def hang_up(self):
        """Close every connection, and go on listening."""
        for writer in self._writers:
            writer.close()
        self._writers.clear()

    def reset(self):
        for writer in self._writers:
            linger_for_nothing(writer)
        self.hang_up()

    async def stop(self):
        self._server.close()
        self.hang_up()
        await asyncio.sleep(0)


class Client:
    """One connection."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def connected(cls, port):
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def read(self, until=b"\r\n\r\n"):
        return await asyncio.wait_for(self.reader.readuntil(until), 5)

    async def rest(self):
        """To the end of the connection."""
        return await asyncio.wait_for(self.reader.read(), 5)

    async def ask(self, data, until):
        await self.send(data)
        return await self.read(until)

    def close(self):
        self.writer.close()

    def reset(self):
        linger_for_nothing(self.writer)
        self.writer.close()


class House:
    """Relay, Ray and clients of one test."""

    def __init__(self, ray):
        self.ray = ray
        self.upstream = Upstream("127.0.0.1", ray.port)
        self.handlers = {}
        self.exchanges = []
        self.observe = self.exchanges.append
        self._clients = []
        self.relay = None
        self.port = 0

    async def listen(self, **limits):
        self.relay = Relay(
            self.upstream, lambda head: self.handlers.get(head.path), self.observe, RelayLimits(**limits)
        )
        self.port = await self.relay.listen("127.0.0.1", 0)

    async def client(self):
        if self.relay is None:
            await self.listen(linger_s=0.2)
        self._clients.append(client := await Client.connected(self.port))
        return client

    async def close(self):
        for client in self._clients:
            client.close()
        if self.relay is not None:
            await self.relay.drain(0)
        await self.upstream.close()


@pytest.fixture
async def ray():
    played = PlayedRay()
    await played.start()
    yield played
    await played.stop()


@pytest.fixture
async def house(ray):
    house = House(ray)
    yield house
    await house.close()


async def eventually(true):
    """Wait until it is so; as long as it takes, but not for ever."""
    async with asyncio.timeout(5):
        while not true():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.001)

"""Whatever is thrown at the relay: Ray never sees a request that the relay did not see, and the next one is fine.

The upstream is aiohttp, as Ray is. One path has a handler here, and is what the bytes try to get past it.
"""

import asyncio
import logging
from contextlib import suppress

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.http.local import Answer
from proxy.http.upstream import Upstream
from proxy.relay import Relay, RelayLimits

GUARDED = "/api/serve/applications/"
LAST = b"GET /last HTTP/1.1\r\nHost: ray\r\nConnection: close\r\n\r\n"
LINES = [
    b"GET /a HTTP/1.1\r\nHost: ray\r\n",
    b"POST /b HTTP/1.1\r\nHost: ray\r\n",
    b"PUT /api/serve/applications/ HTTP/1.1\r\nHost: ray\r\n",
    b"PUT /api/serve/%61pplications/?x HTTP/1.1\r\nHost: ray\r\n",
    b"PUT http://ray/api/serve/applications/ HTTP/1.1\r\nHost: ray\r\n",
    b"GET /c HTTP/1.0\r\n",
    b"HEAD /d HTTP/1.1\r\nHost: ray\r\n",
    b"BREW /e HTTP/1.1\r\nHost: ray\r\n",
    b"GET /no-host HTTP/1.1\r\n",
]
FIELDS = [
    b"Host: other\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Content-Length: 40\r\n",
    b"content-length : 5\r\n",
    b"Content-Length: +5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: Chunked\r\n",
    b"Transfer-Encoding:\tchunked\r\n",
    b"Transfer-Encoding: chunked, identity\r\n",
    b"Transfer-Encoding\r\n : chunked\r\n",
    b"Connection: keep-alive\r\n",
    b"Connection: close\r\n",
    b"Connection: Content-Length, Transfer-Encoding\r\n",
    b"Connection: upgrade\r\nUpgrade: websocket\r\n",
    b"Upgrade: h2c\r\n",
    b"Expect: 100-continue\r\n",
    b"X-A: b\n",
    b"X-A: b\r",
    b" folded\r\n",
]
CONTENT = [
    b"hello",
    b"5\r\nhello\r\n",
    b"5;a\r\nhello\r\n",
    b"0\r\n\r\n",
    b"0\r\nX: y\r\n\r\n",
    b"0x5\r\nhello\r\n",
    b"2\r\nhello\r\n",
    b"5\nhello\n",
    b"\r\n",
    b"\n",
    b"\0",
]
request = st.builds(
    lambda line, fields, content: line + b"".join(fields) + b"\r\n" + b"".join(content),
    st.sampled_from(LINES),
    st.lists(st.sampled_from(FIELDS), max_size=4),
    st.lists(st.sampled_from(CONTENT), max_size=4),
)
thrown = st.lists(request, min_size=1, max_size=4).map(b"".join) | st.binary(max_size=200)


class Arena:
    """Relay and aiohttp on one loop, and what each took for a request."""

    def __init__(self):
        self.passed = []
        self.seen = []

    async def start(self):
        async def tell(request):
            self.seen.append((request.method, request.rel_url.path_safe))
            with suppress(Exception):  # a body that breaks off is the client's doing, and no answer is wanted
                await request.read()
            return web.Response(text="ok")

        self._runner = web.ServerRunner(web.Server(tell, access_log=None), shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self._upstream = Upstream("127.0.0.1", site._server.sockets[0].getsockname()[1])
        limits = RelayLimits(linger_s=0.05)
        self._relay = Relay(self._upstream, self._route, lambda _: None, limits)
        self.port = await self._relay.listen("127.0.0.1", 0)

    def _route(self, head):
        if head.path == GUARDED:
            return self._guard
        self.passed.append((head.method.decode(), head.path))
        return None

    async def _guard(self, request):
        await request.read(1000)
        return Answer(200)

    async def throw(self, data):
        answer = b""
        self.passed.clear()
        self.seen.clear()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        with suppress(OSError):
            writer.write(data + LAST)
            answer = await self._answer(reader, writer)
        writer.close()
        return answer

    async def _answer(self, reader, writer):
        """To the end of the connection: it comes by itself, unless ``LAST`` was taken for a part of a body."""
        answer = b""
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                while part := await reader.read(1 << 16):
                    answer += part
                return answer
        writer.write_eof()
        async with asyncio.timeout(5):
            return answer + await reader.read()

    async def still_works(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(LAST)
        async with asyncio.timeout(5):
            answer = await reader.read()
        writer.close()
        return answer.startswith(b"HTTP/1.1 200 OK\r\n")

    async def stop(self):
        await self._relay.drain(0)
        await self._upstream.close()
        await self._runner.cleanup()


@pytest.fixture(scope="module")
def arena():
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # ten lines for each request that it refuses
    with asyncio.Runner() as runner:
        arena = Arena()
        arena.run = runner.run
        runner.run(arena.start())
        yield arena
        runner.run(arena.stop())


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=thrown)
def test_g9_ray_sees_no_request_that_the_relay_has_not_seen(arena, data):
    answer = arena.run(arena.throw(data))

    assert answer == b"" or answer.startswith(b"HTTP/1.")
    passed = iter(arena.passed)
    assert all(request in passed for request in arena.seen)  # in this order
    assert GUARDED not in [path for _, path in arena.seen]
    assert arena.run(arena.still_works())

"""What a Kubernetes Service does for the API server: a new connection goes to one of the endpoints that are ready."""

import asyncio
import contextlib
import itertools


class Balancer:
    """Carries bytes. ``endpoints`` are ports of loopback; a connection stays where it is when they change."""

    def __init__(self) -> None:
        self.endpoints: list[int] = []
        self._turn = itertools.count()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def listening(self):
        """The port it listens on, until the block ends."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        try:
            yield self._server.sockets[0].getsockname()[1]
        finally:
            self._server.close()
            self.hang_up()

    def hang_up(self) -> None:
        """Close every connection: the API server has to open new ones."""
        for task in self._open:
            task.cancel()

    async def _accepted(self, reader, writer):
        task = asyncio.current_task()
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            port = self.endpoints[next(self._turn) % len(self.endpoints)]
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                await _both_ways((reader, far_writer), (far_reader, writer))
            finally:
                far_writer.close()
        writer.close()


async def _both_ways(*ways):
    pumps = [asyncio.ensure_future(_pump(reader, writer)) for reader, writer in ways]
    try:
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for pump in pumps:
            pump.cancel()


async def _pump(reader, writer):
    while chunk := await reader.read(1 << 16):
        writer.write(chunk)
        await writer.drain()

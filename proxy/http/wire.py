"""One TCP connection: the bytes that came and were not yet taken, and the bytes to send.

Unlike `asyncio.StreamReader` it tells at once when the other side is gone (``watch``), keeps what came as the `bytes`
that the loop read, and leaves a connection open whose other side has only finished sending.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Iterable
from typing import cast

READ_AHEAD_BYTES = 64 * 1024
"""What is read ahead of whoever takes it; more waits in the kernel, and so at the sender."""

WRITE_AHEAD_BYTES = 64 * 1024
"""What may wait to be sent before `Wire.drain` waits."""

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Wire(asyncio.Protocol):
    """One TCP connection. One coroutine may take from it, and one may write to it."""

    __slots__ = (
        "_discarding",
        "_full",
        "_loop",
        "_made",
        "_more",
        "_paused",
        "_room",
        "_transport",
        "_watch",
        "broken",
        "ended",
        "finished",
        "idle_since",
        "lost",
        "received",
        "taken_bytes",
        "used",
        "written_bytes",
    )

    def __init__(self, made: Callable[[Wire], None] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._made = made
        self._transport: asyncio.Transport
        self._more: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._watch: Callable[[], object] | None = None
        self._paused = False
        self._full = False
        self._discarding = False
        self.received = b""
        """What came and was not yet taken."""
        self.ended = False
        """No more will come: the other side has finished sending, or is gone."""
        self.finished = False
        """No more can be sent: `finish`, `close` or `abort` was called, or the connection is lost."""
        self.lost = False
        """The connection is gone in both directions."""
        self.broken = False
        """It went with an error, a reset say, before the other side had finished sending."""
        self.used = False
        """It has carried an exchange before this one."""
        self.idle_since: float | None = None
        """Since when (loop time) nothing is being done for the other side, or None."""
        self.taken_bytes = 0
        self.written_bytes = 0

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is up."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=WRITE_AHEAD_BYTES)
        if self._made is not None:
            self._made(self)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        if self._discarding:
            return
        self.received = self.received + data if self.received else data
        if len(self.received) >= READ_AHEAD_BYTES and not self._paused and not self._transport.is_closing():
            self._paused = True
            self._transport.pause_reading()
        _resolve(self._more)

    def eof_received(self) -> bool:
        """The other side has finished sending. It may still want an answer: the connection stays open."""
        self._end()
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self.lost = self.finished = True
        self.broken = exc is not None and not self.ended
        _resolve(self._room)
        self._end()

    def pause_writing(self) -> None:
        """`WRITE_AHEAD_BYTES` wait to be sent."""
        self._full = True

    def resume_writing(self) -> None:
        """Most of them have been sent."""
        self._full = False
        _resolve(self._room)

    def _end(self) -> None:
        self.ended = True
        _resolve(self._more)
        if self._watch is not None:
            self._watch()

    # What the relay calls.

    def take(self, count: int) -> bytes:
        """The first ``count`` bytes of what came; they are the caller's now."""
        received = self.received
        if count == len(received):
            taken, self.received = received, b""
        elif count:
            taken, self.received = received[:count], received[count:]
        else:
            return b""
        self.taken_bytes += count
        if self._paused and len(self.received) < READ_AHEAD_BYTES:
            self._read_on()
        return taken

    async def more(self) -> bool:
        """Wait for bytes beyond those in ``received``. False: none will come."""
        if self.ended:
            return False
        before = len(self.received)
        if self._paused:
            self._read_on()
        self._more = self._loop.create_future()
        try:
            await self._more
        finally:
            self._more = None
        return len(self.received) > before

    def watch(self, ended: Callable[[], object] | None) -> None:
        """Call ``ended`` when the other side has finished sending, and when it is gone: now, if that is so already."""
        self._watch = ended
        if ended is not None and self.ended:
            ended()

    def write(self, *parts: bytes | memoryview) -> None:
        """Send, in order, when there is room. What can no longer be sent is dropped: ``finished`` tells."""
        count = sum(map(len, parts))
        if count and not self.finished:
            self.written_bytes += count
            self._transport.writelines(cast("Iterable[bytes]", parts))

    async def drain(self) -> None:
        """Wait until less than `WRITE_AHEAD_BYTES` wait to be sent, or the connection is lost."""
        if self._full and not self.lost:
            self._room = self._loop.create_future()
            try:
                await self._room
            finally:
                self._room = None

    def keep_alive(self) -> None:
        """Let the kernel find out if the other machine is gone without a word."""
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    @property
    def unsent_bytes(self) -> int:
        """How much of what was written has not left yet."""
        return self._transport.get_write_buffer_size()

    def finish(self) -> None:
        """Send what waits, then say that no more will come. The other side may still send."""
        if not self.finished:
            self.finished = True
            try:
                self._transport.write_eof()
            except OSError:  # asyncio's own loop lets it through that the other side is gone
                self.abort()

    def close(self) -> None:
        """Send what waits, then close."""
        self.finished = True
        self._transport.close()

    def reset(self) -> None:
        """Send what waits, then close with a reset: an answer that ends with its connection must not seem whole."""
        if not self.finished:
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.close()

    def abort(self) -> None:
        """Close now, and drop what waits."""
        self.finished = True
        self._transport.abort()

    async def discard(self, seconds: float) -> None:
        """Take whatever comes and throw it away, until the other side ends or the time is over."""
        self._discarding = True
        self.received = b""
        self._read_on()
        try:
            async with asyncio.timeout(seconds):
                await self.more()
        except TimeoutError:
            return

    def _read_on(self) -> None:
        if self._paused and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()


def _resolve(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)

"""What either end of a conversation does, one step at a time: the words the cases are written in."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from dataclasses import dataclass, field

STALLED_AFTER_S = 0.4


class Signals:
    """What one end tells the other past the connection under test. A signal stays on."""

    def __init__(self):
        self._events: dict[str, asyncio.Event] = {}

    def __getitem__(self, name: str) -> asyncio.Event:
        return self._events.setdefault(name, asyncio.Event())


@dataclass
class Side:
    """One end of a TCP connection, on a bare socket: nothing is read or sent that no step asks for."""

    sock: socket.socket
    signals: Signals
    received: bytes = b""
    log: bytes = b""
    """Every byte that the steps have consumed."""
    notes: list[str] = field(default_factory=list)
    open: bool = True

    async def fill(self) -> bool:
        try:
            data = await asyncio.get_running_loop().sock_recv(self.sock, 1 << 18)
        except OSError:
            self.notes.append("reset")
            return False
        if not data:
            self.notes.append("closed")
        self.received += data
        return bool(data)

    def consume(self, count: int):
        self.log += self.received[:count]
        self.received = self.received[count:]

    async def send(self, data: bytes):
        # A side that has been left goes on with its steps: what the other end then saw is what counts.
        with contextlib.suppress(OSError):
            await asyncio.get_running_loop().sock_sendall(self.sock, data)

    def close(self):
        self.open = False
        self.sock.close()


@dataclass(frozen=True)
class Send:
    data: bytes

    async def run(self, side: Side):
        await side.send(self.data)


@dataclass(frozen=True)
class SendSlowly:
    """Byte by byte, each in a packet of its own."""

    data: bytes

    async def run(self, side: Side):
        for at in range(len(self.data)):
            await side.send(self.data[at : at + 1])
            await asyncio.sleep(0)


@dataclass(frozen=True)
class Read:
    """Up to and including ``until``, or to the end of the connection."""

    until: bytes = b"\r\n\r\n"

    async def run(self, side: Side):
        while (end := side.received.find(self.until)) < 0:
            if not await side.fill():
                side.consume(len(side.received))
                return
        side.consume(end + len(self.until))


@dataclass(frozen=True)
class ReadBytes:
    count: int

    async def run(self, side: Side):
        left = self.count
        while left:
            taken = min(left, len(side.received))
            side.consume(taken)
            left -= taken
            if left and not await side.fill():
                return


@dataclass(frozen=True)
class ReadToEnd:
    async def run(self, side: Side):
        while await side.fill():
            continue
        side.consume(len(side.received))


@dataclass(frozen=True)
class Finish:
    """Say that no more will come, and go on reading."""

    async def run(self, side: Side):
        with contextlib.suppress(OSError):
            side.sock.shutdown(socket.SHUT_WR)


@dataclass(frozen=True)
class Close:
    async def run(self, side: Side):
        side.close()


@dataclass(frozen=True)
class Reset:
    async def run(self, side: Side):
        side.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        side.close()


@dataclass(frozen=True)
class Pause:
    seconds: float

    async def run(self, side: Side):
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True)
class Tell:
    signal: str

    async def run(self, side: Side):
        side.signals[self.signal].set()


@dataclass(frozen=True)
class Hear:
    signal: str

    async def run(self, side: Side):
        await side.signals[self.signal].wait()


@dataclass(frozen=True)
class Flood:
    """Send up to ``count`` bytes, and note whether the other end let us: back-pressure is when it does not."""

    count: int

    async def run(self, side: Side):
        block, sent = os.urandom(1 << 16), 0
        while sent < self.count:
            try:
                async with asyncio.timeout(STALLED_AFTER_S):
                    await side.send(block)
            except TimeoutError:
                side.notes.append("stalled")
                return
            sent += len(block)
        side.notes.append("all taken")


Step = Send | SendSlowly | Read | ReadBytes | ReadToEnd | Finish | Close | Reset | Pause | Tell | Hear | Flood

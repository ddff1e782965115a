"""Plays a case: the same bytes straight to an upstream and through a proxy, and what both ends saw of it."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.differential.aiohttp_upstream import AiohttpUpstream
from tests.differential.steps import Read, ReadToEnd, Send, Side, Signals, Step

PATIENCE_S = 8.0
AIOHTTP = "aiohttp"
PROBE = b"GET /still-there HTTP/1.1\r\nHost: ray\r\n\r\n"
PROBE_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nstill-yes"
STAYS_OPEN: tuple[Step, ...] = (Send(PROBE), Read(b"still-yes"))
CLOSES: tuple[Step, ...] = (ReadToEnd(),)
LEFT: tuple[Step, ...] = ()
_DATE = re.compile(rb"\r\nDate: [^\r]*")


@dataclass(frozen=True)
class Case:
    """A conversation, and what must be true of it through a proxy.

    Unless it says otherwise, client and upstream must see what they see without the proxy. ``seen`` and ``answer`` are
    what they must see instead. ``refused`` is the status of an answer that must be the proxy's own.
    """

    name: str
    client: Sequence[Step]
    upstream: Sequence[Sequence[Step]] | str | None = ()
    """What is done with each request in turn; or the aiohttp application; or None: nobody listens."""
    then: Sequence[Step] = STAYS_OPEN
    """What the client does at the end: see that the connection still works, or that it is closed."""
    seen: bytes | None = None
    answer: bytes | None = None
    refused: int | None = None

    @property
    def after(self) -> tuple[bytes, bytes]:
        """What the probe at the end adds to what upstream and client see."""
        return (PROBE, PROBE_ANSWER) if self.then == STAYS_OPEN else (b"", b"")


@dataclass
class Transcript:
    answer: bytes = b""
    client_notes: list[str] = field(default_factory=list)
    seen: list[bytes] = field(default_factory=list)
    upstream_notes: list[str] = field(default_factory=list)
    left_over: bytes = b""
    """What came to the upstream, and no script asked for."""


class ScriptedUpstream:
    """The next request, on whatever connection it comes, gets the next script; after the last, the probe's."""

    def __init__(self, scripts: Sequence[Sequence[Step]], signals: Signals, port: int):
        self._scripts = list(scripts)
        self._signals = signals
        self._listener = socket.create_server(("127.0.0.1", port), backlog=256)
        self._listener.setblocking(False)
        self._sides: list[Side] = []
        self._idle = asyncio.Event()
        self._busy = 0
        self.transcript = Transcript()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self):
        self._tasks.append(asyncio.create_task(self._accept()))

    async def _accept(self):
        while True:
            sock, _ = await asyncio.get_running_loop().sock_accept(self._listener)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sides.append(side := Side(sock, self._signals))
            self._tasks.append(asyncio.create_task(self._converse(side)))

    async def _converse(self, side: Side):
        while side.open and (side.received or await side.fill()):
            steps = self._scripts.pop(0) if self._scripts else (Read(), Send(PROBE_ANSWER))
            self._busy += 1
            await self._answer(side, steps)
            self._busy -= 1
            self._idle.set()

    async def _answer(self, side: Side, steps: Sequence[Step]):
        transcript, number = self.transcript, len(self.transcript.seen)
        transcript.seen.append(b"")
        side.log = b""
        for step in steps:
            side.notes.clear()
            await step.run(side)
            # Whether a connection was closed or reset may depend on the proxy's side of it: gone is gone.
            transcript.upstream_notes += ["gone" if note in ("closed", "reset") else note for note in side.notes]
            transcript.seen[number] = side.log

    async def stop(self) -> Transcript:
        """Wait until all scripts have been played, and close everything."""
        while self._busy or self._scripts:
            self._idle.clear()
            await self._idle.wait()
        await self.kill()
        return self.transcript

    async def kill(self):
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.transcript.left_over = b"".join(side.received for side in self._sides)
        for side in self._sides:
            side.close()
        self._listener.close()


class NoUpstream:
    async def start(self):
        return

    async def stop(self) -> Transcript:
        return Transcript()

    kill = stop


async def play(case: Case, port: int, upstream_port: int, patience_s: float = PATIENCE_S) -> Transcript:
    """The case against whatever listens on ``port``, while its upstream listens on ``upstream_port``.

    Raises:
        TimeoutError: the conversation came to a standstill, or takes longer than ``patience_s``.
    """
    signals = Signals()
    if case.upstream is None:
        upstream = NoUpstream()
    elif case.upstream == AIOHTTP:
        upstream = AiohttpUpstream(upstream_port, Transcript())
    else:
        upstream = ScriptedUpstream(case.upstream, signals, upstream_port)
    await upstream.start()
    client = Side(await _connected(port), signals)
    try:
        async with asyncio.timeout(patience_s):
            for step in (*case.client, *case.then):
                await step.run(client)
            client.close()
            transcript = await upstream.stop()
    finally:
        client.close()
        await upstream.kill()
    transcript.answer, transcript.client_notes = client.log, client.notes
    return transcript


async def differences(case: Case, port: int, upstream_port: int, patience_s: float = PATIENCE_S) -> list[str]:
    """What is wrong with the proxy on ``port``, in this case; nothing, if the case holds."""
    try:
        through = await play(case, port, upstream_port, patience_s)
    except TimeoutError:
        return ["through the proxy, the conversation came to a standstill"]
    if case.refused is not None:
        return _refusal_faults(case, through)
    return _faults(case, await play(case, upstream_port, upstream_port), through)


def _refusal_faults(case: Case, through: Transcript) -> list[str]:
    faults = []
    if not re.match(rb"HTTP/1\.[01] %d " % case.refused, through.answer):  # aiohttp refuses in HTTP/1.0
        faults.append(f"the proxy did not refuse with {case.refused}, but said {through.answer[:200]!r}")
    if b"".join(through.seen) + through.left_over != (case.seen or b""):
        faults.append(f"the upstream saw {through.seen!r} and {through.left_over!r}")
    return faults


def _faults(case: Case, direct: Transcript, through: Transcript) -> list[str]:
    probe, probe_answer = case.after
    seen = b"".join(direct.seen) if case.seen is None else case.seen + probe
    answer = direct.answer if case.answer is None else case.answer + probe_answer
    compared = {
        "what the upstream saw": (seen, b"".join(through.seen)),
        "what no request should hold": (direct.left_over, through.left_over),
        "the answer": (_DATE.sub(b"", answer), _DATE.sub(b"", through.answer)),
        "how it ended for the client": (direct.client_notes, through.client_notes),
        "how it ended for the upstream": (direct.upstream_notes, through.upstream_notes),
    }
    return [_fault(what, *pair) for what, pair in compared.items() if pair[0] != pair[1]]


def _fault(what: str, direct: bytes | list[str], through: bytes | list[str]) -> str:
    return f"{what}: {_shortened(direct)} became {_shortened(through)}"


def _shortened(what: bytes | list[str]) -> str:
    return f"{what[:600]!r} ({len(what)})"


async def _connected(port: int) -> socket.socket:
    sock = socket.socket()
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
    return sock

"""What a contender costs while little or nothing happens, and what a big upload does to it."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tests.perf import bodies
from tests.perf.client import Connection, serve_get, serve_put, upload
from tests.perf.contenders import DIRECT, HOLDFAST, LUA, MITMPROXY, NAIVE, NGINX, Ground, Started, started
from tests.perf.serve import ask, run

POLL_EVERY_S = 2.0
"""KubeRay asks for the status of a RayService every 2 s."""
POLLED_APPS = 1_000
SETTLE_S = 0.3
CORES = os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Start:
    """Starts of one contender: seconds to the first whole answer, and what is resident (MB) right after."""

    contender: str
    cold_start_s: tuple[float, ...]
    idle_mb: tuple[float, ...]

    @property
    def median_start_s(self) -> float:
        return median(self.cold_start_s)

    @property
    def median_idle_mb(self) -> float:
        return median(self.idle_mb)


@dataclass(frozen=True, slots=True)
class Polled:
    """A contender while KubeRay polls it: CPU time a poll, share of one core in percent, resident memory after."""

    contender: str
    polls: int
    cpu_ms_per_poll: float
    core_percent: float
    memory_mb: float


@dataclass(frozen=True, slots=True)
class Uploaded:
    """One size of upload through a contender, in several rounds."""

    contender: str
    size_mb: int
    status: int
    seconds: tuple[float, ...]
    cpu_s: float
    growth_mb: tuple[float, ...]
    """Peak resident memory during the upload, less what was resident before it; MB (2**20 bytes)."""

    @property
    def mb_per_s(self) -> float:
        return self.size_mb / median(self.seconds)


def starts(ground: Ground, rounds: int) -> list[Start]:
    """Start each contender afresh, ``rounds`` times, in turns; once more before, so that Python's bytecode is there."""
    seconds: dict[str, list[float]] = {}
    memory: dict[str, list[float]] = {}
    with started(ground, [HOLDFAST, NGINX, LUA, MITMPROXY, NAIVE]):
        pass
    for _ in range(rounds):
        for name in (HOLDFAST, NGINX, LUA, MITMPROXY, NAIVE):
            with started(ground, [name]) as contenders:
                for contender in contenders:
                    time.sleep(SETTLE_S)
                    seconds.setdefault(name, []).append(contender.cold_start_s)
                    memory.setdefault(name, []).append(contender.group.memory_mb())
    return [Start(name, tuple(taken), tuple(memory[name])) for name, taken in seconds.items()]


def polling(ground: Ground, seconds: float) -> list[Polled]:
    """KubeRay's poll of 1,000 applications, half of them dynamic, every 2 s for ``seconds``."""
    static, dynamic = bodies.names("static", POLLED_APPS // 2), bodies.names("dynamic", POLLED_APPS // 2)
    run(ground, static + dynamic)
    with started(ground, [HOLDFAST, LUA, MITMPROXY]) as contenders:
        for contender in contenders:
            ask(contender.port, serve_put(bodies.declaration(*static)))
            ask(contender.port, serve_get())
        return _observe(contenders, int(seconds / POLL_EVERY_S))


def _observe(contenders: Sequence[Started], polls: int) -> list[Polled]:
    connections = {contender.name: Connection(contender.port) for contender in contenders}
    cpu_before = {contender.name: contender.group.cpu_ms() for contender in contenders}
    begun = time.perf_counter()
    for number in range(polls):
        for connection in connections.values():
            connection.ask(serve_get())
        time.sleep(max(0.0, begun + (number + 1) * POLL_EVERY_S - time.perf_counter()))
    elapsed_ms = 1000 * (time.perf_counter() - begun)
    found = []
    for contender in contenders:
        connections[contender.name].socket.close()
        used = contender.group.cpu_ms() - cpu_before[contender.name]
        share = 100 * used / elapsed_ms
        found.append(Polled(contender.name, polls, used / polls, share, contender.group.memory_mb()))
    return found


def uploads(ground: Ground, size_mb: int, rounds: int) -> list[Uploaded]:
    """An upload of ``size_mb`` through every contender, in turns."""
    with started(ground, [DIRECT, HOLDFAST, NGINX, MITMPROXY, NAIVE]) as contenders:
        taken: dict[str, list[tuple[int, float, float, float]]] = {contender.name: [] for contender in contenders}
        for _ in range(rounds):
            for contender in contenders:
                taken[contender.name].append(_upload(contender, size_mb))
    found = []
    for name, each in taken.items():
        statuses, seconds, cpu, growth = zip(*each, strict=True)
        found.append(Uploaded(name, size_mb, statuses[-1], seconds, median(cpu), growth))
    return found


def _upload(contender: Started, size_mb: int) -> tuple[int, float, float, float]:
    group = contender.group
    if group is None:
        return *upload(contender.port, size_mb << 20), 0.0, 0.0
    group.forget_peak()
    memory, cpu = group.memory_mb(), group.cpu_ms()
    status, seconds = upload(contender.port, size_mb << 20)
    return status, seconds, (group.cpu_ms() - cpu) / 1000, group.memory_mb("VmHWM") - memory

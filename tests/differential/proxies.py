"""The proxies a case can be played through, each in a process of its own."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[2]
START_S = 10.0


@dataclass(frozen=True)
class Proxy:
    port: int
    upstream_port: int
    pid: int = 0


@contextlib.contextmanager
def running(module: str, *options: str) -> Iterator[Proxy]:
    """``python -m module --listen PORT --upstream PORT``, until the end of the block."""
    port, upstream_port = free_port(), free_port()
    command = [sys.executable, "-m", module, "--listen", str(port), "--upstream", str(upstream_port), *options]
    process = subprocess.Popen(command, cwd=HOUSE)
    try:
        _wait_for(port)
        yield Proxy(port, upstream_port, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(START_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def _wait_for(port: int):
    deadline = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return

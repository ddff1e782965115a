"""`holdfast proxy` as a process of its own, as it runs in a head pod: started, asked for its port, ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 25.0
"""Longer than the proxy's own grace period for requests in flight."""
CODE = Path(__file__).parents[2]
"""The folder that holds the packages, installed or not."""


class SidecarError(Exception):
    """The proxy does not run; the text says why."""


@contextmanager
def sidecar(upstream: str, work_dir: Path, *, environ: Mapping[str, str]) -> Iterator[str]:
    """A running proxy before the Ray at `upstream`; gives its URL. Its state and its log are kept in `work_dir`.

    `environ` is added to its environment. Whatever HOLDFAST_ variables the caller has are not for this one.

    Raises:
        SidecarError: it ended, said nothing for `START_TIMEOUT_S` seconds, or did not end when asked to.
    """
    log = work_dir / "proxy.log"
    options = [
        "--listen",
        "127.0.0.1:0",
        "--listen-agent",
        "",
        "--upstream",
        upstream,
        "--state-dir",
        str(work_dir / "state"),
    ]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-m", "cli.main", "proxy", *options],
            cwd=CODE,
            env=inherited | dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a terminal's Ctrl-C is for the demo, which ends this process itself
        )
    try:
        yield f"http://127.0.0.1:{_await_port(process, log)}"
        process.terminate()
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired as late:
        raise SidecarError(f"`holdfast proxy` did not end within {STOP_TIMEOUT_S:g} s of SIGTERM.") from late
    finally:
        process.kill()
        process.wait()


def _await_port(process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + START_TIMEOUT_S
    while (port := listening_port(log.read_bytes())) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["It said nothing."]
            raise SidecarError(f"`holdfast proxy` did not start. Its last words: {last[0]}")
        time.sleep(0.02)
    return port


def listening_port(log: bytes) -> int | None:
    """The port in the line of a proxy's log that tells it; None if there is no such line (yet)."""
    for line in log.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:  # a line that is being written, or not the log's
            continue
        if isinstance(entry, dict) and entry.get("msg") == "listening":
            return int(entry["port"])
    return None

"""Which processes belong to a Ray head, and the end of them. Reads /proc: Linux only.

Every process of a head inherits one environment variable (`OWNER`). That finds them all, and no others: also after a
crash, and also workers that Ray has put in process groups of their own.
"""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

OWNER = "HOLDFAST_RAY_HEAD"
STOP_TIMEOUT_S = 15.0
STATE, THREADS = 0, 17
"""Where the two stand in /proc/PID/stat behind the name (proc_pid_stat(5), fields 3 and 20)."""


class StillRunningError(Exception):
    """Processes that were told to end are still there; the text names them."""


def owner_environment(owner: str) -> Mapping[str, str]:
    """What to start a process with, so that `owned_by` finds it and all that it starts."""
    # setproctitle, which Ray uses, writes titles over the very environment that /proc shows, unless SPT_NOENV is set.
    return {OWNER: owner, "SPT_NOENV": "1"}


def owned_by(owner: str) -> Iterator[int]:
    """The processes started with this owner. One that is ending shows no environment any more: see `gone`."""
    mark = f"{OWNER}={owner}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and mark in read_proc(entry / "environ").split(b"\0"):
            yield int(entry.name)


def title(pid: int) -> str:
    """What a process is: "raylet", "dashboard.py", "ray::ServeReplica:app:Model", "ray-dashboard-ServeHead-0".

    Empty if it has ended.
    """
    words = [word.decode(errors="replace") for word in read_proc(Path(f"/proc/{pid}/cmdline")).split(b"\0") if word]
    if not words or words[0].startswith(("ray::", "ray-")):
        return words[0].split(" ")[0] if words else ""
    program = Path(words[0]).name
    if program.startswith("python"):
        return next((Path(word).name for word in words[1:] if word.endswith(".py")), program)
    return program


def read_proc(path: Path) -> bytes:
    """A file of /proc; empty if the process has ended meanwhile or is another user's."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return b""


def send(pid: int, signum: signal.Signals) -> None:
    """Signal a process that may just have ended."""
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        return


def end(owner: str) -> None:
    """End all that `owned_by` finds, again and again until none is left: one of them may just be starting another.

    Raises:
        StillRunningError: some are there after `STOP_TIMEOUT_S` seconds.
    """
    deadline = time.monotonic() + STOP_TIMEOUT_S
    ending: set[int] = set()
    while pids := ending | (set(owned_by(owner)) - {os.getpid()}):
        if time.monotonic() > deadline:
            raise StillRunningError(f"Processes {sorted(pids)} of {owner} do not end: look at them with `ps`.")
        for pid in pids - ending:
            send(pid, signal.SIGKILL)
        time.sleep(0.05)
        ending = {pid for pid in pids if not gone(pid)}


def gone(pid: int) -> bool:
    """Whether a process has ended and let go of its ports (before that, it has neither environment nor title left).

    Its first thread may be a zombie while others are still ending, and hold the ports.
    """
    after_name = read_proc(Path(f"/proc/{pid}/stat")).rpartition(b") ")[2].split()
    if not after_name:
        return True
    return after_name[STATE] in {b"Z", b"X"} and int(after_name[THREADS]) <= 1

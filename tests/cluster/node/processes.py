"""The node's long-running processes: started apart from the caller, ended by their id and by nothing else.

A pid alone does not say who it is (numbers are used again), so the pid file also holds the moment the process started,
as /proc tells it.
"""

import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.node.errors import CannotRunHereError
from tests.cluster.node.paths import LOGS, RUN

_START_TIME_FIELD = 19  # of /proc/<pid>/stat after the command's closing bracket; proc(5) calls it field 22


@dataclass(frozen=True, slots=True)
class Running:
    """One process of ours, as its pid file tells it."""

    name: str
    pid: int


def start(name: str, command: Sequence[str]) -> None:
    """Start a process that outlives us, unless it runs already. Its output goes to ``logs/<name>.log``."""
    if is_running(name):
        return
    with (LOGS / f"{name}.log").open("ab") as log, Path(os.devnull).open("rb") as nothing:
        files = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), 0)]
        files += [(os.POSIX_SPAWN_DUP2, log.fileno(), into) for into in (1, 2)]
        # Not a Popen object: that would want to outlive its process, and here it is the other way round.
        pid = os.posix_spawnp(command[0], list(command), os.environ, file_actions=files, setsid=True)
    _pid_file(name).write_text(f"{pid} {started_at(pid) or 'never'}")  # it may have died by now


def stop(name: str, *, patience_s: float = 20) -> None:
    """End a process and wait until it is gone: its ports are taken until then (kube-apiserver: up to 10 s)."""
    if is_running(name):
        end([int(_pid_file(name).read_text().split()[0])], patience_s=patience_s)
    _pid_file(name).unlink(missing_ok=True)


def is_running(name: str) -> bool:
    if not _pid_file(name).exists():
        return False
    pid, since = _pid_file(name).read_text().split()
    return started_at(int(pid)) == since


def all_running() -> list[Running]:
    """The processes of this node that live, by their pid files."""
    names = sorted(path.stem for path in RUN.glob("*.pid"))
    return [Running(name, int(_pid_file(name).read_text().split()[0])) for name in names if is_running(name)]


def end(pids: Sequence[int], *, patience_s: float) -> None:
    """SIGTERM, then SIGKILL for those that are still there after ``patience_s``."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        for pid in filter(started_at, pids):
            os.kill(pid, sent)
        deadline = time.monotonic() + patience_s
        while any(map(started_at, pids)) and time.monotonic() < deadline:
            time.sleep(0.05)


def started_at(pid: int) -> str:
    """When a living process started, in the kernel's ticks; "" if there is none (a zombie is none)."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return "" if after_name[0] in "ZX" else after_name[_START_TIME_FIELD]


def last_words(name: str) -> str:
    return (LOGS / f"{name}.log").read_text(errors="replace")[-1500:]


def require(name: str) -> None:
    """Raises: CannotRunHereError with the end of its log if the process has died."""
    if not is_running(name):
        raise CannotRunHereError(f"{name} has ended. Its last words ({LOGS / name}.log):\n{last_words(name)}")


def _pid_file(name: str) -> Path:
    return RUN / f"{name}.pid"

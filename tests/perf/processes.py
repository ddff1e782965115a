"""Programs under measurement: started in a process group of their own, read through /proc, ended by that group's id."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 30
"""How long a contender may take to answer for the first time. mitmproxy took 5 s on a busy two-core machine."""


class DidNotStartError(Exception):
    """A program ended, or did not listen in time; the text has the end of its log."""


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(bytecode: Path | None) -> dict[str, str]:
    """This process's environment; with ``bytecode``, Python keeps compiled modules there, as an image holds them."""
    if bytecode is None:
        return dict(os.environ)
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return inherited | {"PYTHONPYCACHEPREFIX": str(bytecode)}


class Group:
    """A program and all that it starts. What it prints goes to a file, as a container's output would."""

    def __init__(self, argv: list[str], log: Path, bytecode: Path | None = None) -> None:
        self.log = log
        self.begun = time.perf_counter()
        with log.open("wb") as output:
            self.leader = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=environment(bytecode),
            )

    def wait_until(self, ready: Callable[[], int | None]) -> int:
        """What ``ready`` returns once it is not None; asked each millisecond. Raises: DidNotStartError."""
        while time.perf_counter() - self.begun < PATIENCE_S:
            found = ready()
            if found is not None:
                return found
            if self.leader.poll() is not None:
                break
            time.sleep(0.001)
        state = "ended" if self.leader.poll() is not None else f"does not listen after {PATIENCE_S} s"
        raise DidNotStartError(f"{self.leader.args[0]} {state}: {self.log.read_text()[-800:]}")

    def pids(self) -> list[int]:
        """The group's processes that live now."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError):  # it may end while it is looked at
                    state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                    found += [int(entry.name)] if int(group) == self.leader.pid and state != "Z" else []
        return found

    def cpu_ms(self) -> float:
        """CPU time used so far, user and system, by all threads that live: the scheduler's count, in nanoseconds."""
        tasks = [task for pid in self.pids() for task in Path(f"/proc/{pid}/task").iterdir()]
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6

    def memory_mb(self, field: str = "VmRSS") -> float:
        """Resident memory (or its peak, `VmHWM`) of all processes; pages that two of them share count twice."""
        return sum(_status_kb(pid, field) for pid in self.pids()) / 1024

    def forget_peak(self) -> None:
        """Start `VmHWM` again from what is resident now."""
        for pid in self.pids():
            Path(f"/proc/{pid}/clear_refs").write_text("5")

    def stop(self) -> None:
        """End the group, and return when none of it is left: asked first, made to after 5 s."""
        for wish in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self.leader.pid, wish)
            with suppress(subprocess.TimeoutExpired):
                self.leader.wait(5)
        while self.pids():
            time.sleep(0.001)


def _status_kb(pid: int, field: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    return 0

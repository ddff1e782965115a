"""A real Ray head on loopback, for the demo and the tests. It promises to leave no process behind.

Linux and the standard library only; Ray itself lives in an environment of its own and is never imported here.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from cli.demo import processes
from cli.demo.ports import NoFreePortError, Ports

DASHBOARD_HOST = "127.0.0.1"
NODE_IP = "127.0.0.2"
"""Ray (2.9 to 2.60) replaces 127.0.0.1 by the machine's own address and keeps this one: so it stays on loopback."""

START_TIMEOUT_S = 180.0
"""Measured on two cores: 7 s for Ray 2.9.3, 10 s for 2.60.0; 86 s with a load of 35. A loaded machine gets its time."""
TEMP_DIR_LIMIT = 40
"""Unix socket paths end at 107 bytes; Ray adds up to 66 to its temporary directory."""
LOG_MONITOR_SINCE = (2, 52)
"""From this version `ray start` can be told to start no log monitor; 2.9.3 and 2.40.0 refuse the option."""
NOTHING: Mapping[str, str] = MappingProxyType({})


class RayStartError(Exception):
    """Ray does not run; the text says why and what to do."""


class RayScriptError(Exception):
    """A program in Ray's environment failed or took too long; the text is its standard error."""


def say_nothing(_line: str) -> None:
    """For those who do not want to see progress."""


@dataclass(frozen=True, slots=True)
class RayHead:
    """A running head: dashboard on `dashboard_url`, Ray on `gcs_address`. As a context manager it stops itself."""

    env_dir: Path
    work_dir: Path
    temp_dir: Path
    environ: Mapping[str, str]
    ports: Ports
    version: str

    @classmethod
    def start(
        cls,
        env_dir: Path,
        work_dir: Path,
        *,
        python_path: Sequence[Path] = (),
        environ: Mapping[str, str] = NOTHING,
        num_cpus: int = 8,
        ports: Ports | None = None,
        timeout_s: float = START_TIMEOUT_S,
        progress: Callable[[str], None] = say_nothing,
    ) -> "RayHead":
        """Start the Ray of `env_dir` and wait until its Serve REST API answers 200.

        What an earlier run left in the same `work_dir`, processes and files, is cleared away first. `python_path`
        is where Ray's workers find the applications; `environ` is added to their environment. Serve listens on
        `ports.serve` if the config or `serve.start` says so (`http_options`); Ray 2.40 and 2.52 do without being told.

        Raises:
            RayStartError: not Linux, no Ray in `env_dir`, a port in use, or no answer within `timeout_s` seconds.
        """
        if sys.platform != "linux":
            raise RayStartError("A Ray head of our own needs Linux: its processes are told from others by /proc.")
        version = installed_version(env_dir)
        work_dir = work_dir.resolve()
        work_dir.mkdir(parents=True, exist_ok=True)
        processes.end(str(work_dir))
        ports = usable(ports, version)
        short = len(str(work_dir)) <= TEMP_DIR_LIMIT
        temp_dir = work_dir if short else Path(tempfile.mkdtemp(prefix="holdfast-ray-"))
        for old in temp_dir.glob("session_2*"):
            shutil.rmtree(old, ignore_errors=True)
        seen = environment(work_dir, ports, python_path) | dict(environ)
        head = cls(env_dir, work_dir, temp_dir, seen, ports, version)
        try:
            head._launch(num_cpus, timeout_s, progress)
        except BaseException:
            head.stop()
            raise
        return head

    @property
    def dashboard_port(self) -> int:
        """Where Ray's dashboard, and with it the Serve REST API, listens on 127.0.0.1."""
        return self.ports.dashboard

    @property
    def dashboard_url(self) -> str:
        """The dashboard's address, without a slash at its end."""
        return f"http://{DASHBOARD_HOST}:{self.ports.dashboard}"

    @property
    def gcs_address(self) -> str:
        """What `ray.init(address=...)` takes."""
        return f"{NODE_IP}:{self.ports.gcs}"

    def run(self, script: str | Path, *args: str, timeout_s: float = 60) -> str:
        """Run a Python program (its text, or a file) in Ray's environment, connected by RAY_ADDRESS; its output.

        Raises:
            RayScriptError: it exits other than 0, or has not ended after `timeout_s` seconds.
        """
        program = [str(script)] if isinstance(script, Path) else ["-c", script]
        command = [self._python, *program, *args]
        try:
            done = subprocess.run(  # noqa: S603 - the caller's own program
                command, env=self.environ, cwd=self.work_dir, capture_output=True, timeout=timeout_s, check=False
            )
        except subprocess.TimeoutExpired as late:
            raise RayScriptError(f"No end after {timeout_s:g} s: {text(late.stderr or b'')}") from late
        if done.returncode:
            raise RayScriptError(f"Exit code {done.returncode}: {text(done.stderr)}")
        return text(done.stdout)

    def pids(self, name: str) -> list[int]:
        """The head's processes with `name` in their title: gcs_server, raylet, dashboard, ServeController, ..."""
        return [pid for pid in processes.owned_by(str(self.work_dir)) if name in processes.title(pid)]

    def kill(self, name: str, signum: signal.Signals = signal.SIGKILL) -> list[int]:
        """Signal the processes that `pids(name)` gives, and say which; SIGSTOP freezes them, SIGCONT wakes them up."""
        pids = self.pids(name)
        for pid in pids:
            processes.send(pid, signum)
        return pids

    def stop(self) -> None:
        """End every process of this head, crashed or not, and remove its temporary files. May be called again."""
        processes.end(str(self.work_dir))
        if self.temp_dir != self.work_dir:
            shutil.rmtree(self.temp_dir, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _python(self) -> str:
        return str(self.env_dir / "bin" / "python")

    def _launch(self, num_cpus: int, timeout_s: float, progress: Callable[[str], None]) -> None:
        progress(f"starting Ray {self.version} on {self.dashboard_url}")
        log = self.work_dir / "ray-start.log"
        with log.open("wb") as output:
            launcher = subprocess.Popen(  # noqa: S603 - `ray start`, with options of our own
                [self._python, "-m", "ray.scripts.scripts", *start_options(self, num_cpus)],
                env={name: value for name, value in self.environ.items() if name != "RAY_ADDRESS"},
                cwd=self.work_dir,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in a terminal is the caller's to handle, not Ray's
            )
        deadline = time.monotonic() + timeout_s
        token = self.environ.get("RAY_AUTH_TOKEN", "")
        while not answers(f"{self.dashboard_url}/api/serve/applications/", token):
            exit_code = launcher.poll()
            if exit_code or time.monotonic() > deadline:
                why = f"`ray start` ended with {exit_code}" if exit_code else f"no answer in {timeout_s:g} s"
                raise RayStartError(f"Ray {self.version} did not start ({why}). Its last lines:\n{last_lines(log)}")
            time.sleep(0.2)
        launcher.wait(timeout=timeout_s)
        progress(f"Ray {self.version} answers")


def usable(ports: Ports | None, version: str) -> Ports:
    """These ports, or free ones.

    Raises:
        RayStartError: one of them is in use, or hardly any is free.
    """
    try:
        ports = ports or Ports.free()
    except NoFreePortError as error:
        raise RayStartError(str(error)) from error
    if taken := ports.taken():
        raise RayStartError(f"Ray {version} finds ports in use: {taken}. End what listens there or choose others.")
    return ports


def environment(work_dir: Path, ports: Ports, python_path: Sequence[Path]) -> dict[str, str]:
    """The environment of a head and of the programs that talk to it: ours, without what belongs to another Ray."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RAY_", "PYTHON"))}
    return {
        **inherited,
        **processes.owner_environment(str(work_dir)),
        "RAY_ADDRESS": f"{NODE_IP}:{ports.gcs}",
        "DASHBOARD_METRIC_PORT": str(ports.dashboard_metrics),
        "RAY_SERVE_DEFAULT_HTTP_PORT": str(ports.serve),
        "PYTHONPATH": os.pathsep.join(map(str, python_path)),
    }


def start_options(head: RayHead, num_cpus: int) -> list[str]:
    """The command line of `ray start`: every port given, and nothing started that Serve can do without."""
    ports = head.ports
    options = {
        "port": ports.gcs,
        "node-ip-address": NODE_IP,
        "dashboard-host": DASHBOARD_HOST,
        "dashboard-port": ports.dashboard,
        "dashboard-agent-listen-port": ports.agent_http,
        "dashboard-agent-grpc-port": ports.agent_grpc,
        "ray-client-server-port": ports.client,
        "runtime-env-agent-port": ports.runtime_env,
        "metrics-export-port": ports.metrics,
        "node-manager-port": ports.node_manager,
        "object-manager-port": ports.object_manager,
        "min-worker-port": 0,
        "max-worker-port": 0,
        "num-cpus": num_cpus,
        "object-store-memory": 80_000_000,
        "temp-dir": head.temp_dir,
    }
    if tuple(int(part) for part in head.version.split(".")[:2]) >= LOG_MONITOR_SINCE:
        options["include-log-monitor"] = "false"
    given = (f"--{key}={value}" for key, value in options.items())
    return ["start", "--head", "--disable-usage-stats", "--no-monitor", *given]


def installed_version(env_dir: Path) -> str:
    """The version of Ray that an environment holds.

    Raises:
        RayStartError: it holds none.
    """
    for found in env_dir.glob("lib/python3*/site-packages/ray-*.dist-info"):
        return found.name.removeprefix("ray-").removesuffix(".dist-info")
    raise RayStartError(f"There is no Ray in {env_dir}: `make ray-env-VERSION` makes such an environment.")


def answers(url: str, token: str) -> bool:
    """Whether a GET of a loopback address is answered with 200 within two seconds, past any configured proxy."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    direct.addheaders.append(("Authorization", f"Bearer {token}"))
    try:
        with direct.open(url, timeout=2) as answer:
            return bool(answer.status == HTTPStatus.OK)
    except OSError:
        return False


def text(output: bytes) -> str:
    """What a program printed, whatever its encoding."""
    return output.decode(errors="replace")


def last_lines(log: Path, count: int = 15) -> str:
    """The end of a log file."""
    return "\n".join(text(log.read_bytes()).splitlines()[-count:])

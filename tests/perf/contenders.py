"""Who is compared: Holdfast, nothing at all, and what a user would put there instead. How each is started.

All listen on 127.0.0.1 before the same stand-in for Ray, with one process for the work, keep-alive on both sides, and
their own log of requests (where they keep one) going to a file.
"""

import getpass
import grp
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

from tests.perf.client import PERSON, Connection, UnexpectedAnswerError, request
from tests.perf.processes import Group, free_port

PEERS = Path(__file__).parent / "peers"
LUA_MODULE = Path("/usr/lib/nginx/modules/ngx_http_lua_module.so")
DIRECT, HOLDFAST, NGINX, LUA, MITMPROXY, NAIVE = (
    "direct",
    "holdfast",
    "nginx",
    "nginx+Lua",
    "mitmproxy",
    "aiohttp",
)


class AbsentError(Exception):
    """A peer is not installed here; the text says how to get it."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What every contender stands on. ``folder`` is for state and logs, and is removed at the end."""

    upstream_port: int
    folder: Path
    mitmdump: Path
    only: frozenset[str] = frozenset()
    absent: dict[str, str] = field(default_factory=dict)
    """Filled while starting: who could not take part, and why."""

    @property
    def upstream(self) -> str:
        return f"http://127.0.0.1:{self.upstream_port}"

    @property
    def bytecode(self) -> Path:
        """Where Python contenders keep their compiled modules: they start as from an image, not as from a checkout."""
        return self.folder / "bytecode"

    def new_folder(self, name: str) -> Path:
        """An empty folder for one start of one contender."""
        folder = self.folder / f"{name.split(maxsplit=1)[0]}-{time.monotonic_ns()}"
        folder.mkdir()
        return folder


@dataclass(frozen=True, slots=True)
class Started:
    """A contender that answers on ``port``; ``group`` is None for the direct way, which is no process."""

    name: str
    port: int
    group: Group | None = None
    cold_start_s: float = 0.0
    """From the start of the process to its first whole answer."""


def start_holdfast(ground: Ground, folder: Path) -> Started:
    """As a user starts it; the port is read from its log."""
    options = ["--listen", "127.0.0.1:0", "--listen-agent", "127.0.0.1:0", "--upstream", ground.upstream]
    options += ["--state-dir", str(folder / "state")]
    group = Group([sys.executable, "-m", "cli.main", "proxy", *options], folder / "log", ground.bytecode)
    return _answering(HOLDFAST, group, lambda: _port_in_log(folder / "log"))


def start_nginx(ground: Ground, folder: Path) -> Started:
    """The plain pass-through."""
    return _start_nginx(NGINX, "nginx_plain.conf", ground, folder)


def start_lua(ground: Ground, folder: Path) -> Started:
    """The same filter and merge in Lua."""
    if not LUA_MODULE.exists():
        raise AbsentError("apt-get install nginx libnginx-mod-http-lua lua-cjson")
    return _start_nginx(LUA, "nginx_lua.conf", ground, folder)


def start_mitmproxy(ground: Ground, folder: Path) -> Started:
    """The same filter and merge in an add-on."""
    if not ground.mitmdump.exists():
        raise AbsentError(f"no {ground.mitmdump}: `make perf` installs it")
    port = free_port()
    options = ["--mode", f"reverse:{ground.upstream}", "--listen-host", "127.0.0.1", "--listen-port", str(port)]
    options += ["--set", f"confdir={ground.folder / 'mitmproxy'}", "--scripts", str(PEERS / "mitmproxy_addon.py")]
    group = Group([str(ground.mitmdump), *options], folder / "log", ground.bytecode)
    return _answering(MITMPROXY, group, lambda: port)


def start_naive(ground: Ground, folder: Path) -> Started:
    """Thirty lines of aiohttp."""
    port = free_port()
    argv = [sys.executable, str(PEERS / "naive_aiohttp.py"), str(port), ground.upstream]
    return _answering(NAIVE, Group(argv, folder / "log", ground.bytecode), lambda: port)


START: dict[str, Callable[[Ground, Path], Started]] = {
    DIRECT: lambda ground, _: Started(DIRECT, ground.upstream_port),
    HOLDFAST: start_holdfast,
    NGINX: start_nginx,
    LUA: start_lua,
    MITMPROXY: start_mitmproxy,
    NAIVE: start_naive,
}


@contextmanager
def started(ground: Ground, names: Sequence[str]) -> Iterator[list[Started]]:
    """The named contenders, as far as they are installed, ended when the block is left."""
    with ExitStack() as stack:
        contenders = []
        for name in names:
            if ground.only and name not in ground.only | {DIRECT}:
                continue
            try:
                contender = START[name](ground, ground.new_folder(name))
            except AbsentError as reason:
                ground.absent[name] = str(reason)
                continue
            if contender.group:
                stack.callback(contender.group.stop)
            contenders.append(contender)
        yield contenders


def _start_nginx(name: str, template: str, ground: Ground, folder: Path) -> Started:
    nginx = which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not nginx:
        raise AbsentError("apt-get install nginx libnginx-mod-http-lua lua-cjson")
    port = free_port()
    values = {"LISTEN": port, "UPSTREAM": ground.upstream_port, "FOLDER": folder, "PEERS": PEERS}
    values |= {"USER": getpass.getuser(), "GROUP": grp.getgrgid(os.getgid()).gr_name}
    text = (PEERS / template).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    (folder / "nginx.conf").write_text(text)
    argv = [nginx, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    return _answering(name, Group(argv, folder / "log"), lambda: port)


def _answering(name: str, group: Group, port: Callable[[], int | None]) -> Started:
    """Wait for the first whole answer; a contender that never gives one is ended."""
    try:
        found = group.wait_until(lambda: (known := port()) and answers(known))
    except BaseException:
        group.stop()
        raise
    return Started(name, found, group, time.perf_counter() - group.begun)


def answers(port: int) -> int | None:
    """The port, once something there answers as Ray does."""
    with suppress(OSError, UnexpectedAnswerError), Connection(port) as connection:
        if connection.ask(request("GET", "/api/version", agent=PERSON)).status == 200:
            return port
    return None


def _port_in_log(log: Path) -> int | None:
    for line in log.read_text().splitlines():
        with suppress(ValueError):
            entry = json.loads(line)
            if (entry.get("msg"), entry.get("listener")) == ("listening", "dashboard"):
                return entry["port"]
    return None

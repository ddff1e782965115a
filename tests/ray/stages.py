"""Where a scenario plays: on the fake dashboard or on a real Ray head. Both have the same verbs.

A team works "inside the cluster": `serve_run`, `serve_delete`. Things go wrong: `kill_controller`, `freeze_gcs`,
`restart_head`, `restart_dashboard`. And all can be looked at from the outside, past any proxy: `applications`, ...
"""

import asyncio
import json
import signal
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from cli.demo.ray_head import RayHead
from tests.fakes.dashboard import APPLICATIONS, FakeRay
from tests.fakes.ray_versions import RayVersion

HERE = Path(__file__).parent
LOOKUP_TIMEOUT_S = 3
"""How long a dashboard looks for the Serve controller. Ray's own 60 s would make a scenario of it last a minute."""
PATIENCE_S = 90
"""A replica takes 2 s to start, on a machine that has nothing else to do."""


async def eventually(condition: Callable[[], Awaitable[bool]], *, within_s: float = PATIENCE_S) -> None:
    """Wait until something is so.

    Raises:
        TimeoutError: it is not so within `within_s` seconds.
    """
    async with asyncio.timeout(within_s):
        while True:
            if await condition():
                return
            await asyncio.sleep(0.1)


class Stage:
    """The verbs that need no more than Ray's REST API."""

    version: RayVersion
    url: str
    serve_port: int

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def http_options(self) -> dict:
        """What a config says so that Serve, should this PUT start it, listens where nobody else does."""
        return {"host": "127.0.0.1", "port": self.serve_port}

    @property
    def keeps_imperative(self) -> bool:
        return self.version.has("a PUT keeps imperative apps")

    async def details(self, timeout_s: float = PATIENCE_S) -> dict:
        """Ray's own answer, past the proxy."""
        timeout = aiohttp.ClientTimeout(total=timeout_s)
        async with aiohttp.ClientSession(timeout=timeout) as http, http.get(self.url + APPLICATIONS) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def applications(self) -> dict[str, dict]:
        return (await self.details())["applications"]

    async def statuses(self) -> dict[str, str]:
        return {name: app["status"] for name, app in (await self.applications()).items()}

    async def put(self, *applications: dict, **top: object) -> int:
        """A PUT past the proxy."""
        body = {"applications": list(applications), **top}
        async with aiohttp.ClientSession() as http, http.put(self.url + APPLICATIONS, json=body) as answer:
            return answer.status

    async def replicas(self, *names: str) -> dict[str, set[tuple[str, int]]]:
        """Each application's replicas, as actor id and process id: the same pair is the same process."""
        apps = await self.applications()
        return {name: set(replicas_of(apps[name])) for name in names}

    async def until(self, wanted: Mapping[str, str | None], within_s: float = PATIENCE_S) -> None:
        """Wait until each application has its status; None: until it is gone."""

        async def so() -> bool:
            seen = await self.statuses()
            return all(seen.get(name) == status for name, status in wanted.items())

        await eventually(so, within_s=within_s)

    async def until_running(self, *names: str) -> dict[str, set[tuple[str, int]]]:
        await self.until(dict.fromkeys(names, "RUNNING"))
        return await self.replicas(*names)


def replicas_of(app: dict):
    for deployment in app["deployments"].values():
        for replica in deployment["replicas"]:
            yield replica["actor_id"], replica["pid"]


@dataclass(slots=True)
class FakeStage(Stage):
    """The fake, in this process."""

    fake: FakeRay
    serve_port: int = 8000

    @property
    def version(self) -> RayVersion:
        return self.fake.version

    @property
    def url(self) -> str:
        return self.fake.url

    async def serve_run(self, name: str, builder: str = "echo") -> None:
        self.fake.serve_run(name, f"served:{builder}")

    async def serve_delete(self, name: str) -> None:
        self.fake.serve_delete(name)

    async def kill_controller(self) -> None:
        await self.fake.kill_controller()

    async def freeze_gcs(self) -> None:
        self.fake.freeze_gcs()

    async def thaw_gcs(self) -> None:
        self.fake.thaw_gcs()

    async def restart_dashboard(self) -> None:
        await self.fake.restart_dashboard()

    async def restart_head(self) -> None:
        await self.fake.restart_head()


@dataclass(slots=True)
class RealStage(Stage):
    """A real head. It outlives a scenario: `reset` takes away what the scenario has put on it."""

    env_dir: Path
    work_dir: Path
    head: RayHead = field(init=False)
    driver: subprocess.Popen = field(init=False)

    def __post_init__(self) -> None:
        environ = {"RAY_DASHBOARD_GCS_RPC_TIMEOUT_SECONDS": str(LOOKUP_TIMEOUT_S)}
        self.head = RayHead.start(self.env_dir, self.work_dir, python_path=[HERE], environ=environ, progress=print)
        self._hire()
        self._say("start", self.serve_port)

    @property
    def version(self) -> RayVersion:
        return RayVersion(self.head.version)

    @property
    def url(self) -> str:
        return self.head.dashboard_url

    @property
    def serve_port(self) -> int:
        return self.head.ports.serve

    async def serve_run(self, name: str, builder: str = "echo") -> None:
        await self._tell("run", name, builder, self.serve_port)

    async def serve_delete(self, name: str) -> None:
        await self._tell("delete", name)

    async def kill_controller(self) -> None:
        self.head.kill("ServeController")

    async def freeze_gcs(self) -> None:
        self.head.kill("gcs_server", signal.SIGSTOP)

    async def thaw_gcs(self) -> None:
        self.head.kill("gcs_server", signal.SIGCONT)

    async def restart_dashboard(self) -> None:
        """The module with the Serve API is a process of its own, and comes back by itself (Ray 2.45 and later).

        A PUT that it refuses makes it connect to Ray, and leaves it without a handle of the Serve controller.
        """
        self.head.kill("ServeHead")

        async def back() -> bool:
            async with aiohttp.ClientSession() as http, http.put(self.url + APPLICATIONS, json={}) as answer:
                return answer.status == 400

        await eventually(back)

    async def restart_head(self) -> None:
        """Kill everything, and start again behind the same address; Serve is not started."""
        ports, environ = self.head.ports, {"RAY_DASHBOARD_GCS_RPC_TIMEOUT_SECONDS": str(LOOKUP_TIMEOUT_S)}
        self._dismiss()
        self.head.stop()
        self.head = await asyncio.to_thread(
            RayHead.start, self.env_dir, self.work_dir, python_path=[HERE], environ=environ, ports=ports
        )
        self._hire()

    async def reset(self, declarative: Sequence[dict], imperative: str) -> None:
        """Take away what the last scenario has put; what this one starts with anyway lives on, or is made anew.

        The application of `serve.run` comes with the declarative ones, where Ray lets the two live together.
        """
        await self.thaw_gcs()
        await self.put(*declarative, http_options=self.http_options)
        kept = {imperative} if declarative and self.keeps_imperative else set()
        wanted = {config["name"] for config in declarative} | kept
        for name in set(await self.applications()) - wanted:
            await self._tell("delete", name)

        async def so() -> bool:
            seen = await self.statuses()
            if kept - set(seen):
                await self.serve_run(imperative)
            return seen == dict.fromkeys(wanted, "RUNNING")

        await eventually(so)

    def stop(self) -> None:
        self._dismiss()
        self.head.stop()

    def _hire(self) -> None:
        with (self.work_dir / "driver.log").open("ab") as log:
            self.driver = subprocess.Popen(
                [self.head.env_dir / "bin" / "python", HERE / "driver.py"],
                env=self.head.environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def _dismiss(self) -> None:
        with self.driver:
            self.driver.kill()

    async def _tell(self, *command: object) -> None:
        await asyncio.to_thread(self._say, *command)

    def _say(self, *command: object) -> None:
        self.driver.stdin.write(json.dumps(command) + "\n")
        self.driver.stdin.flush()
        answer = self.driver.stdout.readline()
        assert answer, f"{command}: the driver has ended, see {self.work_dir}/driver.log"
        assert json.loads(answer) == "done", f"{command}: {answer}"

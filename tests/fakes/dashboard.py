"""Ray's dashboard without Ray: the Serve REST API on a real port, in front of a cluster that keeps what is PUT.

Ray's own dashboard is an aiohttp server too, so paths, methods, limits and error pages are matched by the same code.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from tests.fakes import ray_bodies
from tests.fakes.ray_config import MAX_BODY_BYTES, Refusal, understand
from tests.fakes.ray_hygiene import GOT_ITSELF_IN_TROUBLE, is_browser, turned_away
from tests.fakes.ray_model import Cluster, Delays
from tests.fakes.ray_versions import RayVersion

APPLICATIONS = "/api/serve/applications/"
API_TYPES = ("imperative", "declarative")
STATE_API_TIMEOUT_S = 24.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it arrived. Header names are as the client wrote them."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""


@dataclass(slots=True)
class Faults:
    """What goes wrong from now on, until it is set back."""

    get_delay_s: float = 0.0
    put_delay_s: float = 0.0
    answers: dict[str, Refusal] = field(default_factory=dict)
    """By method: what the Serve API answers instead of doing anything."""


class FakeRay:
    """A head with its dashboard. `async with FakeRay("2.60.0") as ray: ... ray.url`."""

    def __init__(
        self, version: str, *, delays: Delays | None = None, token: str = "", max_body_bytes: int = MAX_BODY_BYTES
    ) -> None:
        self.version = RayVersion(version)
        self.cluster = Cluster(self.version, delays or Delays())
        self.token, self.max_body_bytes = token, max_body_bytes
        self.faults = Faults()
        self.lookup_timeout_s = self.version.lookup_timeout_s
        self.seen: list[Seen] = []
        self.port = 0
        self._gcs_answers, self._controller_answers, self._dashboard_answers = (
            asyncio.Event(),
            asyncio.Event(),
            asyncio.Event(),
        )
        for event in (self._gcs_answers, self._controller_answers, self._dashboard_answers):
            event.set()
        self._knows_controller = False
        self._starting_serve = asyncio.Lock()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.thaw_gcs()
        await self.hang_up()

    async def listen(self) -> None:
        """Open the port: a free one at first, and later the same again."""
        app = web.Application(middlewares=[self._outermost], client_max_size=self.max_body_bytes)
        app.router.add_get(APPLICATIONS, self._get)
        app.router.add_put(APPLICATIONS, self._put)
        app.router.add_delete(APPLICATIONS, self._delete)
        app.router.add_get("/api/version", self._version)
        app.router.add_get("/api/ray/version", self._version)
        app.router.add_get("/api/v0/actors", self._actors)
        app.router.add_get("/api/v0/nodes", self._nodes)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def hang_up(self) -> None:
        """Close the port: connections are refused from now on. The cluster lives on."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def restart_dashboard(self) -> None:
        """A new dashboard process: it does not know the Serve controller until it has asked the GCS."""
        await self.hang_up()
        self._knows_controller = False
        await self.listen()

    async def restart_head(self) -> None:
        """A new head behind the same address; without GCS fault tolerance nothing of the old one is left."""
        await self.hang_up()
        self.cluster.boot()
        self._knows_controller = False
        await self.listen()

    def freeze_gcs(self) -> None:
        """The GCS is there and says nothing, as after SIGSTOP."""
        self._gcs_answers.clear()

    def thaw_gcs(self) -> None:
        self._gcs_answers.set()

    def serve_run(self, name: str, import_path: str = "served:echo", route_prefix: str | None = None) -> None:
        """What a driver's `serve.run` does."""
        config = {"import_path": import_path, "route_prefix": route_prefix or f"/{name}"}
        self.cluster.serve_run(name, config, time.time())

    def serve_delete(self, name: str) -> None:
        """What a driver's `serve.delete` does."""
        self.cluster.serve_delete(name, time.time())

    async def kill_controller(self) -> None:
        """The controller dies; Ray starts it again while callers wait. Returns at once."""
        controller = self.cluster.controller
        assert controller is not None
        controller.state = "RESTARTING"
        self._controller_answers.clear()
        asyncio.get_running_loop().call_later(
            self.cluster.delays.controller_restart_s, self._controller_is_back, controller
        )

    def _controller_is_back(self, controller) -> None:
        controller.state, controller.pid = "ALIVE", controller.pid + 100_000
        self.cluster.restart_controller(time.time())
        self._controller_answers.set()

    @web.middleware
    async def _outermost(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        await self._dashboard_answers.wait()
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.raw_headers)
        no = turned_away(self.version, request, self.token)
        if no is None and self.version.has("modules are subprocesses") and request.headers.get("Content-Encoding"):
            no = Refusal(
                500, "Traceback (most recent call last):\n  ...\naiohttp.http_exceptions.ContentEncodingError: 400"
            )
        body = await self._body(request) if no is None else b""
        self.seen.append(Seen(request.method, request.raw_path, headers, body if isinstance(body, bytes) else b""))
        if isinstance(body, Refusal):
            no = body
        return refused(no) if no is not None else await handler(request)

    async def _body(self, request: web.Request) -> bytes | Refusal:
        try:
            return await request.read()
        except web.HTTPRequestEntityTooLarge as error:
            if self.version.has("modules are subprocesses"):
                return Refusal(413, f"Maximum request body size {self.max_body_bytes} exceeded.")
            return Refusal(500, f"Traceback (most recent call last):\n  ...\n{type(error).__name__}: {error}")

    async def _get(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(self.faults.get_delay_s)
        if no := self.faults.answers.get("GET"):
            return refused(no)
        api_type = request.query.get("api_type", "").lower() if self.version.has("api_type filters") else ""
        if api_type and api_type not in API_TYPES:
            wrong = request.query["api_type"]
            return refused(Refusal(400, f"Invalid 'api_type' value: '{wrong}'. Must be one of: {', '.join(API_TYPES)}"))
        if not await self._finds_serve():
            return answer(ray_bodies.no_serve(self.cluster))
        now = time.time()
        self.cluster.advance(now)
        redact = self.version.has("browsers see env_vars redacted") and is_browser(self.version, request.headers)
        return answer(ray_bodies.serve_details(self.cluster, now, api_type=api_type, redact=redact))

    async def _put(self, request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(self.faults.put_delay_s)
        if no := self.faults.answers.get("PUT"):
            return refused(no)
        config = understand(await request.read(), self.version)
        if isinstance(config, Refusal):
            return refused(config)
        await self._gcs_answers.wait()
        await self._controller_answers.wait()
        async with self._starting_serve:
            if self.cluster.controller is None:
                self.cluster.start_serve(config.top)
                await asyncio.sleep(self.cluster.delays.serve_start_s)
        self._knows_controller = True
        self.cluster.apply(config, time.time())
        return web.Response()

    async def _delete(self, _request: web.Request) -> web.StreamResponse:
        if no := self.faults.answers.get("DELETE"):
            return refused(no)
        await self._gcs_answers.wait()
        self.cluster.shutdown()
        self._knows_controller = False
        return web.Response()

    async def _version(self, _request: web.Request) -> web.StreamResponse:
        return answer(ray_bodies.version(self.cluster))

    async def _actors(self, request: web.Request) -> web.StreamResponse:
        query = (request.query.get("filter_keys"), request.query.get("filter_predicates"))
        if query not in {("name", "="), ("class_name", "=")}:
            return refused(Refusal(500, "The fake only knows the actors by name or class_name."))
        if (silence := await self._state_api_fails(request)) is not None:
            return silence
        return answer(ray_bodies.serve_controllers(self.cluster))

    async def _nodes(self, request: web.Request) -> web.StreamResponse:
        if (silence := await self._state_api_fails(request)) is not None:
            return silence
        return answer(ray_bodies.nodes(self.cluster))

    async def _state_api_fails(self, request: web.Request) -> web.StreamResponse | None:
        if self._gcs_answers.is_set():
            return None
        await asyncio.sleep(min(1.0, float(request.query.get("timeout", STATE_API_TIMEOUT_S)) / 2))
        return answer(ray_bodies.state_failure(), status=500)

    async def _finds_serve(self) -> bool:
        """Whether the dashboard finds a controller. Without a handle it asks the GCS, and takes silence for a no."""
        if self._knows_controller:
            await self._gcs_answers.wait()
        elif not self._gcs_answers.is_set():
            await self._look_up_in_vain()
            return False
        await self._controller_answers.wait()
        self._knows_controller = self.cluster.controller is not None
        return self._knows_controller

    async def _look_up_in_vain(self) -> None:
        """Before its modules were processes of their own, a look-up stopped the whole dashboard."""
        if not self.version.has("modules are subprocesses"):
            self._dashboard_answers.clear()
        await asyncio.sleep(self.lookup_timeout_s)
        self._dashboard_answers.set()


def answer(body: dict, status: int = 200) -> web.Response:
    """JSON as Ray prints it: ASCII only."""
    return web.json_response(body, status=status)


def refused(no: Refusal) -> web.Response:
    """A refusal; a server in trouble closes the connection, as aiohttp does."""
    response = web.Response(status=no.status, text=no.text)
    if no.text == GOT_ITSELF_IN_TROUBLE:
        response.force_close()
    return response

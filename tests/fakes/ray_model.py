"""A Ray cluster that runs Serve, without Ray: what it keeps, and what becomes of it in time. Pure: `now` is given.

The last word of the import path says what becomes of an application (`OUTCOMES`); `tests/ray/served.py` has real ones
of the same names, so that one scenario runs on both.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from tests.fakes.ray_config import Config, code_of, replicas_wanted
from tests.fakes.ray_versions import RayVersion


class Phase(StrEnum):
    BUILDING = "building"
    STARTING = "starting"
    RUNNING = "running"
    UNHEALTHY = "unhealthy"
    NOT_BUILT = "not built"
    NOT_STARTED = "not started"
    DELETING = "deleting"


OUTCOMES = {  # by the last word of the import path: where an application's way ends, or None for "all is well"
    "absent": Phase.NOT_BUILT,
    "never_built": Phase.BUILDING,
    "broken": Phase.NOT_STARTED,
    "never_ready": Phase.STARTING,
    "sick": Phase.UNHEALTHY,
}
STATUS = {
    Phase.BUILDING: "DEPLOYING",
    Phase.STARTING: "DEPLOYING",
    Phase.RUNNING: "RUNNING",
    Phase.UNHEALTHY: "UNHEALTHY",
    Phase.NOT_BUILT: "DEPLOY_FAILED",
    Phase.NOT_STARTED: "DEPLOY_FAILED",
    Phase.DELETING: "DELETING",
}
FOR_EVER = float("inf")


@dataclass(slots=True)
class Delays:
    """How long things take, in seconds. Real Ray: 1 to 7, 1 to 2.5, 2.3, 0.1, 2 to 4, 1 to 2.6."""

    loop_s: float = 0.0
    """How long before its build ends an application must be dropped for Ray before 2.52 to lose sight of it.
    Real Ray: a pass of its control loop, 0.1 s. Zero here: it happens when a test wants it, and not by chance."""

    build_s: float = 0.05
    start_s: float = 0.05
    delete_s: float = 0.1
    flicker_s: float = 0.03
    serve_start_s: float = 0.05
    controller_restart_s: float = 0.1


@dataclass(frozen=True, slots=True)
class Replica:
    """One process of a deployment."""

    actor_id: str
    pid: int
    replica_id: str
    started_s: float


@dataclass(slots=True)
class App:
    """An application as the controller knows it."""

    name: str
    source: str
    config: dict
    deployed_s: float
    phase: Phase = Phase.BUILDING
    phase_ends_s: float = FOR_EVER
    flickers_until_s: float = 0.0
    dropped: bool = False
    """Deleted, and Ray will have lost sight of it when the build ends."""
    replicas: dict[str, list[Replica]] = field(default_factory=dict)

    @property
    def outcome(self) -> Phase | None:
        return OUTCOMES.get(self.config["import_path"].replace(":", ".").rpartition(".")[2])

    @property
    def route_prefix(self) -> str | None:
        """Null while building and after a failed build, whatever the config says (seen on Ray 2.60.0)."""
        known = self.phase not in {Phase.BUILDING, Phase.NOT_BUILT}
        return self.config.get("route_prefix", "/") if known else None

    def status(self, now: float) -> str:
        if self.dropped and self.phase is Phase.BUILDING:
            return "DELETING"
        flickers = self.phase in {Phase.RUNNING, Phase.NOT_STARTED} and now < self.flickers_until_s
        return "DEPLOYING" if flickers else STATUS[self.phase]


@dataclass(slots=True)
class Actor:
    actor_id: str
    pid: int
    state: str = "ALIVE"


class Ids:
    """Identities as Ray makes them: hexadecimal, of Ray's lengths, never the same twice."""

    def __init__(self) -> None:
        self._count = itertools.count(1)

    def node(self) -> str:
        return f"{next(self._count):056x}"

    def actor(self) -> Actor:
        count = next(self._count)
        return Actor(f"{count:024x}02000000", 10_000 + count)

    def session(self) -> str:
        return f"session_2026-01-01_00-00-00_{next(self._count):06d}_1"


class Cluster:
    """One Ray head and what runs on it. `advance` first, then ask."""

    def __init__(self, version: RayVersion, delays: Delays) -> None:
        self.version, self.delays = version, delays
        self.ids = Ids()
        self.boot()

    def boot(self) -> None:
        """A new head: nothing of the old one is left (no GCS fault tolerance)."""
        self.node_id, self.session_name = self.ids.node(), self.ids.session()
        self.controllers: list[Actor] = []
        self.proxy = self.ids.actor()
        self.forget()

    def forget(self) -> None:
        self.apps: dict[str, App] = {}
        self.stored: dict[str, dict] = {}
        self.top: dict = {}

    @property
    def controller(self) -> Actor | None:
        """The Serve controller, restarting or alive; None if no Serve runs."""
        return next((actor for actor in self.controllers if actor.state != "DEAD"), None)

    def start_serve(self, top: dict) -> None:
        """What a first PUT or `serve.start` does; the options of a second one change nothing."""
        if self.controller is None:
            self.controllers.append(self.ids.actor())
            self.top = {key: top[key] for key in ("proxy_location", "http_options", "grpc_options") if key in top}

    def shutdown(self) -> None:
        """`serve.shutdown()`: everything goes, the stored config as well."""
        if self.controller is not None:
            self.controller.state = "DEAD"
        self.forget()

    def advance(self, now: float) -> None:
        """Let time go by: builds end, replicas come up, deleted applications go."""
        for app in list(self.apps.values()):
            while app.phase_ends_s <= now:
                self._next_phase(app, app.phase_ends_s)

    def apply(self, config: Config, now: float) -> None:
        """A PUT: what it names is deployed, what it names no more is deleted, and it is stored as a whole."""
        self.advance(now)
        self.stored = config.applications
        self.top["target_capacity"] = config.top.get("target_capacity")
        for name, app in list(self.apps.items()):
            if name not in config.applications and (app.source == "declarative" or not self._keeps_imperative):
                self._delete(app, now)
        for name, wanted in config.applications.items():
            self._deploy(name, wanted, "declarative", now)

    def serve_run(self, name: str, config: dict, now: float) -> None:
        """`serve.run`: the builder runs in the caller's own process, so the replicas start at once."""
        self.advance(now)
        self.start_serve({})
        self._deploy(name, {"name": name, **config}, "imperative", now)

    def serve_delete(self, name: str, now: float) -> None:
        """`serve.delete`: the stored config still names a declarative application."""
        self.advance(now)
        self._delete(self.apps[name], now)

    def restart_controller(self, now: float) -> None:
        """The controller comes back and applies its stored config again; replicas live on."""
        self.advance(now)
        for app in self.apps.values():
            app.flickers_until_s = now + self.delays.flicker_s
            if app.name not in self.stored:
                app.deployed_s = now
        for name, wanted in self.stored.items():
            self._deploy(name, wanted, "declarative", self.apps[name].deployed_s if name in self.apps else now)
        if not self._keeps_imperative:
            for app in [app for app in self.apps.values() if app.name not in self.stored]:
                self._delete(app, now)

    def replica_names(self, app: App) -> Iterator[str]:
        """The deployments of an application: those its config names, or the one its code has."""
        named = [one["name"] for one in app.config.get("deployments", [])]
        return iter(named or ["Echo"])

    @property
    def _keeps_imperative(self) -> bool:
        return self.version.has("a PUT keeps imperative apps")

    def _deploy(self, name: str, wanted: dict, source: str, now: float) -> None:
        app = self.apps.get(name)
        same = (
            app is not None
            and app.source == source
            and app.phase is not Phase.DELETING
            and code_of(app.config, self.version) == code_of(wanted, self.version)
        )
        if not same:
            app = self.apps[name] = App(name, source, wanted, now)
        app.config, app.deployed_s, app.flickers_until_s = wanted, now, now + self.delays.flicker_s
        if app.phase in {Phase.BUILDING, Phase.NOT_BUILT}:
            app.phase, app.phase_ends_s = Phase.BUILDING, now + (self.delays.build_s if source == "declarative" else 0)
            self.advance(now)
        elif app.phase is not Phase.NOT_STARTED:
            self._scale(app, now)

    def _next_phase(self, app: App, when: float) -> None:
        if app.phase is Phase.DELETING:
            del self.apps[app.name]
            app.phase_ends_s = FOR_EVER
        elif app.phase is Phase.BUILDING and app.outcome in {Phase.BUILDING, Phase.NOT_BUILT}:
            app.phase, app.phase_ends_s = app.outcome, FOR_EVER
        elif app.phase is Phase.BUILDING:
            self._scale(app, when)
            hangs = app.outcome is Phase.STARTING
            app.phase, app.phase_ends_s = Phase.STARTING, FOR_EVER if hangs else when + self.delays.start_s
        else:
            app.phase, app.phase_ends_s = app.outcome or Phase.RUNNING, FOR_EVER

    def _delete(self, app: App, now: float) -> None:
        about_to_end = app.phase is Phase.BUILDING and app.phase_ends_s - now < self.delays.loop_s
        if about_to_end and not self.version.has("a deletion outlives the end of a build"):
            app.dropped = True
            return
        app.phase, app.phase_ends_s, app.replicas = Phase.DELETING, now + self.delays.delete_s, {}

    def _scale(self, app: App, now: float) -> None:
        """Start what is missing, stop what is too much, leave the rest alone: it is never restarted."""
        capacity = self.top.get("target_capacity") if app.source == "declarative" else None
        for name in self.replica_names(app):
            wanted = replicas_wanted(app.config, name, capacity)
            running = app.replicas.get(name, [])[:wanted]
            app.replicas[name] = running + [self._replica(now) for _ in range(wanted - len(running))]

    def _replica(self, now: float) -> Replica:
        actor = self.ids.actor()
        return Replica(actor.actor_id, actor.pid, f"{actor.pid:08d}", now)

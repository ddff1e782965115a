"""KubeRay's RayService controller as a dashboard sees it: its requests byte for byte, and when it sends which.

Versions differ as `OPERATORS` says (read in each release: `dashboard_httpclient.go`, `rayservice_controller.go`).
Not here: the single-application API that 1.0 uses for an empty serveConfigV2 (Ray 2.9 has it no more).
"""

import json
from dataclasses import dataclass, field

from tests.fakes.go_wire import Answer, Connection, Request, marshal

APPLICATIONS = "/api/serve/applications/"
GO = "Go-http-client/1.1"


@dataclass(frozen=True, slots=True)
class Operator:
    """What one version of the operator does differently."""

    puts_first: bool
    """Up to 1.2 it PUTs, then asks; later it asks, PUTs, and judges by the answer from before."""
    asks_for_declarative: bool
    sends_token: bool
    timeout_s: float = 2.0
    proxied_user_agent: str = ""
    """Who it is when it comes through the API server (`--use-kubernetes-proxy`, since 1.2)."""
    proxied_timeout_s: float | None = None


OPERATORS = {
    "1.0.0": Operator(puts_first=True, asks_for_declarative=False, sends_token=False, timeout_s=120.0),
    "1.1.1": Operator(puts_first=True, asks_for_declarative=False, sends_token=False),
    "1.2.2": Operator(True, False, False, proxied_user_agent="kuberay-operator/v1.2.2"),
    "1.3.2": Operator(False, False, False, proxied_user_agent="kuberay-operator/v1.3.2"),
    "1.4.2": Operator(False, False, False, proxied_user_agent="kuberay-operator/v1.4.2"),
    "1.5.0": Operator(False, True, False, proxied_user_agent="kuberay-operator/v1.5.0"),
    "1.5.2": Operator(False, True, True, proxied_user_agent="kuberay-operator/v1.5.2"),
    "1.6.2": Operator(False, True, True, proxied_user_agent="kuberay-operator/v1.6.2"),
    "1.7.0": Operator(False, True, True, proxied_user_agent="kuberay-operator/v1.7.0", proxied_timeout_s=10.0),
}


class DashboardError(Exception):
    """An answer that KubeRay takes for an error: it comes again at its next reconcile."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came of it; `answer` is None if there was none in time."""

    method: str
    answer: Answer | None


@dataclass(slots=True)
class KubeRay:
    """One RayService and its only cluster. `apply` a serveConfigV2, then `reconcile`, as often as you like."""

    version: str
    host: str
    port: int
    token: str = ""
    through_api_server: bool = False
    timeout_s: float | None = None
    """Instead of the version's own."""
    serve_config: str = ""
    ready: bool = False
    applications: dict[str, str] = field(default_factory=dict)
    """What it believes to run: name to status, from its last good GET."""
    log: list[Exchange] = field(default_factory=list)
    error: str = ""
    _submitted: str | None = None
    _connection: Connection | None = None

    @property
    def operator(self) -> Operator:
        return OPERATORS[self.version]

    @property
    def submitted(self) -> bool:
        """Whether the dashboard has accepted the config as it is now."""
        return self._submitted == self.serve_config

    @property
    def patience_s(self) -> float | None:
        """How long it waits for a whole answer; None is for ever."""
        if self.timeout_s is not None:
            return self.timeout_s
        return self.operator.proxied_timeout_s if self.through_api_server else self.operator.timeout_s

    @property
    def puts(self) -> int:
        """How many PUTs it has sent."""
        return sum(exchange.method == "PUT" for exchange in self.log)

    def apply(self, *applications: dict, **top: object) -> None:
        """`kubectl apply` of a RayService with these applications. (JSON is YAML.)"""
        self.serve_config = json.dumps({"applications": list(applications), **top})

    def restart(self) -> None:
        """A restart or a new leader: what was submitted is forgotten."""
        self._submitted = None
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    async def reconcile(self) -> bool:
        """One pass over the RayService. True if it went through; `ready` is what it decided, `error` why it did not."""
        try:
            if self.operator.puts_first:
                await self._put_if_needed(self.applications)
                self.applications = await self._get()
            else:
                self.applications = await self._get()
                await self._put_if_needed(self.applications)
        except (DashboardError, OSError, TimeoutError) as error:
            self.error = f"{type(error).__name__}: {error}"
            return False
        self.error = ""
        self.ready = bool(self.applications) and all(status == "RUNNING" for status in self.applications.values())
        return True

    async def _put_if_needed(self, seen: dict[str, str]) -> None:
        if self._submitted == self.serve_config and seen:
            return
        body = marshal(through_yaml(self.serve_config)).encode()
        await self._ask("PUT", APPLICATIONS, {"Content-Type": "application/json"}, body)
        self._submitted = self.serve_config or None

    async def _get(self) -> dict[str, str]:
        query = "?api_type=declarative" if self.operator.asks_for_declarative else ""
        return statuses((await self._ask("GET", APPLICATIONS + query, {}, None)).body)

    async def _ask(self, method: str, target: str, headers: dict[str, str], body: bytes | None) -> Answer:
        if self.token and self.operator.sends_token:
            headers = {**headers, "X-Ray-Authorization": f"Bearer {self.token}"}
        user_agent = self.operator.proxied_user_agent if self.through_api_server else GO
        self._connection = self._connection or Connection(self.host, self.port)
        self.log.append(Exchange(method, None))
        asked = Request(method, target, user_agent, headers, body)
        answer = await self._connection.exchange(asked, self.patience_s)
        self.log[-1] = Exchange(method, answer)
        if not 200 <= answer.status < 300:
            raise DashboardError(f"{method}: {answer.status} {answer.body.decode(errors='replace')}")
        return answer


def through_yaml(text: str) -> dict:
    """serveConfigV2 as Go has it after YAML: an integer above 64 bits has become a float."""
    return json.loads(text) if text else {}


def statuses(body: bytes) -> dict[str, str]:
    """Name to status of an answer, decoded as KubeRay's types are: a wrong type anywhere fails it all.

    Raises:
        DashboardError: the answer cannot be decoded.
    """
    try:
        details = json.loads(body)
    except ValueError as error:
        raise DashboardError(f"not JSON: {error}") from error
    if details is None:
        return {}
    must_be(details, dict, "the answer")
    apps = details.get("applications")
    apps = {} if apps is None else apps
    must_be(apps, dict, "applications")
    for name, app in apps.items():
        must_be(app or {}, dict, name)
        check_application(name, app or {})
    return {name or "default": (app or {}).get("status") or "" for name, app in apps.items()}


def check_application(name: str, app: dict) -> None:
    for key in ("name", "status", "message", "route_prefix", "docs_path"):
        must_be(app.get(key) or "", str, f"{name}.{key}")
    deployments = app.get("deployments") or {}
    must_be(deployments, dict, f"{name}.deployments")
    for deployment in deployments.values():
        must_be(deployment or {}, dict, f"{name}.deployments")
        for key in ("name", "status", "message", "route_prefix"):
            must_be((deployment or {}).get(key) or "", str, f"{name}.deployments.{key}")


def must_be(value: object, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise DashboardError(f"json: cannot unmarshal {type(value).__name__} into Go value of {what}")

"""Ray on one head pod, as a developer reaches it: its dashboard over REST, and `serve.run` inside."""

import asyncio
import time
from typing import Any

import aiohttp

from tests.cluster.api import Api, ApiError
from tests.cluster.fates import Look, look
from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import Manifest

_RAY_PORT = 8265
_HOLDFAST_PORT = 28265
_JOURNAL = "X-Holdfast-Journal"
# Process 1 of a pod takes no SIGKILL from inside; but `ray start --block` ends when its GCS does.
_END = 'for p in /proc/[0-9]*; do case "$(cat $p/comm)" in {}*) kill -9 "${{p#/proc/}}";; esac; done; true'
_END_GCS = 'for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = gcs_server ] && kill -9 "${p#/proc/}"; done; true'


class Head:
    """One head pod. ``holdfast`` says whether a sidecar stands beside Ray there."""

    def __init__(self, api: Api, namespace: str, pod: str, *, holdfast: bool) -> None:
        self._api = api
        self._namespace = namespace
        self.pod = pod
        self._holdfast = holdfast

    async def applications(self) -> Any:
        """Ray's own answer, whoever stands before it."""
        return await self._api.get(self._path(_RAY_PORT))

    async def look(self) -> Look:
        return look(await self.applications())

    async def pod_object(self) -> Manifest:
        """The pod as the API server has it."""
        found: Manifest = await self._api.get(f"/api/v1/namespaces/{self._namespace}/pods/{self.pod}")
        return found

    async def sidecar_metrics(self) -> str:
        """What the sidecar has counted, as Prometheus is told."""
        return await self._api.text(
            f"/api/v1/namespaces/{self._namespace}/pods/{self.pod}:{_HOLDFAST_PORT}/proxy/-/metrics"
        )

    async def deploy_by_rest(self, *applications: Manifest, port: int | None = None) -> None:
        """Deploy over REST. Without Holdfast a PUT is the whole truth: a careful developer sends the others along."""
        port = port or (_HOLDFAST_PORT if self._holdfast else _RAY_PORT)
        others = [] if port == _HOLDFAST_PORT else await self._declarative(but={app["name"] for app in applications})
        await self._api.call("PUT", self._path(port), body={"applications": [*others, *applications]})

    async def upsert(self, application: Manifest) -> str:
        """Deploy one application, and touch no other; whether the journal has it: "written" or "queued"."""
        return await self._api.header(_JOURNAL, "PUT", self._one(application["name"]), application)

    async def remove(self, name: str) -> str:
        """Delete one application, and touch no other; likewise."""
        return await self._api.header(_JOURNAL, "DELETE", self._one(name))

    async def deploy_imperatively(self, name: str) -> None:
        """`serve.run` in the head's container; returns when it runs. Raises: TimeoutError after a minute."""
        await self._python("/apps/run_imperatively.py", name)

    async def delete_imperatively(self, name: str) -> None:
        """`serve.delete`, likewise."""
        await self._python("/apps/delete_imperatively.py", name)

    async def die(self, how: str) -> None:
        """The pod is "deleted", or Ray "killed" in its container, as the kernel does for want of memory."""
        namespace = f"--namespace={self._namespace}"
        if how == "deleted":
            await kubectl("delete", "pod", self.pod, namespace, "--wait=false")
        else:
            await kubectl("exec", self.pod, namespace, "--container=ray-head", "--", "sh", "-c", _END_GCS)

    async def runs(self, *names: str, patience_s: float = 60) -> Look:
        """Wait until these applications run.

        Raises: TimeoutError saying what was last seen.
        """
        return await self._wait(lambda seen: all(name in seen and seen[name].runs for name in names), names, patience_s)

    async def shows(self, name: str, *, patience_s: float = 60) -> Look:
        """Wait until Ray has been told of an application, whatever its state. Raises: TimeoutError."""
        return await self._wait(lambda seen: name in seen, (name,), patience_s)

    async def failed(self, name: str, *, patience_s: float = 60) -> Look:
        """Wait until an application is DEPLOY_FAILED. Raises: TimeoutError saying what was last seen."""
        wanted = "DEPLOY_FAILED"
        return await self._wait(lambda seen: name in seen and seen[name].status == wanted, (name,), patience_s)

    async def words(self) -> dict[str, str]:
        """What each dynamic application that runs has been told to say."""
        apps = (await self.applications())["applications"].items()
        configs = {name: app["deployed_app_config"] for name, app in apps if app["status"] == "RUNNING"}
        return {name: config["args"]["word"] for name, config in configs.items() if config and name != "static"}

    async def end(self, process: str, container: str) -> None:
        """End a process of the pod by its name, as the kernel does for want of memory; 1 is the container's own."""
        script = "kill 1" if process == "1" else _END.format(process)
        namespace = f"--namespace={self._namespace}"
        await kubectl("exec", self.pod, namespace, f"--container={container}", "--", "sh", "-c", script)

    async def _wait(self, holds: Any, names: tuple[str, ...], patience_s: float) -> Look:
        deadline = time.monotonic() + patience_s
        seen: Look = {}
        while time.monotonic() < deadline:
            try:
                seen = await self.look()
            except (ApiError, aiohttp.ClientError, TimeoutError):
                seen = {}  # Ray is starting
            if holds(seen):
                return seen
            await asyncio.sleep(0.2)
        states = {name: app.status for name, app in seen.items()}
        raise TimeoutError(f"{', '.join(names)} on {self.pod}: {states} after {patience_s:.0f} s")

    async def _python(self, *script: str) -> None:
        container = (self.pod, f"--namespace={self._namespace}", "--container=ray-head")
        await kubectl("exec", *container, "--", "python3", *script, timeout_s=60)

    async def _declarative(self, *, but: set[str]) -> list[Manifest]:
        running = (await self.applications())["applications"].values()
        configs = [app["deployed_app_config"] for app in running if app.get("source") != "imperative"]
        return [config for config in configs if config and config["name"] not in but]

    def _one(self, name: str) -> str:
        return f"/api/v1/namespaces/{self._namespace}/pods/{self.pod}:{_HOLDFAST_PORT}/proxy/-/applications/{name}"

    def _path(self, port: int) -> str:
        return f"/api/v1/namespaces/{self._namespace}/pods/{self.pod}:{port}/proxy/api/serve/applications/"

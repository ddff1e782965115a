"""The RayService of one story: applied, changed and watched as its owners do."""

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from tests.cluster.api import Api, ApiError
from tests.cluster.head import Head
from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import NAME, Manifest, Wishes, rayservice
from tests.cluster.pairs import Pair


class RayService:
    """One RayService in a namespace of its own."""

    def __init__(self, api: Api, namespace: str, pair: Pair, *, holdfast: bool) -> None:
        self._api = api
        self.namespace = namespace
        self.pair = pair
        self.holdfast = holdfast
        self._wishes = Wishes()

    @property
    def path(self) -> str:
        return f"/apis/ray.io/v1/namespaces/{self.namespace}/rayservices/{NAME}"

    @property
    def url(self) -> str:
        """Where customers find it, inside the cluster."""
        return f"http://{NAME}-serve-svc.{self.namespace}.svc:8000"

    async def apply(self, *applications: Manifest, by: str = "server-side", **wishes: Any) -> None:
        """What the GitOps tool does: the whole RayService as its repository has it. ``by`` may be "client-side"."""
        self._wishes = replace(self._wishes, **wishes)
        manifest = rayservice(str(self.pair.ray), applications, self._wishes)
        flags = ("--server-side", "--force-conflicts", "--field-manager=gitops") if by == "server-side" else ()
        await kubectl("apply", f"--namespace={self.namespace}", *flags, "--filename=-", feed=manifest)

    async def start(self, *applications: Manifest, patience_s: float = 180, **wishes: Any) -> Head:
        """Apply it for the first time and wait until it serves."""
        await self.apply(*applications, **wishes)
        await self.is_running(patience_s=patience_s)
        return await self.head()

    async def add_by_patch(self, application: Manifest) -> None:
        """What a platform's controller does: it puts one more application into the RayService, beside the others."""
        await self.edit(lambda applications: [*applications, application])

    async def edit(self, change: Callable[[list[Manifest]], Iterable[Manifest]]) -> None:
        """Change ``serveConfigV2`` with a merge patch, as another writer than the GitOps tool."""
        config = json.loads((await self._api.get(self.path))["spec"]["serveConfigV2"])
        text = json.dumps(config | {"applications": list(change(config["applications"]))}, indent=2)
        await self._api.merge(self.path, {"spec": {"serveConfigV2": text}})

    async def declared(self) -> list[str]:
        """The names in ``serveConfigV2`` as it stands now."""
        text = (await self._api.get(self.path))["spec"]["serveConfigV2"]
        return [application["name"] for application in json.loads(text)["applications"]]

    async def service_status(self) -> str:
        """KubeRay's word for it: "Running" is ready, in every release."""
        return str((await self._status()).get("serviceStatus") or "")

    async def events(self) -> list[str]:
        """What has been told on the RayService: "Reason: message"."""
        named = "involvedObject.kind=RayService"
        told = (await self._api.get(f"/api/v1/namespaces/{self.namespace}/events", fieldSelector=named))["items"]
        return [f"{each['reason']}: {each['message']}" for each in told]

    async def is_running(self, *, patience_s: float = 180) -> float:
        """Wait for "Running"; returns the seconds it took. Raises: TimeoutError with the status last seen."""

        async def running() -> bool:
            return await self.service_status() == "Running"

        return await self.until(running, "to be Running", patience_s=patience_s)

    async def running_within(self, patience_s: float) -> float | None:
        """Seconds until "Running"; None if it does not come to that."""
        try:
            return await self.is_running(patience_s=patience_s)
        except TimeoutError:
            return None

    async def first_head(self) -> Head:
        """The head of a RayService that may never be Running: whichever cluster it has."""

        async def has_cluster() -> bool:
            return bool(await self.active_cluster() or await self.pending_cluster())

        await self.until(has_cluster, "a cluster", patience_s=60)
        return await self.head(await self.active_cluster() or await self.pending_cluster())

    async def lose_head(self, head: Head, how: str) -> float:
        """The head pod is "deleted", or Ray's container "killed" in it; returns the seconds until it serves again."""
        await head.die(how)

        async def gone() -> bool:
            return head.pod not in await self._ready_heads(await self.active_cluster())

        lost = await self.until(gone, "its head to be lost", patience_s=60)
        back = Head(self._api, self.namespace, (await self.head()).pod, holdfast=self.holdfast)
        started = time.monotonic()
        await back.runs("static", patience_s=120)
        return lost + time.monotonic() - started

    async def active_cluster(self) -> str:
        return str((await self._status()).get("activeServiceStatus", {}).get("rayClusterName") or "")

    async def pending_cluster(self) -> str:
        return str((await self._status()).get("pendingServiceStatus", {}).get("rayClusterName") or "")

    async def head(self, cluster: str = "", *, patience_s: float = 120) -> Head:
        """The ready head pod of a cluster, the active one if none is named."""
        found: list[str] = []

        async def there() -> bool:
            active = cluster or await self.active_cluster()
            found[:] = await self._ready_heads(active) if active else []
            return bool(found)

        await self.until(there, f"a ready head of {cluster or 'its cluster'}", patience_s=patience_s)
        return Head(self._api, self.namespace, found[0], holdfast=self.holdfast)

    async def next_head(self, lost: Head) -> Head:
        """The ready head pod that comes in a deleted one's place."""
        found: list[str] = []

        async def there() -> bool:
            found[:] = [name for name in await self._ready_heads(await self.active_cluster()) if name != lost.pod]
            return bool(found)

        await self.until(there, "another head", patience_s=120)
        return Head(self._api, self.namespace, found[0], holdfast=self.holdfast)

    async def head_service_leads_to(self) -> int:
        """The port of the head pod at which KubeRay arrives."""
        path = f"/api/v1/namespaces/{self.namespace}/services/{await self.active_cluster()}-head-svc"
        spec = (await self._api.get(path))["spec"]
        (port,) = (each for each in spec["ports"] if each["name"] == "dashboard")
        return int(port["port"] if spec["clusterIP"] == "None" else port["targetPort"])

    async def until_head_service_leads_to(self, port: int, *, patience_s: float) -> float:
        """Seconds until KubeRay arrives at that port. Raises: TimeoutError."""

        async def leads() -> bool:
            return await self.head_service_leads_to() == port

        return await self.until(leads, f"its head Service to lead to {port}", patience_s=patience_s)

    async def switched_from(self, cluster: str, *, patience_s: float) -> float | None:
        """Seconds until another cluster is the active one; None if it does not come to that."""

        async def switched() -> bool:
            return await self.active_cluster() not in ("", cluster)

        try:
            return await self.until(switched, "to switch", patience_s=patience_s)
        except TimeoutError:
            return None

    async def delete(self) -> None:
        """Delete it and wait until it is gone: from KubeRay 1.6.2 on that takes the operator that has marked it."""
        with contextlib.suppress(ApiError):  # never applied, or gone already
            await self._api.delete(self.path)
        await self.until(self.gone, "to be deleted", patience_s=60)

    async def gone(self) -> bool:
        """Not applied, or deleted."""
        try:
            await self._api.get(self.path)
        except ApiError as error:
            return error.status == HTTPStatus.NOT_FOUND
        return False

    async def until(self, holds: Callable[[], Awaitable[bool]], what: str, *, patience_s: float) -> float:
        """Ask twice a second until it holds; returns the seconds it took. Raises: TimeoutError with the last status."""
        started = time.monotonic()
        while not await holds():
            if time.monotonic() - started > patience_s:
                raise TimeoutError(f"{NAME} waited {patience_s:.0f} s for {what}; status: {await self._status()}")
            await asyncio.sleep(0.5)
        return time.monotonic() - started

    async def _status(self) -> dict[str, Any]:
        return (await self._api.get(self.path)).get("status") or {}

    async def _ready_heads(self, cluster: str) -> list[str]:
        selector = f"ray.io/node-type=head,ray.io/cluster={cluster}"
        try:
            pods = await self._api.get(f"/api/v1/namespaces/{self.namespace}/pods", labelSelector=selector)
        except ApiError:
            return []
        return [pod["metadata"]["name"] for pod in pods["items"] if _is_ready(pod)]


def _is_ready(pod: Manifest) -> bool:
    conditions = {each["type"]: each["status"] for each in pod["status"].get("conditions", ())}
    return conditions.get("Ready") == "True" and "deletionTimestamp" not in pod["metadata"]

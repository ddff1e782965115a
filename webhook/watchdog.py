"""A head Service leads to the sidecar if, and only if, its head has one: looked after, whatever was missed.

Heads are listed, then watched. A watch that ends (after ``resync_s``), breaks off or is too old (410) begins again with
a list, so nothing is missed for longer than that. Every replica does this at once: a repair names the version of the
Service that it was made for, and the API server takes it from one of them. So no leader is needed.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Iterable
from typing import Any, Protocol

from certs.apiserver import MERGE_PATCH, ApiError, UnreachableError
from certs.listing import listed
from webhook.cluster import HEADS, Cluster, GoneError, LookupFailedError
from webhook.events import About, Events
from webhook.heads import Manifest, raycluster_of
from webhook.injection import has_sidecar
from webhook.metrics import Metrics
from webhook.repairs import Repair, repair, undo
from webhook.settings import Settings

log = logging.getLogger("holdfast.watchdog")

SERVICES, PODS = "/api/v1/services", "/api/v1/pods"

_PAUSE_S = 0.25
"""Between a watch that has ended and the next list; twice that after a failure, and so on."""

Key = tuple[str, str]


class HeadsApi(Protocol):
    """What is needed of the API server; ``webhook.cluster.Watchable`` has it."""

    async def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """A list."""

    async def patch(self, path: str, change: Any, content_type: str) -> Any:  # noqa: ANN401 - JSON
        """Change an object."""

    def watch(self, path: str, version: str, timeout_s: float) -> AsyncIterator[dict[str, Any]]:
        """What happens since then."""


class Watchdog:
    """Two watches, and what is known from them."""

    def __init__(self, api: HeadsApi, cluster: Cluster, events: Events, metrics: Metrics, settings: Settings) -> None:
        self._api = api
        self._cluster = cluster
        self._events = events
        self._metrics = metrics
        self._settings = settings
        self._known: dict[str, dict[Key, Manifest]] = {}
        """By path, then namespace and name. While a path is missing, not listed yet, nothing is repaired."""

    def namespaces(self) -> set[str]:
        """Where there are heads with a sidecar, as far as is known."""
        return {namespace for (namespace, _), pod in self._known.get(PODS, {}).items() if has_sidecar(pod)}

    async def run(self) -> None:
        """Look after all heads, until cancelled."""
        async with asyncio.TaskGroup() as both:
            for path in (SERVICES, PODS):
                both.create_task(self._follow(path))

    async def _follow(self, path: str) -> None:
        failures = 0
        while True:
            try:
                version = await self._list(path)
                failures = 0
                async for event in self._api.watch(path, version, self._settings.resync_s):
                    await self._happened(path, event)
            except GoneError:
                log.info("watch too old", extra={"path": path})
            except (ApiError, UnreachableError) as error:
                self._metrics.watch_failures.inc()
                failures += 1
                log.warning("heads not watched", extra={"path": path, "error": str(error)})
            pause_s = min(_PAUSE_S * 2 ** min(failures, 10), self._settings.backoff_s)
            await asyncio.sleep(pause_s * random.uniform(0.5, 1))  # noqa: S311 - so that replicas do not come together

    async def _list(self, path: str) -> str:
        items, version = await listed(self._api, path, labelSelector=HEADS)
        self._known[path] = {_key(item): _slim(item) for item in items}
        await self._look({_cluster_key(item) for item in self._known[path].values()})
        return version

    async def _happened(self, path: str, event: dict[str, Any]) -> None:
        if event["type"] == "BOOKMARK":
            return
        item = _slim(event["object"])
        if event["type"] == "DELETED":
            self._known[path].pop(_key(item), None)
        else:
            self._known[path][_key(item)] = item
        await self._look({_cluster_key(item)})

    async def _look(self, clusters: Iterable[tuple[str, str | None]]) -> None:
        """Put right what is wrong with the heads of these RayClusters."""
        if len(self._known) < len((SERVICES, PODS)):
            return
        heads: dict[tuple[str, str | None], list[Manifest]] = {cluster: [] for cluster in clusters}
        for pod in self._known[PODS].values():
            if (cluster := _cluster_key(pod)) in heads:
                heads[cluster].append(pod)
        for service in list(self._known[SERVICES].values()):
            if found := repair(service, heads.get(_cluster_key(service), ())):
                await self._repair(found)

    async def _repair(self, found: Repair) -> None:
        namespace, name = _key(found.service)
        try:
            await self._api.patch(f"/api/v1/namespaces/{namespace}/services/{name}", found.merge_patch(), MERGE_PATCH)
        except ApiError as error:
            if not (error.conflict or error.not_found):
                raise
            return  # another replica was faster, or the Service is gone: the watch will tell
        self._metrics.repairs.labels(found.notice.reason).inc()
        log.info("service repaired", extra={"reason": found.notice.reason, "namespace": namespace, "service": name})
        await self._tell(namespace, found)

    async def _tell(self, namespace: str, found: Repair) -> None:
        try:
            owner = await self._cluster.owner(namespace, raycluster_of(found.service) or "")
        except LookupFailedError as error:
            log.warning("event not written", extra={"reason": found.notice.reason, "error": str(error)})
            return
        if owner:
            self._events.tell(About(namespace, owner.name, owner.uid), found.notice)


async def undo_all(api: HeadsApi) -> list[str]:
    """Lead every head Service back to Ray, and say which. The webhook has to be gone, or it leads them back again.

    Raises:
        ApiError: the API server refused, or somebody wrote in between: try again.
        UnreachableError: no answer.
    """
    undone = []
    for service in (await listed(api, SERVICES, labelSelector=HEADS))[0]:
        if found := undo(service):
            namespace, name = _key(service)
            await api.patch(f"/api/v1/namespaces/{namespace}/services/{name}", found.merge_patch(), MERGE_PATCH)
            undone.append(f"{namespace}/{name}")
    return undone


def _key(item: Manifest) -> Key:
    return item["metadata"]["namespace"], item["metadata"]["name"]


def _cluster_key(item: Manifest) -> tuple[str, str | None]:
    return item["metadata"]["namespace"], raycluster_of(item)


def _slim(item: Manifest) -> dict[str, Any]:
    """What a repair needs: a pod without its fields' managers, environments and volumes is a twentieth."""
    about = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    spec = item["spec"]
    if "containers" in spec:
        kinds = ("containers", "initContainers")
        spec = {kind: [{"name": each["name"]} for each in spec.get(kind) or ()] for kind in kinds}
    return {"metadata": about, "spec": spec, "status": {"phase": (item.get("status") or {}).get("phase")}}

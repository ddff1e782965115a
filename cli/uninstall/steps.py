"""What `holdfast uninstall` does, in the order in which nothing that serves is hurt.

1. The webhook configuration: from now on the API server asks nobody, and a webhook that is away stops nothing.
2. The webhook itself, and it is waited for: while it runs, its watchdog leads head Services to the sidecars.
3. Every head Service is put back to Ray. Sidecars that still run do no harm, and go with their heads.
4. The rest: rights, certificate, namespace.

It can be run again, from whatever was left. RayServices, heads and applications are not touched. ``step_aside`` does
the first three and removes the certificate that the webhook has made: all that Helm, or `kubectl delete`, cannot know.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from certs.apiserver import ApiServer
from certs.place import Place
from certs.store import CONFIGURATIONS
from webhook.cluster import Watchable
from webhook.watchdog import undo_all

_PODS_GONE_S = 120
"""How long the webhook's pods may take to end: their grace period is 35 s."""

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
CLUSTER_WIDE = tuple(
    f"{_RBAC}/{kind}/holdfast-{part}"
    for kind in ("clusterrolebindings", "clusterroles")
    for part in ("webhook", "certificates")
)
"""What the manifests make outside of the namespace, besides the webhook configuration."""


class StillRunningError(Exception):
    """The webhook's pods do not end."""


async def uninstall(api: Watchable, place: Place) -> AsyncIterator[str]:
    """Do one after the other, and say each when it is done.

    Raises:
        ApiError, UnreachableError: the API server refused, or is away.
        StillRunningError: the webhook's pods do not end.
    """
    async for line in step_aside(api, place):
        yield line
    for path in CLUSTER_WIDE:
        await api.delete(path)
    await api.delete(f"/api/v1/namespaces/{place.namespace}")
    yield f"the rights and the namespace {place.namespace} are gone"


async def step_aside(api: Watchable, place: Place) -> AsyncIterator[str]:
    """Stop being asked, end, and lead every head Service back to Ray. Raises: as ``uninstall``."""
    namespace = f"/api/v1/namespaces/{place.namespace}"
    gone = await api.delete(f"{CONFIGURATIONS}/{place.configuration}")
    yield "the API server asks nobody any more" if gone else "the webhook configuration was gone already"
    await api.delete(f"/apis/apps/v1/namespaces/{place.namespace}/deployments/{place.service}")
    await _pods_gone(api, f"{namespace}/pods")
    yield "the webhook has ended"
    undone = await undo_all(api)
    yield f"{len(undone)} head Services lead to Ray again{': ' if undone else ''}{', '.join(undone)}"
    await api.delete(f"{namespace}/secrets/{place.secret}")
    yield "its certificate is gone"


async def _pods_gone(api: ApiServer, pods: str) -> None:
    labels = "app.kubernetes.io/name=holdfast,app.kubernetes.io/component=webhook"
    for _ in range(_PODS_GONE_S):
        if not (await api.get(pods, labelSelector=labels))["items"]:
            return
        await asyncio.sleep(1)
    raise StillRunningError(f"the webhook's pods still run after {_PODS_GONE_S} s: delete them")

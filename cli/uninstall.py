"""`holdfast uninstall`: in the order in which nothing that serves is hurt.

1. The webhook configuration: from now on the API server asks nobody, and a webhook that is away stops nothing.
2. The webhook itself, and it is waited for: while it runs, its watchdog leads head Services to the sidecars.
3. Every head Service is put back to Ray. Sidecars that still run do no harm, and go with their heads.
4. The rest: rights, certificate, namespace.

It can be run again, from whatever was left. RayServices, heads and applications are not touched.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

from certs.apiserver import ApiError, ApiServer, Login, UnreachableError
from certs.place import Place
from certs.store import CONFIGURATIONS
from webhook.cluster import Watchable
from webhook.watchdog import undo_all

EXIT_DONE, EXIT_FAILED, EXIT_DECLINED = 0, 1, 2

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


def run(place: Place, login: Login, *, yes: bool, ask: Callable[[str], str] = input) -> int:
    """Uninstall, after asking. The exit code: 0 done, 1 failed on the way, 2 declined."""
    if not yes and not _agreed(place, ask):
        sys.stderr.write("holdfast uninstall: nothing was changed.\n")
        return EXIT_DECLINED
    try:
        asyncio.run(_run(place, login))
    except (ApiError, UnreachableError, StillRunningError) as error:
        sys.stderr.write(f"holdfast uninstall: {error}. Run it again: it goes on from what is left.\n")
        return EXIT_FAILED
    return EXIT_DONE


def _agreed(place: Place, ask: Callable[[str], str]) -> bool:
    question = (
        f"This removes Holdfast and the namespace {place.namespace}. RayServices go on; from then on KubeRay deletes\n"
        "dynamic applications again. Go on? [y/N] "
    )
    try:
        return ask(question).strip().lower() in {"y", "yes"}
    except EOFError:
        return False


async def _run(place: Place, login: Login) -> None:
    async with Watchable.connected(context=login.context, kubeconfig=login.kubeconfig) as api:
        async for line in steps(api, place):
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()


async def steps(api: Watchable, place: Place) -> AsyncIterator[str]:
    """Do one after the other, and say each when it is done.

    Raises:
        ApiError, UnreachableError: the API server refused, or is away.
        StillRunningError: the webhook's pods do not end.
    """
    namespace = f"/api/v1/namespaces/{place.namespace}"
    gone = await api.delete(f"{CONFIGURATIONS}/{place.configuration}")
    yield "the API server asks nobody any more" if gone else "the webhook configuration was gone already"
    await api.delete(f"/apis/apps/v1/namespaces/{place.namespace}/deployments/{place.service}")
    await _pods_gone(api, f"{namespace}/pods")
    yield "the webhook has ended"
    undone = await undo_all(api)
    yield f"{len(undone)} head Services lead to Ray again{': ' if undone else ''}{', '.join(undone)}"
    for path in CLUSTER_WIDE:
        await api.delete(path)
    await api.delete(namespace)
    yield f"the rights, the certificate and the namespace {place.namespace} are gone"
    yield "Sidecars that still run go with their heads; annotations holdfast.dev/... on RayServices mean nothing now."


async def _pods_gone(api: ApiServer, pods: str) -> None:
    labels = "app.kubernetes.io/name=holdfast,app.kubernetes.io/component=webhook"
    for _ in range(_PODS_GONE_S):
        if not (await api.get(pods, labelSelector=labels))["items"]:
            return
        await asyncio.sleep(1)
    raise StillRunningError(f"the webhook's pods still run after {_PODS_GONE_S} s: delete them")

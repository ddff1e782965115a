"""Which RayService is meant, which of its clusters, and which head pod has the sidecar. Pure.

1. Without a name, the only RayService of the namespace is meant. Of several, none is guessed.
2. During an upgrade there are two clusters. The active one serves, so it is meant unless another is asked for; a
   RayService that has only a pending one (it is new) has no other.
3. A pod is asked, not the head Service: the Service may lead to Ray again (the watchdog put it back), and one that is
   not headless (KubeRay before 1.2) leads nowhere while the pod is not ready. The pod answers in both cases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cli.apps.errors import NotReachedError, UsageError
from webhook.injection import has_sidecar

Manifest = Mapping[str, Any]

PENDING = "pending"


def rayservice(found: Sequence[Manifest], namespace: str, name: str | None) -> Manifest:
    """The RayService that is meant.

    Raises:
        NotReachedError: there is none.
        UsageError: there are several, and no name was given.
    """
    names = sorted(each["metadata"]["name"] for each in found)
    if name is None and len(found) > 1:
        raise UsageError(f"namespace {namespace} has several RayServices: name one with -r ({', '.join(names)})")
    meant = [each for each in found if name in {None, each["metadata"]["name"]}]
    if meant:
        return meant[0]
    if names:
        raise NotReachedError(f"namespace {namespace} has no RayService {name}; it has {', '.join(names)}")
    raise NotReachedError(f"namespace {namespace} has no RayService. -n names another namespace")


def cluster(service: Manifest, asked: str | None) -> str:
    """The RayCluster that is meant.

    Raises:
        NotReachedError: the RayService has no such cluster (yet).
    """
    name, status = service["metadata"]["name"], service.get("status") or {}
    active, pending = (_cluster_of(status, part) for part in ("activeServiceStatus", "pendingServiceStatus"))
    if asked == PENDING:
        if pending is None:
            raise NotReachedError(f"RayService {name} has no pending cluster: no upgrade is under way")
        return pending
    if asked is not None and asked not in {active, pending}:
        has = " and ".join(filter(None, (active, pending))) or "none yet"
        raise NotReachedError(f"RayService {name} has no cluster {asked}; it has {has}")
    chosen = asked or active or pending
    if chosen is None:
        raise NotReachedError(f"RayService {name} has no cluster yet: KubeRay has not made one")
    return chosen


def head(pods: Sequence[Manifest], of: str) -> str:
    """The name of the head pod with the sidecar. ``of`` is its RayCluster.

    Raises:
        NotReachedError: there is none, with what to do.
    """
    staying = [pod for pod in pods if not pod["metadata"].get("deletionTimestamp")]
    if not staying:
        raise NotReachedError(
            f"cluster {of} has no head pod at the moment: see kubectl get pods -l ray.io/cluster={of}"
        )
    protected = [pod for pod in staying if has_sidecar(pod)]
    if not protected:
        first = staying[0]["metadata"]["name"]
        raise NotReachedError(f"head {first} has no sidecar, so nobody answers there. `holdfast check` says what to do")
    return str(protected[0]["metadata"]["name"])


def _cluster_of(status: Manifest, part: str) -> str | None:
    return (status.get(part) or {}).get("rayClusterName") or None

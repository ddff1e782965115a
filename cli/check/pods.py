"""What a head pod itself tells: why it has no sidecar, or what its sidecar cannot work with. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cli.check.findings import Finding, failed, warning
from proxy.settings import PREFIX
from webhook import names
from webhook.heads import RayServiceOwner
from webhook.injection import REFUSED, verdict
from webhook.raystart import DASHBOARD_PORT, RayStart, environment

Manifest = Mapping[str, Any]

_NAME = "rayservice"


def without_sidecar(title: str, pod: Manifest, deployment: Manifest | None) -> Iterator[Finding]:
    """Why it has none. One that is older than Holdfast is no fault: nothing that runs is restarted."""
    where, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    refused = verdict(pod, RayServiceOwner(title))
    fix = f"the next head gets one, at a time that suits: kubectl -n {where} delete pod {name}"
    if refused in REFUSED:
        yield failed(_NAME, f"{title}: head {name} cannot have a sidecar: {REFUSED[refused]}", fix)
    elif _made(pod) > _made(deployment or {}):
        text = f"{title}: head {name} has no sidecar: the webhook was away, or the namespace took no part yet"
        yield failed(_NAME, text, fix)
    else:
        yield warning(_NAME, f"{title}: head {name} is older than Holdfast: not protected", fix)


def faults(title: str, pod: Manifest) -> Iterator[Finding]:
    """What its sidecar cannot work with, though it is there."""
    ray, name = RayStart.of(pod["spec"]["containers"][0]), pod["metadata"]["name"]
    upstream = environment(sidecar(pod)).get(f"{PREFIX}UPSTREAM", f"127.0.0.1:{DASHBOARD_PORT}")
    if not upstream.endswith(f":{ray.dashboard_port}"):
        port = ray.dashboard_port
        text = f"{title}: Ray's dashboard of head {name} is on port {port}, and its sidecar asks {upstream}"
        yield failed(_NAME, text, _again(pod, "the next sidecar knows the port"))
    audience = _audience(pod)
    if audience not in {None, names.TOKEN_AUDIENCE}:
        text = f"{title}: the token of head {name} is for {audience!r}, and the journal takes {names.TOKEN_AUDIENCE!r}"
        yield failed(_NAME, text, _again(pod, f"volume {names.TOKEN_VOLUME} is the webhook's to write"))
    if _cannot_resolve(pod):
        text = f"{title}: head {name} is on the host's network and cannot resolve the webhook's Service: no journal"
        yield failed(_NAME, text, "set dnsPolicy: ClusterFirstWithHostNet in the head group's template")


def runs(pod: Manifest) -> bool:
    """Does its sidecar run?"""
    return any("running" in (each.get("state") or {}) for each in _statuses(pod))


def not_running(title: str, pod: Manifest) -> Finding:
    """Its sidecar does not; on the host's network most likely as somebody else has its port."""
    where, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    fix = f"kubectl -n {where} logs {name} -c {names.CONTAINER}"
    text = f"{title}: the sidecar of head {name} does not run"
    if pod["spec"].get("hostNetwork"):
        node = pod["spec"].get("nodeName", "its node")
        text += f": on the host's network, another head or program on {node} may have port {names.PROXY_PORT}"
    return failed(_NAME, text, fix)


def sidecar(pod: Manifest) -> Manifest:
    """Its container, empty if there is none."""
    containers = (*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"])
    return next((each for each in containers if each["name"] == names.CONTAINER), {})


def _statuses(pod: Manifest) -> Iterator[Manifest]:
    status = pod.get("status") or {}
    for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        if each["name"] == names.CONTAINER:
            yield each


def _audience(pod: Manifest) -> str | None:
    """Whom the sidecar's token is for; None where it has none."""
    volumes = [each for each in pod["spec"].get("volumes") or () if each["name"] == names.TOKEN_VOLUME]
    for source in (source for each in volumes for source in (each.get("projected") or {}).get("sources") or ()):
        if token := source.get("serviceAccountToken"):
            return str(token.get("audience") or "the API server")
    return None


def _cannot_resolve(pod: Manifest) -> bool:
    """A pod on the host's network has the node's DNS, unless it asks for the cluster's."""
    spec, has_journal = pod["spec"], f"{PREFIX}JOURNAL_URL" in environment(sidecar(pod))
    return has_journal and bool(spec.get("hostNetwork")) and spec.get("dnsPolicy") != "ClusterFirstWithHostNet"


def _again(pod: Manifest, why: str) -> str:
    return f"{why}: kubectl -n {pod['metadata']['namespace']} delete pod {pod['metadata']['name']}"


def _made(item: Manifest) -> str:
    return str((item.get("metadata") or {}).get("creationTimestamp") or "")

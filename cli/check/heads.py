"""Is each RayService protected: has its head the sidecar, leads its Service there, stands anything between? Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cli.check.findings import Finding, failed, ok, warning
from cli.check.seen import Seen
from webhook import names, services
from webhook.heads import is_opted_out, metadata, raycluster_of, rayservice_of
from webhook.injection import has_sidecar

Manifest = Mapping[str, Any]

PORT_NAME = "holdfast"
"""What the sidecar calls its port (webhook.injection)."""


def check(seen: Seen, namespace: str | None) -> Iterator[Finding]:
    """The findings about every RayService that takes part; in one ``namespace``, or in all."""
    taking_part = {each["metadata"]["name"] for each in seen["namespaces"]}
    for rayservice in seen["rayservices"]:
        where = rayservice["metadata"]["namespace"]
        if where in taking_part and namespace in {None, where}:
            yield from _rayservice(seen, rayservice)


def _rayservice(seen: Seen, rayservice: Manifest) -> Iterator[Finding]:
    where, name = rayservice["metadata"]["namespace"], rayservice["metadata"]["name"]
    title = f"{where}/{name}"
    if is_opted_out(metadata(rayservice, "annotations")):
        yield ok("rayservice", f'{title} is left alone, as its annotation {names.INJECT}: "false" says')
        return
    clusters = {
        each["metadata"]["name"]
        for each in seen["rayclusters"]
        if each["metadata"]["namespace"] == where and rayservice_of(each) == name
    }
    pods = [each for each in seen["heads"] if _belongs(each, where, clusters)]
    if not pods:
        yield warning("rayservice", f"{title} has no head yet", "the next one gets a sidecar")
    for pod in pods:
        yield _head(title, pod, [each for each in seen["services"] if _belongs(each, where, {raycluster_of(pod)})])
        yield from _blocked(title, pod, seen["policies"])


def _head(title: str, pod: Manifest, head_services: Iterable[Manifest]) -> Finding:
    where, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    leads_there = [services.is_redirected(each) for each in head_services]
    if not has_sidecar(pod):
        if any(leads_there):
            fix = "the webhook puts it back within 10 s; until then KubeRay cannot reach Serve"
            return failed("rayservice", f"{title}: head {name} has no sidecar, and its Service leads to one", fix)
        fix = f"at a time that suits, kubectl -n {where} delete pod {name}: the next head gets one"
        text = f"{title}: head {name} is older than Holdfast, or was admitted without it: not protected"
        return warning("rayservice", text, fix)
    if not all(leads_there) or not leads_there:
        fix = "the webhook mends it within 10 s; if not, read its log"
        return failed("rayservice", f"{title}: head {name} has a sidecar, but its Service leads past it", fix)
    if not _runs(pod):
        fix = f"kubectl -n {where} logs {name} -c {names.CONTAINER}"
        return failed("rayservice", f"{title}: the sidecar of head {name} does not run", fix)
    return ok("rayservice", f"{title} is protected (head {name})")


def _blocked(title: str, pod: Manifest, policies: Iterable[Manifest]) -> Iterator[Finding]:
    """NetworkPolicies add up: once one selects a pod, what none of them lets in is kept out."""
    where = pod["metadata"]["namespace"]
    selecting = [each for each in policies if each["metadata"]["namespace"] == where and _selects(each, pod)]
    if selecting and has_sidecar(pod) and not any(_lets_in(each, names.PROXY_PORT) for each in selecting):
        by = ", ".join(sorted(each["metadata"]["name"] for each in selecting))
        fix = f"let KubeRay's operator in on port {names.PROXY_PORT}, wherever {by} lets it in on 8265"
        yield failed("network-policy", f"{title}: no NetworkPolicy lets anybody reach the sidecar", fix)


def _selects(policy: Manifest, pod: Manifest) -> bool:
    spec = policy["spec"]
    if "Ingress" not in (spec.get("policyTypes") or ["Ingress"]):
        return False
    labels = metadata(pod, "labels")
    selector = spec.get("podSelector") or {}
    if not (selector.get("matchLabels") or {}).items() <= dict(labels).items():
        return False
    return all(_matches(each, labels) for each in selector.get("matchExpressions") or ())


def _matches(expression: Manifest, labels: Mapping[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
    return value is None


def _lets_in(policy: Manifest, port: int) -> bool:
    for rule in policy["spec"].get("ingress") or ():
        ports = rule.get("ports")
        if not ports or any(_covers(each, port) for each in ports):
            return True
    return False


def _covers(allowed: Manifest, port: int) -> bool:
    first = allowed.get("port")
    if allowed.get("protocol", "TCP") != "TCP" or isinstance(first, str):
        return first == PORT_NAME and allowed.get("protocol", "TCP") == "TCP"
    return first is None or first <= port <= allowed.get("endPort", first)


def _belongs(item: Manifest, namespace: str, clusters: Iterable[str | None]) -> bool:
    return item["metadata"]["namespace"] == namespace and raycluster_of(item) in set(clusters) - {None}


def _runs(pod: Manifest) -> bool:
    status = pod.get("status") or {}
    states = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return any(each["name"] == names.CONTAINER and "running" in (each.get("state") or {}) for each in states)

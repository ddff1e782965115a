"""Which NetworkPolicies keep everybody from a port of a pod. Pure.

They add up: once one selects a pod, what none of them lets in is kept out. Who is let in cannot be told here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from webhook.heads import metadata

Manifest = Mapping[str, Any]


def blocking(pod: Manifest, policies: Iterable[Manifest], port: int, port_name: str) -> str:
    """The names of those that select the pod, if none of them lets anybody in on the port; else empty."""
    where = pod["metadata"]["namespace"]
    selecting = [each for each in policies if each["metadata"]["namespace"] == where and _selects(each, pod)]
    if not selecting or any(_lets_in(each, port, port_name) for each in selecting):
        return ""
    return ", ".join(sorted(each["metadata"]["name"] for each in selecting))


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


def _lets_in(policy: Manifest, port: int, port_name: str) -> bool:
    for rule in policy["spec"].get("ingress") or ():
        ports = rule.get("ports")
        if not ports or any(_covers(each, port, port_name) for each in ports):
            return True
    return False


def _covers(allowed: Manifest, port: int, port_name: str) -> bool:
    first = allowed.get("port")
    if allowed.get("protocol", "TCP") != "TCP" or isinstance(first, str):
        return first == port_name and allowed.get("protocol", "TCP") == "TCP"
    return first is None or first <= port <= allowed.get("endPort", first)

"""What the sidecar of a head is, and what it has counted. Pure."""

import re
from typing import Any

CONTAINER = "holdfast-proxy"
_PUT = re.compile(r'^holdfast_puts_total\{caller="kuberay",outcome="([^"]+)"\} ([0-9.e+]+)$', re.MULTILINE)


def form(pod: dict[str, Any]) -> str:
    """ "native", "regular" or "none"."""
    spec = pod["spec"]
    if any(each["name"] == CONTAINER for each in spec.get("initContainers") or ()):
        return "native"
    return "regular" if any(each["name"] == CONTAINER for each in spec["containers"]) else "none"


def image(pod: dict[str, Any]) -> str:
    """The image that it is made of. Raises: LookupError if there is none."""
    spec = pod["spec"]
    for each in (*(spec.get("initContainers") or ()), *spec["containers"]):
        if each["name"] == CONTAINER:
            return str(each["image"])
    raise LookupError(f"{pod['metadata']['name']} has no {CONTAINER}")


def restarts(pod: dict[str, Any]) -> int:
    """How often any container of the pod was started again."""
    status = pod["status"]
    states = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return sum(each["restartCount"] for each in states)


def status(pod: dict[str, Any]) -> dict[str, Any]:
    """What the kubelet says of its container. Raises: LookupError if there is none."""
    told = pod["status"]
    for each in (*(told.get("initContainerStatuses") or ()), *(told.get("containerStatuses") or ())):
        if each["name"] == CONTAINER:
            found: dict[str, Any] = each
            return found
    raise LookupError(f"{pod['metadata']['name']} has no {CONTAINER}")


def puts_by_kuberay(metrics: str) -> dict[str, int]:
    """KubeRay's PUTs by outcome, without those that were never seen."""
    return {outcome: int(float(count)) for outcome, count in _PUT.findall(metrics) if float(count)}

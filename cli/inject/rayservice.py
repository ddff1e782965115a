"""A RayService's head template with the sidecar, and without it again. Pure, on plain data.

Without the webhook nobody changes the head Service, so the template has to: KubeRay takes the Service's ports from
Ray's container (container 0). ``dashboard`` names the sidecar's port there, and ``dashboard-ray`` keeps Ray's for
people. A container that declares no port at all gets the ports that KubeRay would have given it, as naming one switches
those off (KubeRay 1.0-1.7, ``common/service.go``, ``getServicePorts``).

The template is part of the hash that KubeRay keeps of a cluster: applied to a RayService that runs, this makes a new
cluster, once.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webhook import injection, names
from webhook.heads import RayServiceOwner, metadata
from webhook.injection import SidecarForm, Verdict

_OLDER_KUBERNETES = (1, 28)
DEFAULT_PORTS = {"client": 10001, "gcs-server": 6379, "dashboard": 8265, "metrics": 8080, "serve": 8000}
"""What KubeRay 1.3-1.7 gives a head that declares no port (``redis`` for ``gcs-server`` before; nobody asks)."""

_OURS = {"dashboard": names.PROXY_PORT, "dashboard-agent": names.AGENT_PROXY_PORT}
_RAYS = {"dashboard": 8265, "dashboard-agent": 52365}
_ALL_OURS = ["client", "gcs-server", "dashboard-ray", "dashboard", "metrics", "serve"]


class NotInjectedError(Exception):
    """A RayService that cannot have the sidecar. The text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the manifest is for."""

    form: SidecarForm
    is_native: bool = True
    """A native sidecar: Kubernetes 1.29 and KubeRay 1.1, or newer."""

    needs_agent_port: bool = False
    """KubeRay 1.0 asks the dashboard agent."""


def is_injected(rayservice: Mapping[str, Any]) -> bool:
    """Does its head template have the sidecar?"""
    return injection.has_sidecar(_template(rayservice))


def inject(rayservice: Mapping[str, Any], target: Target) -> dict[str, Any]:
    """The RayService with the sidecar. One that has it, or was opted out, comes back as it is.

    Raises:
        NotInjectedError: its head cannot have it.
    """
    new = copy.deepcopy(dict(rayservice))
    owner = RayServiceOwner(str(new["metadata"].get("name", "")), metadata(new, "annotations"))
    if is_injected(new) or owner.is_opted_out:
        return new
    template = _template(new)
    pod = _as_a_pod(new, template)
    verdict = injection.verdict(pod, owner)
    if verdict is not Verdict.INJECTED:
        raise NotInjectedError(injection.REFUSED.get(verdict, str(verdict)))
    # As a plain container, which is then put where it belongs: the template does not tell KubeRay's version.
    spec = injection.inject(pod, owner, target.form, _OLDER_KUBERNETES)["spec"]
    _place(template["spec"], spec["containers"][-1], is_native=target.is_native)
    have = {volume["name"] for volume in template["spec"].get("volumes") or ()}
    added = [volume for volume in spec["volumes"] if volume["name"] not in have]
    template["spec"]["volumes"] = [*(template["spec"].get("volumes") or ()), *added]
    ray = template["spec"]["containers"][0]
    ray["ports"] = _redirected(ray.get("ports") or [], _dashboard_ports(new), target)
    return new


def uninject(rayservice: Mapping[str, Any]) -> dict[str, Any]:
    """The RayService without the sidecar, as it was before ``inject``."""
    new = copy.deepcopy(dict(rayservice))
    if not is_injected(new):
        return new
    spec = _template(new)["spec"]
    for part, ours in (
        ("initContainers", {names.CONTAINER}),
        ("containers", {names.CONTAINER}),
        ("volumes", {names.STATE_VOLUME, names.TOKEN_VOLUME}),
    ):
        left = [each for each in spec.get(part) or () if each["name"] not in ours]
        _set_or_drop(spec, part, left)
    ray = spec["containers"][0]
    _set_or_drop(ray, "ports", _restored(ray.get("ports") or []))
    return new


def _place(spec: dict[str, Any], sidecar: dict[str, Any], *, is_native: bool) -> None:
    if is_native:
        spec["initContainers"] = [*(spec.get("initContainers") or ()), {**sidecar, "restartPolicy": "Always"}]
    else:
        spec["containers"] = [*spec["containers"], sidecar]


def _redirected(ports: list[dict[str, Any]], rays: Mapping[str, int], target: Target) -> list[dict[str, Any]]:
    # A port of the user's gets Ray's at the end of the list; what is all ours has Ray's port before the sidecar's: so
    # `_restored` can tell them apart.
    by_default = (port for name, number in DEFAULT_PORTS.items() for port in _default(name, number, rays))
    redirected = list(ports or by_default)
    for name in _OURS if target.needs_agent_port else ("dashboard",):
        order = [port.get("name") for port in redirected]
        if f"{name}-ray" in order:
            continue
        if name in order:
            given = redirected[order.index(name)]
            redirected[order.index(name)] = {**given, "containerPort": _OURS[name]}
            redirected.append(_port(f"{name}-ray", given["containerPort"]))
        else:
            redirected += [_port(f"{name}-ray", rays[name]), _port(name, _OURS[name])]
    return redirected


def _default(name: str, number: int, rays: Mapping[str, int]) -> list[dict[str, Any]]:
    if name == "dashboard":
        return [_port("dashboard-ray", rays[name]), _port(name, _OURS[name])]
    return [_port(name, number)]


def _restored(ports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    order = [port.get("name") for port in ports]
    if [name for name in order if name not in {"dashboard-agent", "dashboard-agent-ray"}] == _ALL_OURS:
        return []
    dropped: set[Any] = set()
    was: dict[Any, int] = {}
    for name in _OURS:
        if f"{name}-ray" in order and name in order:
            is_ours = order.index(f"{name}-ray") < order.index(name)
            dropped |= {f"{name}-ray", name} if is_ours else {f"{name}-ray"}
            was[name] = ports[order.index(f"{name}-ray")]["containerPort"]
    kept = [port for port in ports if port.get("name") not in dropped]
    return [{**port, "containerPort": was.get(port.get("name"), port["containerPort"])} for port in kept]


def _port(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "containerPort": number}


def _set_or_drop(mapping: dict[str, Any], key: str, values: list[Any]) -> None:
    if values:
        mapping[key] = values
    else:
        mapping.pop(key, None)


def _template(rayservice: Mapping[str, Any]) -> dict[str, Any]:
    try:
        template = rayservice["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]
        template["spec"]["containers"][0]["name"]
    except (KeyError, TypeError, IndexError):
        raise NotInjectedError("it has no head template with a container in it: it is no complete RayService") from None
    return dict(template) if not isinstance(template, dict) else template


def _dashboard_ports(rayservice: Mapping[str, Any]) -> dict[str, int]:
    given = rayservice["spec"]["rayClusterConfig"]["headGroupSpec"].get("rayStartParams") or {}
    options = {"dashboard": "dashboard-port", "dashboard-agent": "dashboard-agent-listen-port"}
    return {name: int(given.get(option, _RAYS[name])) for name, option in options.items()}


def _as_a_pod(rayservice: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """The pod that KubeRay would make of the template, as far as the injection looks at it."""
    given = rayservice["spec"]["rayClusterConfig"]["headGroupSpec"].get("rayStartParams") or {}
    start = " ".join(["ray start --head", *(f"--{option}={value}" for option, value in given.items())])
    pod = copy.deepcopy({"metadata": {}, "spec": template["spec"]})
    owner = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "cluster"}
    pod["metadata"] = {"labels": {"ray.io/node-type": "head"}, "ownerReferences": [owner]}
    pod["spec"]["containers"][0].setdefault("args", [start])
    return pod

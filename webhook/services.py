"""The head Service leads KubeRay to the sidecar, and can be put back. Pure.

1. KubeRay reads the *number* of the port named ``dashboard`` (1.0: ``dashboard-agent``) off the head Service and calls
   the Service's name at that port (facts on KubeRay: 1.1). It writes the Service once and never looks at it again.
2. A headless Service (KubeRay's default since 1.2) has no ports of its own, its name leads to the pod: the number
   becomes the sidecar's, and ``dashboard-ray`` keeps Ray's for people and ``kubectl ray``.
3. Any other Service keeps its numbers, and what stands behind them changes: ``targetPort``.
4. What was there is written down in an annotation, so that undoing restores it to the letter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from webhook import names
from webhook.heads import Manifest, RayServiceOwner, metadata, raycluster_of

_SIDECAR_PORTS = {"dashboard": names.PROXY_PORT, "dashboard-agent": names.AGENT_PROXY_PORT}


class Verdict(StrEnum):
    """What becomes of a Service, and why. The value is a metric label and a log field: do not rename."""

    REDIRECTED = "redirected"
    ALREADY_REDIRECTED = "already_redirected"
    NOT_A_HEAD_SERVICE = "not_a_head_service"
    NOT_OF_A_RAYSERVICE = "not_of_a_rayservice"
    OPTED_OUT = "opted_out"
    NO_DASHBOARD_PORT = "no_dashboard_port"
    PORT_TAKEN = "port_taken"


REFUSED: dict[Verdict, str] = {
    Verdict.NO_DASHBOARD_PORT: 'it has no port named "dashboard", so KubeRay cannot reach Serve either: name it in the '
    "ports of Ray's container",
    Verdict.PORT_TAKEN: f"it has a port {names.PROXY_PORT} or {names.AGENT_PROXY_PORT} of its own, or one named "
    '"dashboard-ray" or "dashboard-agent-ray": rename or renumber it',
}
"""Why a head Service that should lead to the sidecar cannot, and what to do."""


def verdict(service: Manifest, owner: RayServiceOwner | None) -> Verdict:
    """What becomes of a Service. ``owner`` is the RayService of its RayCluster, None if there is none."""
    if raycluster_of(service) is None:
        return Verdict.NOT_A_HEAD_SERVICE
    if is_redirected(service):
        return Verdict.ALREADY_REDIRECTED
    if owner is None:
        return Verdict.NOT_OF_A_RAYSERVICE
    if owner.is_opted_out:
        return Verdict.OPTED_OUT
    return redirectable(service)


def redirectable(service: Manifest) -> Verdict:
    """Can a head Service be redirected, whoever's it is?"""
    ports = _ports(service)
    if "dashboard" not in map(_name, ports):
        return Verdict.NO_DASHBOARD_PORT
    if _is_headless(service):
        taken = {each["port"] for each in ports} & set(_SIDECAR_PORTS.values())
        if taken or {f"{name}-ray" for name in _SIDECAR_PORTS} & set(map(_name, ports)):
            return Verdict.PORT_TAKEN
    return Verdict.REDIRECTED


def is_redirected(service: Manifest) -> bool:
    """Does its port ``dashboard`` lead to the sidecar?"""
    return any(
        _name(port) == "dashboard" and names.PROXY_PORT in (port["port"], port.get("targetPort"))
        for port in _ports(service)
    )


def redirect(service: Manifest) -> dict[str, Any]:
    """The Service leading to the sidecar. One that does already comes back as it is."""
    if is_redirected(service):
        return dict(service)
    ports: list[Mapping[str, Any]] = []
    kept: list[Mapping[str, Any]] = []
    for port in _ports(service):
        to = _SIDECAR_PORTS.get(_name(port))
        if to is not None and _is_headless(service):
            kept.append({**port, "name": f"{_name(port)}-ray"})
            ports.append({**port, "port": to, "targetPort": to})
        else:
            ports.append(port if to is None else {**port, "targetPort": to})
    was = {_name(port): _where(port) for port in _ports(service) if _name(port) in _SIDECAR_PORTS}
    annotations = {**metadata(service, "annotations"), names.REDIRECTED: json.dumps(was, sort_keys=True)}
    return _with(service, [*ports, *kept], annotations)


def restore(service: Manifest) -> dict[str, Any]:
    """The Service leading to Ray, as it did before. One that does already comes back as it is."""
    written = metadata(service, "annotations").get(names.REDIRECTED)
    if written is None and not is_redirected(service):
        return dict(service)
    was = json.loads(written) if written else _as_by_default(service)
    added = {f"{name}-ray" for name in was}
    ports = [{**port, **was.get(_name(port), {})} for port in _ports(service) if _name(port) not in added]
    annotations = {key: value for key, value in metadata(service, "annotations").items() if key != names.REDIRECTED}
    return _with(service, ports, annotations)


def _as_by_default(service: Manifest) -> dict[str, dict[str, Any]]:
    """Where the annotation is lost: the ports that a headless Service still shows, else Ray's own numbers."""
    shown = {_name(port).removesuffix("-ray"): _where(port) for port in _ports(service) if _name(port).endswith("-ray")}
    ray = {"dashboard": 8265, "dashboard-agent": 52365}
    present = {_name(port): port["port"] for port in _ports(service) if _name(port) in ray}
    numbers = {name: ray[name] if port == _SIDECAR_PORTS[name] else port for name, port in present.items()}
    return {name: shown.get(name, {"port": port, "targetPort": ray[name]}) for name, port in numbers.items()}


def _where(port: Mapping[str, Any]) -> dict[str, Any]:
    return {"port": port["port"], "targetPort": port.get("targetPort", port["port"])}


def _with(service: Manifest, ports: list[Any], annotations: Mapping[str, str]) -> dict[str, Any]:
    about = {**service["metadata"], "annotations": dict(annotations)}
    if not annotations:
        del about["annotations"]
    return {**service, "metadata": about, "spec": {**service["spec"], "ports": ports}}


def _is_headless(service: Manifest) -> bool:
    return bool(service["spec"].get("clusterIP") == "None")


def _ports(service: Manifest) -> list[Mapping[str, Any]]:
    return (service.get("spec") or {}).get("ports") or []


def _name(port: Mapping[str, Any]) -> str:
    return str(port.get("name", ""))

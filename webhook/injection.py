"""The head pod gets its sidecar: first a verdict with a name, then the new pod. Pure.

1. KubeRay takes container 0 for Ray's and looks at no other: the sidecar is appended, never inserted.
2. It is a *native* sidecar (an init container that is restarted): it starts before Ray, and starts again under a pod
   that is never restarted (KubeRay's autoscaler v2). Not before Kubernetes 1.29, which has none, and not under KubeRay
   1.0, whose client drops ``restartPolicy`` and then cannot write the pod's labels any more: there a plain container.
3. It has no probe. A container that is not ready makes KubeRay blind (neither GET nor PUT), and a service mesh may make
   any probe fail.
4. Its room is small, but limited: a namespace with a quota refuses pods with a container that has no limits. A pod of
   the class Guaranteed stays one.
5. A second pass changes nothing. If another webhook has dropped ``restartPolicy`` meanwhile (as clients older than
   Kubernetes 1.28 do), the pod would wait for the sidecar to end: it becomes a plain container.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proxy.settings import Address, Settings
from webhook import names
from webhook.heads import Manifest, RayServiceOwner, metadata, raycluster_of
from webhook.raystart import AGENT_PORT, DASHBOARD_PORT, RayStart, environment

NATIVE_SIDECARS_SINCE = (1, 29)
"""The first Kubernetes that has native sidecars switched on."""

_TOKEN_VARIABLES = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
"""What KubeRay (1.5.1+) gives Ray's container where Ray asks for a token. The sidecar asks Ray on its own, too."""

_TOKEN_LIFE_S = 3600


class Verdict(StrEnum):
    """What becomes of a pod, and why. The value is a metric label and a log field: do not rename."""

    INJECTED = "injected"
    REPAIRED = "repaired"
    ALREADY_INJECTED = "already_injected"
    NOT_A_HEAD = "not_a_head"
    NOT_OF_A_RAYSERVICE = "not_of_a_rayservice"
    OPTED_OUT = "opted_out"
    PORT_TAKEN = "port_taken"
    NO_DASHBOARD = "no_dashboard"
    DASHBOARD_ELSEWHERE = "dashboard_elsewhere"


REFUSED: dict[Verdict, str] = {
    Verdict.PORT_TAKEN: f"a container of it declares port {names.PROXY_PORT} or {names.AGENT_PROXY_PORT}, which are "
    "the sidecar's: give that container another port",
    Verdict.NO_DASHBOARD: "its `ray start` switches the dashboard off, and KubeRay needs it for Serve: leave out "
    "include-dashboard",
    Verdict.DASHBOARD_ELSEWHERE: "its dashboard-host is an address that the sidecar cannot reach over loopback: set "
    'rayStartParams dashboard-host to "0.0.0.0"',
}
"""Why a head that should have a sidecar cannot, and what to do."""


@dataclass(frozen=True, slots=True)
class SidecarForm:
    """The sidecar's image and room, and where it finds the journal. Quantities as Kubernetes writes them."""

    image: str
    pull_policy: str = "IfNotPresent"
    requests: tuple[str, str] = ("10m", "64Mi")
    limits: tuple[str, str] = ("1", "512Mi")
    """CPU and memory. The longest list of applications (``max_answer_bytes``) fits in four times over."""

    journal_url: str = ""
    """Empty: there is no journal."""


def verdict(pod: Manifest, owner: RayServiceOwner | None) -> Verdict:
    """What becomes of a pod. ``owner`` is the RayService of its RayCluster, None if there is none."""
    if raycluster_of(pod) is None:
        return Verdict.NOT_A_HEAD
    ours = next((each for each in _init_containers(pod) if each["name"] == names.CONTAINER), None)
    if ours is not None:
        return Verdict.ALREADY_INJECTED if ours.get("restartPolicy") == "Always" else Verdict.REPAIRED
    if has_sidecar(pod):
        return Verdict.ALREADY_INJECTED
    if owner is None:
        return Verdict.NOT_OF_A_RAYSERVICE
    if owner.is_opted_out:
        return Verdict.OPTED_OUT
    return _verdict_on_ports(pod)


def _verdict_on_ports(pod: Manifest) -> Verdict:
    if {names.PROXY_PORT, names.AGENT_PROXY_PORT} & set(_declared_ports(pod)):
        return Verdict.PORT_TAKEN
    ray = RayStart.of(pod["spec"]["containers"][0])
    if not ray.has_dashboard:
        return Verdict.NO_DASHBOARD
    return Verdict.INJECTED if ray.is_reached_over_loopback else Verdict.DASHBOARD_ELSEWHERE


def has_sidecar(pod: Manifest) -> bool:
    """Does a pod have the sidecar, in whichever form?"""
    return any(each["name"] == names.CONTAINER for each in (*_init_containers(pod), *pod["spec"]["containers"]))


def is_native(pod: Manifest, api_server: tuple[int, int]) -> bool:
    """Which form the sidecar has to have (rule 2). KubeRay names its version in Ray's environment since 1.1."""
    tags = environment(pod["spec"]["containers"][0]).get("RAY_USAGE_STATS_EXTRA_TAGS", "")
    return api_server >= NATIVE_SIDECARS_SINCE and "kuberay_version=" in tags


def inject(pod: Manifest, owner: RayServiceOwner, form: SidecarForm, api_server: tuple[int, int]) -> dict[str, Any]:
    """The pod with its sidecar."""
    spec, sidecar = pod["spec"], _container(pod, owner, form)
    if is_native(pod, api_server):
        added = {"initContainers": [*_init_containers(pod), {**sidecar, "restartPolicy": "Always"}]}
    else:
        added = {"containers": [*spec["containers"], sidecar]}
    volumes = [*(spec.get("volumes") or ()), *_volumes()]
    annotations = {**metadata(pod, "annotations"), names.RAYSERVICE: owner.name}
    about = {**pod["metadata"], "annotations": annotations}
    return {**pod, "metadata": about, "spec": {**spec, **added, "volumes": volumes}}


def repair(pod: Manifest) -> dict[str, Any]:
    """The pod with its sidecar as a plain container (rule 5)."""
    ours = next(each for each in _init_containers(pod) if each["name"] == names.CONTAINER)
    plain = {key: value for key, value in ours.items() if key != "restartPolicy"}
    others = [each for each in _init_containers(pod) if each["name"] != names.CONTAINER]
    spec = {**pod["spec"], "initContainers": others, "containers": [*pod["spec"]["containers"], plain]}
    return {**pod, "spec": spec}


def _container(pod: Manifest, owner: RayServiceOwner, form: SidecarForm) -> dict[str, Any]:
    ray = pod["spec"]["containers"][0]
    settings = _settings(RayStart.of(ray), pod, owner, form)
    return {
        "name": names.CONTAINER,
        "image": form.image,
        "imagePullPolicy": form.pull_policy,
        "args": ["proxy"],
        "env": [
            *({"name": name, "value": value} for name, value in settings.to_env().items()),
            *(entry for entry in ray.get("env") or () if entry["name"] in _TOKEN_VARIABLES),
        ],
        "ports": [
            {"name": "holdfast", "containerPort": names.PROXY_PORT, "protocol": "TCP"},
            {"name": "holdfast-agent", "containerPort": names.AGENT_PROXY_PORT, "protocol": "TCP"},
        ],
        "resources": _resources(pod, form),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "runAsUser": 65532,  # the image's; said here as well, for a pod may say otherwise for all its containers
            "runAsGroup": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumeMounts": [
            {"name": names.STATE_VOLUME, "mountPath": Settings().state_dir},
            {"name": names.TOKEN_VOLUME, "mountPath": names.TOKEN_PATH, "readOnly": True},
        ],
    }


def _settings(ray: RayStart, pod: Manifest, owner: RayServiceOwner, form: SidecarForm) -> Settings:
    defaults = Settings()
    return Settings(
        journal_url=form.journal_url,
        journal_rayservice=f"{owner.namespace}/{owner.name}" if form.journal_url else "",
        journal_cluster=(raycluster_of(pod) or "") if form.journal_url else "",
        upstream=defaults.upstream
        if ray.dashboard_port == DASHBOARD_PORT
        else Address("127.0.0.1", ray.dashboard_port),
        upstream_agent=defaults.upstream_agent
        if ray.agent_port == AGENT_PORT
        else Address("127.0.0.1", ray.agent_port),
        allow_loss=owner.annotations.get(names.ALLOW_LOSS, "").strip().lower() == "true",
    )


def _resources(pod: Manifest, form: SidecarForm) -> dict[str, Any]:
    limits = dict(zip(("cpu", "memory"), form.limits, strict=True))
    requests = limits if _is_guaranteed(pod) else dict(zip(("cpu", "memory"), form.requests, strict=True))
    return {"requests": dict(requests), "limits": limits}


def _is_guaranteed(pod: Manifest) -> bool:
    """Is every container's CPU and memory limited, and all of it requested? (Kubernetes' class Guaranteed.)"""
    resources = [each.get("resources") or {} for each in (*_init_containers(pod), *pod["spec"]["containers"])]
    return all(
        (limit := (each.get("limits") or {}).get(what)) and (each.get("requests") or {}).get(what, limit) == limit
        for each in resources
        for what in ("cpu", "memory")
    )


def _volumes() -> Iterator[dict[str, Any]]:
    # No size limit: a pod that goes beyond it is evicted, with Ray's head in it. What is written has limits of its own.
    yield {"name": names.STATE_VOLUME, "emptyDir": {}}
    token = {"audience": names.TOKEN_AUDIENCE, "expirationSeconds": _TOKEN_LIFE_S, "path": "token"}
    # Optional: the ConfigMap may come after the pod, and no pod is to wait for it.
    trust = {"name": names.CA_CONFIGMAP, "items": [{"key": "ca.crt", "path": "ca.crt"}], "optional": True}
    sources = [{"serviceAccountToken": token}, {"configMap": trust}]
    yield {"name": names.TOKEN_VOLUME, "projected": {"sources": sources}}


def _init_containers(pod: Manifest) -> list[Mapping[str, Any]]:
    return pod["spec"].get("initContainers") or []


def _declared_ports(pod: Manifest) -> Iterator[int]:
    for container in (*_init_containers(pod), *pod["spec"]["containers"]):
        for port in container.get("ports") or ():
            yield port["containerPort"]
            yield port.get("hostPort") or port["containerPort"]

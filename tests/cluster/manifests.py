"""What the stories apply: a small RayService, its applications' code, a store for GCS fault tolerance, a customer."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.image_names import image

NAME = "shop"
_CODE = Path(__file__).parent / "apps"
_CODE_IN_POD = "/apps"

Manifest = dict[str, Any]


def application(name: str, word: str = "hello", **more: Any) -> Manifest:
    """One application of a Serve config. ``word=""`` makes one that cannot be built."""
    arguments = {"word": word} if word else {}
    return {"name": name, "route_prefix": f"/{name}", "import_path": "shop:build", "args": arguments} | more


_STEPS: Manifest = {
    "upgradeStrategy": {
        "type": "NewClusterWithIncrementalUpgrade",
        "clusterUpgradeOptions": {
            "gatewayClassName": "by-hand",
            "maxSurgePercent": 50,
            "stepSizePercent": 50,
            "intervalSeconds": 3,
        },
    }
}
_AUTOSCALER: Manifest = {
    "enableInTreeAutoscaling": True,
    "autoscalerOptions": {"resources": {"requests": {"cpu": "20m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}},
}


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a story's RayService differs from the usual one."""

    annotations: dict[str, str] = field(default_factory=dict)
    survives_gcs: bool = False
    """GCS fault tolerance with the Redis of ``redis()``, set up in the way that every KubeRay release understands."""
    incremental: bool = False
    """An upgrade moves capacity and traffic bit by bit (KubeRay 1.5 and newer); that takes Ray's autoscaler."""
    restricted: bool = False
    """The head asks for nothing that PodSecurity "restricted" forbids."""
    head: Manifest = field(default_factory=dict)
    """What else stands in the head's pod spec."""
    head_ports: tuple[int, ...] = ()
    """Ports that the head's container declares besides Ray's."""
    start: dict[str, str] = field(default_factory=dict)
    """``rayStartParams`` besides the usual ones."""
    strategy: str = ""
    """``upgradeStrategy.type`` (KubeRay 1.3 and newer)."""
    cluster_note: str = "first"
    """An environment variable of the head: another value is another ``rayClusterConfig``, so another cluster."""


def rayservice(ray: str, applications: Iterable[Manifest], wishes: Wishes) -> Manifest:
    """A RayService of a head and no workers."""
    annotations = wishes.annotations | ({"ray.io/ft-enabled": "true"} if wishes.survives_gcs else {})
    strategy = {"upgradeStrategy": {"type": wishes.strategy}} if wishes.strategy else {}
    strategy, autoscaler = (_STEPS, _AUTOSCALER | _no_workers(ray)) if wishes.incremental else (strategy, {})
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayService",
        "metadata": {"name": NAME, "annotations": annotations},
        "spec": {
            "serveConfigV2": json.dumps({"applications": list(applications)}, indent=2),
            **strategy,
            "rayClusterConfig": {
                "rayVersion": ray,
                **autoscaler,
                "headGroupSpec": {
                    "rayStartParams": {"dashboard-host": "0.0.0.0", "num-cpus": "1"} | wishes.start,
                    "template": {"spec": _head(ray, wishes)},
                },
            },
        },
    }


def _no_workers(ray: str) -> Manifest:
    """Ray's autoscaler ends where a cluster has no group of workers at all (2.60.0, ``autoscaling_config.py``)."""
    template = {"spec": {"containers": [_container("ray-worker", image("rayproject/ray", ray), {})]}}
    none = {"replicas": 0, "minReplicas": 0, "maxReplicas": 0}
    return {"workerGroupSpecs": [{"groupName": "none", **none, "rayStartParams": {}, "template": template}]}


def _head(ray: str, wishes: Wishes) -> Manifest:
    environment = {"PYTHONPATH": _CODE_IN_POD, "RAY_USAGE_STATS_ENABLED": "0", "CLUSTER_NOTE": wishes.cluster_note}
    if wishes.survives_gcs:
        environment["RAY_REDIS_ADDRESS"] = "redis:6379"
    container = _container("ray-head", image("rayproject/ray", ray), environment)
    container["ports"] = [
        {"name": name, "containerPort": port}
        for name, port in (("gcs-server", 6379), ("dashboard", 8265), ("client", 10001), ("serve", 8000))
    ] + [{"containerPort": port} for port in wishes.head_ports]
    pod = {"containers": [container]} | wishes.head
    return _with_code(pod | (_restrict(container) if wishes.restricted else {}))


def _restrict(container: Manifest) -> Manifest:
    """What a container and its pod have to give up. Our image's own user is root, whose home is not another's."""
    container["env"].append({"name": "HOME", "value": "/tmp"})
    container["workingDir"] = "/tmp"
    container["securityContext"] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    return {
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "runAsGroup": 100,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
    }


def code() -> Manifest:
    """The applications' source, mounted into every pod that needs it."""
    files = {path.name: path.read_text() for path in _CODE.glob("*.py")}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "code"}, "data": files}


def customer(ray: str, url: str, applications: Iterable[str]) -> Manifest:
    """A pod that asks every application all the time, by the name of the Service, as another team's program would."""
    container = _container("customer", image("rayproject/ray", ray), {})
    container["command"] = ["python3", f"{_CODE_IN_POD}/customer.py", url, *applications]
    pod = _with_code({"containers": [container], "terminationGracePeriodSeconds": 0})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "customer"}, "spec": pod}


def redis() -> list[Manifest]:
    """A Redis that keeps everything in memory, and its Service."""
    container = _container("redis", image("redis", "7"), {})
    container["command"] = ["redis-server", "--bind", "0.0.0.0", "--protected-mode", "no", "--save", ""]
    labels = {"app": "redis"}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "redis", "labels": labels},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "redis"},
            "spec": {"selector": labels, "ports": [{"port": 6379}]},
        },
    ]


def _container(name: str, image: str, environment: dict[str, str]) -> Manifest:
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "env": [{"name": key, "value": value} for key, value in environment.items()],
        # Little asked for, so that two clusters fit on a small machine during an upgrade; room enough to run.
        "resources": {"requests": {"cpu": "50m", "memory": "256Mi"}, "limits": {"memory": "3Gi"}},
    }


def _with_code(pod: Manifest) -> Manifest:
    for container in pod["containers"]:
        container["volumeMounts"] = [{"name": "code", "mountPath": _CODE_IN_POD}]
    return pod | {"volumes": [{"name": "code", "configMap": {"name": "code"}}]}

"""Heads as KubeRay makes them, as small as a test needs them."""

from typing import Any

Manifest = dict[str, Any]


def raycluster(name: str = "shop-abc", *, rayservice: str | None = "shop") -> Manifest:
    labels = {"ray.io/originated-from-crd": "RayService", "ray.io/originated-from-cr-name": rayservice}
    return {"metadata": {"name": name, "labels": labels if rayservice else {}}}


def rayservice(annotations: dict[str, str] | None = None) -> Manifest:
    return {"metadata": {"name": "shop", "uid": "u-1", "annotations": annotations or {}}}


def pod(*, cluster: str = "shop-abc", sidecar: bool = False, phase: str = "Running", **about: Any) -> Manifest:
    tags = {"name": "RAY_USAGE_STATS_EXTRA_TAGS", "value": "kuberay_version=v1.6.2;kuberay_crd=RayService"}
    spec: Manifest = {"containers": [{"name": "ray-head", "env": [tags]}]}
    if sidecar:
        spec["initContainers"] = [{"name": "holdfast-proxy", "restartPolicy": "Always"}]
    return {"metadata": _about(cluster, **about), "spec": spec, "status": {"phase": phase}}


def service(*, cluster: str = "shop-abc", headless: bool = True, **about: Any) -> Manifest:
    ports = [{"name": name, "port": port, "targetPort": port} for name, port in (("serve", 8000), ("dashboard", 8265))]
    spec = {"clusterIP": "None" if headless else "10.96.0.7", "ports": ports}
    return {
        "metadata": {"namespace": "web", "name": "head", "resourceVersion": "7", **_about(cluster, **about)},
        "spec": spec,
    }


def _about(cluster: str, **about: Any) -> Manifest:
    owner = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": cluster}
    return {"labels": {"ray.io/node-type": "head"}, "ownerReferences": [owner], **about}

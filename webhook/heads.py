"""What a head is, and whose: read off the labels and owners that KubeRay writes. Pure.

The same in KubeRay 1.0-1.7 but for the label that names the RayService (facts on KubeRay: 5 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webhook.names import INJECT

Manifest = Mapping[str, Any]

_RAYSERVICE_LABELS = ("ray.io/originated-from-cr-name", "ray.io/service")
"""On a RayCluster: since KubeRay 1.1, and in 1.0."""


@dataclass(frozen=True, slots=True)
class RayServiceOwner:
    """The RayService that a RayCluster belongs to. ``uid`` and ``namespace`` are empty where they are not known."""

    name: str
    annotations: Mapping[str, str] = field(default_factory=dict)
    uid: str = ""
    namespace: str = ""

    @property
    def is_opted_out(self) -> bool:
        """Did its owner write ``holdfast.dev/inject: "false"``?"""
        return is_opted_out(self.annotations)


def is_opted_out(annotations: Mapping[str, str]) -> bool:
    """``holdfast.dev/inject: "false"`` on a RayService leaves it alone."""
    return annotations.get(INJECT, "").strip().lower() == "false"


def metadata(manifest: Manifest, part: str) -> Mapping[str, Any]:
    """Labels or annotations, whether there are any or not."""
    return (manifest.get("metadata") or {}).get(part) or {}


def raycluster_of(manifest: Manifest) -> str | None:
    """The RayCluster of a head pod or of a head Service; None for everything else.

    The Service ``<rayservice>-head-svc`` belongs to the RayService: it is people's, and KubeRay rewrites it.
    """
    if metadata(manifest, "labels").get("ray.io/node-type") != "head":
        return None
    return _owner(manifest, "RayCluster")


def rayservice_of(raycluster: Manifest) -> str | None:
    """The RayService that a RayCluster belongs to; None if it is a RayJob's, or somebody's own."""
    labels = metadata(raycluster, "labels")
    if labels.get("ray.io/originated-from-crd", "RayService") != "RayService":
        return None
    named = (labels[label] for label in _RAYSERVICE_LABELS if labels.get(label))
    return _owner(raycluster, "RayService") or next(named, None)


def _owner(manifest: Manifest, kind: str) -> str | None:
    owners = (manifest.get("metadata") or {}).get("ownerReferences") or ()
    names = (
        owner["name"] for owner in owners if owner["kind"] == kind and owner["apiVersion"].partition("/")[0] == "ray.io"
    )
    return next(names, None)

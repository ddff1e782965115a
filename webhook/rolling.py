"""``holdfast.dev/update-in-place: "false"``: a change of the static config rolls a new cluster (G8). Pure.

KubeRay makes a new cluster when ``rayClusterConfig`` changes, and an annotation of the head template is part of it
(facts on KubeRay: 6). So the hash of the static config is written there:

1. A pure function of the static config: comments, order of keys and dynamic applications do not count, and going back
   to an old config goes back to its hash.
2. Where the static config does not change, what stands there is carried unchanged, even where that is nothing:
   switching this on, or upgrading Holdfast, or a tool that sends its own annotations only, rolls nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from webhook.heads import Manifest
from webhook.names import STATIC_CONFIG_HASH, UPDATE_IN_PLACE
from webhook.yamltext import ServeText, canonical

_TEMPLATE = ("spec", "rayClusterConfig", "headGroupSpec", "template")
_ANNOTATIONS = (*_TEMPLATE, "metadata", "annotations")


def is_wanted(annotations: Mapping[str, str]) -> bool:
    """Did the owner of the RayService ask for it?"""
    return annotations.get(UPDATE_IN_PLACE, "").strip().lower() == "false"


def static_hash(config: ServeText, is_dynamic: Callable[[str], bool]) -> str:
    """The hash of a config without its dynamic applications."""
    static = [each for each in config.applications if not is_dynamic(str(each.get("name", "default")))]
    return hashlib.sha256(canonical({**config.options, "applications": static}).encode()).hexdigest()[:16]


def written_hash(rayservice: Manifest | None) -> str | None:
    """The hash that stands in a head template."""
    found = at(rayservice or {}, _ANNOTATIONS).get(STATIC_CONFIG_HASH)
    return None if found is None else str(found)


def rolled(rayservice: Manifest, value: str | None) -> dict[str, Any]:
    """The RayService with this hash in its head template, if it has one; with None it comes back as it is."""
    if value is None or not at(rayservice, _TEMPLATE):
        return dict(rayservice)
    return replaced(rayservice, (*_ANNOTATIONS, STATIC_CONFIG_HASH), value)


def warning(rayservice: Manifest) -> str | None:
    """What keeps KubeRay from rolling, if it shows in the RayService."""
    if at(rayservice, ("spec", "upgradeStrategy")).get("type") != "None":
        return None
    return (
        f'{UPDATE_IN_PLACE}: "false" has no effect while spec.upgradeStrategy.type is None, with which KubeRay never '
        "makes a new cluster: set it to NewCluster"
    )


def at(manifest: Manifest, path: Sequence[str]) -> Mapping[str, Any]:
    """The mapping at a path, empty where there is none."""
    for key in path:
        found = manifest.get(key)
        manifest = found if isinstance(found, Mapping) else {}
    return manifest


def replaced(manifest: Manifest, path: Sequence[str], value: object) -> dict[str, Any]:
    """The object with another value at a path; mappings that are missing on the way are made."""
    first, *rest = path
    if not rest:
        return {**manifest, first: value}
    below = manifest.get(first)
    return {**manifest, first: replaced(below if isinstance(below, Mapping) else {}, rest, value)}

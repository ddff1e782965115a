"""What of Holdfast is in the cluster, of whatever kind: by its name, its labels and its annotations."""

import json
from collections.abc import Iterable
from typing import Any

from tests.cluster.kubectl import kubectl

_TOLD, _GO_WITH_THEIR_HEADS = {"Event"}, {"Pod", "EndpointSlice"}
"""Events are history. A head's pod has its sidecar until it is replaced."""


async def find() -> list[str]:
    """Each as "Kind namespace/name"."""
    kinds = (await kubectl("api-resources", "--verbs=list", "--output=name")).split()
    listed = await kubectl("get", ",".join(kinds), "--all-namespaces", "--output=json", timeout_s=300)
    return ours(json.loads(listed)["items"])


def ours(objects: Iterable[dict[str, Any]]) -> list[str]:
    """Those of these objects that are Holdfast's, or that say something of it. Pure."""
    return sorted(
        f"{each['kind']} {each['metadata'].get('namespace', '')}/{each['metadata']['name']}"
        for each in objects
        if each["kind"] not in _TOLD | _GO_WITH_THEIR_HEADS and _speaks_of_it(each["metadata"])
    )


def _speaks_of_it(about: dict[str, Any]) -> bool:
    said = (about.get("labels") or {}) | (about.get("annotations") or {})
    marks = (name for name in said if name.startswith("holdfast.dev/"))
    part_of = said.get("app.kubernetes.io/part-of") == "holdfast"
    return "holdfast" in about["name"] or part_of or any(marks)

"""What a RayService says of one of its RayClusters, and of its dynamic applications. Pure."""

from __future__ import annotations

import re

from serveconfig.journal import Policy, Role
from webhook.heads import Manifest, metadata
from webhook.names import ARRIVAL_DEADLINE
from webhook.writers import Ownership

_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(s|m|h)?")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}


def role(rayservice: Manifest, raycluster: str) -> Role:
    """What KubeRay makes of a RayCluster (``status.activeServiceStatus``, ``pendingServiceStatus``; KubeRay 1.0-1.7).

    While it is named as both, it has the traffic already.
    """
    status = rayservice.get("status") or {}
    for each, key in ((Role.ACTIVE, "activeServiceStatus"), (Role.PENDING, "pendingServiceStatus")):
        if (status.get(key) or {}).get("rayClusterName") == raycluster:
            return each
    return Role.UNKNOWN


def policy(rayservice: Manifest) -> Policy:
    """What its annotations say."""
    annotations = metadata(rayservice, "annotations")
    ownership = Ownership.of(annotations, annotations)
    recorded = [name for name in ownership.added_by if ownership.is_dynamic(name)]
    deadline_s = deadline(annotations.get(ARRIVAL_DEADLINE))
    return Policy((*ownership.globs, *recorded), Policy().arrival_deadline_s if deadline_s is None else deadline_s)


def deadline(text: str | None) -> float | None:
    """A number of seconds, or one with ``s``, ``m`` or ``h``; None for nothing, and for everything else.

    A number of hundreds of digits is something else: it would be infinite, for which JSON has no word.
    """
    read = _DURATION.fullmatch((text or "").strip())
    return float(read[1]) * _SECONDS[read[2]] if read else None


def warning(rayservice: Manifest) -> str | None:
    """What to tell whoever wrote a deadline that cannot be read."""
    text = metadata(rayservice, "annotations").get(ARRIVAL_DEADLINE)
    if text is None or deadline(text) is not None:
        return None
    return f"{ARRIVAL_DEADLINE} is none of 600, 90s, 10m or 1h: it is taken for {Policy().arrival_deadline_s:g} s"

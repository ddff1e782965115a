"""What is wrong between a head Service and its head pods, and what puts it right. Pure.

A head Service leads to the sidecar if, and only if, its head has one (G11). It happens otherwise: the webhook was down
when one of the two was created, or refused the pod and could not know of the Service.

1. Without a head there is nothing to put right: the next one is injected, or mended then.
2. A pod that is on its way out, or has ended, is no head any more.
3. Of two heads one without a sidecar decides: Ray's own port is there on both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from webhook import services
from webhook.heads import Manifest, raycluster_of
from webhook.injection import has_sidecar
from webhook.names import RAYSERVICE, REDIRECTED
from webhook.notices import Notice, Reason


@dataclass(frozen=True, slots=True)
class Repair:
    """A head Service as it should be. ``rayservice`` is whom to tell, empty where that is not known."""

    service: dict[str, Any]
    rayservice: str
    notice: Notice

    def merge_patch(self) -> dict[str, Any]:
        """The change as a JSON merge patch, which only the version that was looked at takes (409 otherwise)."""
        about = self.service["metadata"]
        annotation = (about.get("annotations") or {}).get(REDIRECTED)
        return {
            "metadata": {"resourceVersion": about["resourceVersion"], "annotations": {REDIRECTED: annotation}},
            "spec": {"ports": self.service["spec"]["ports"]},
        }


def repair(service: Manifest, pods: Iterable[Manifest]) -> Repair | None:
    """What puts a head Service right; None if nothing is wrong. ``pods`` are the pods of its namespace."""
    raycluster = raycluster_of(service)
    heads = [pod for pod in pods if raycluster is not None and raycluster_of(pod) == raycluster and _lives(pod)]
    if not heads:
        return None
    has_sidecars = all(map(has_sidecar, heads))
    name, rayservice = service["metadata"]["name"], _rayservice(heads)
    if has_sidecars and services.redirectable(service) is services.Verdict.REDIRECTED:
        if services.is_redirected(service):
            return None
        text = f"port dashboard of Service {name} leads to the sidecar again: its head pod has one"
        return Repair(services.redirect(service), rayservice, Notice(Reason.REDIRECTED_SERVICE, text))
    if not has_sidecars and services.is_redirected(service):
        text = (
            f"port dashboard of Service {name} leads to Ray: its head pod has no sidecar, so dynamic applications are "
            "not kept. Delete the head pod once the webhook is well, and the next one gets a sidecar"
        )
        return Repair(services.restore(service), rayservice, Notice(Reason.RESTORED_SERVICE, text))
    return None


def undo(service: Manifest) -> Repair | None:
    """Holdfast goes: every Service leads to Ray again."""
    if not services.is_redirected(service):
        return None
    text = f"port dashboard of Service {service['metadata']['name']} leads to Ray: Holdfast is being uninstalled"
    return Repair(services.restore(service), "", Notice(Reason.RESTORED_SERVICE, text))


def _lives(pod: Manifest) -> bool:
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and "deletionTimestamp" not in pod["metadata"]


def _rayservice(heads: Iterable[Manifest]) -> str:
    annotations = ((pod["metadata"].get("annotations") or {}).get(RAYSERVICE) for pod in heads)
    return next((name for name in annotations if name), "")

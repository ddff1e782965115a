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
from webhook.names import REDIRECTED
from webhook.notices import Notice, Reason


@dataclass(frozen=True, slots=True)
class Repair:
    """A head Service as it should be, and what to tell."""

    service: dict[str, Any]
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
    has_sidecars, name = all(map(has_sidecar, heads)), service["metadata"]["name"]
    if has_sidecars == services.is_redirected(service):
        return None
    if not has_sidecars:
        text = (
            f"port dashboard of Service {name} leads to Ray: its head pod has no sidecar, so dynamic applications are "
            "not kept. Delete the head pod once the webhook is well, and the next one gets a sidecar"
        )
        return Repair(services.restore(service), Notice(Reason.RESTORED_SERVICE, text))
    if services.redirectable(service) is not services.Verdict.REDIRECTED:
        return None
    text = f"port dashboard of Service {name} leads to the sidecar again: its head pod has one"
    return Repair(services.redirect(service), Notice(Reason.REDIRECTED_SERVICE, text))


def undo(service: Manifest) -> Repair | None:
    """Holdfast goes: every Service leads to Ray again."""
    if not services.is_redirected(service):
        return None
    text = f"port dashboard of Service {service['metadata']['name']} leads to Ray: Holdfast is being uninstalled"
    return Repair(services.restore(service), Notice(Reason.RESTORED_SERVICE, text))


def _lives(pod: Manifest) -> bool:
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and "deletionTimestamp" not in pod["metadata"]

"""Every admission on one screen: which object, whose verdict, what becomes of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from webhook import injection, names, rayservices, services
from webhook.heads import RayServiceOwner, raycluster_of
from webhook.injection import SidecarForm
from webhook.journal import standing
from webhook.notices import Notice, Reason
from webhook.review import Decision, Request

V = TypeVar("V", bound=StrEnum)


class Aside(StrEnum):
    """Why nothing was decided. The value is a metric label and a log field: do not rename."""

    NOT_OURS = "not_ours"  # a kind or an operation that the webhook configuration should not send
    LOOKUP_FAILED = "lookup_failed"  # the API server did not say whose the object is
    FAILED = "failed"  # a fault of ours


OUTCOMES: dict[str, tuple[StrEnum, ...]] = {
    "Pod": (*injection.Verdict, *Aside),
    "Service": (*services.Verdict, *Aside),
    "RayService": (*rayservices.Outcome, *Aside),
}
"""Every outcome of every kind: the labels of the metric."""


@dataclass(frozen=True, slots=True)
class Admission:
    """What is decided with: the sidecar's form, and the API server's version as (major, minor)."""

    form: SidecarForm
    api_server: tuple[int, int]

    def decide(self, request: Request, owner: RayServiceOwner | None) -> Decision:
        """What becomes of the object. ``owner`` is asked for where ``raycluster_to_look_up`` names one."""
        match request.kind, request.operation:
            case "Pod", "CREATE":
                return self._pod(request, owner)
            case "Service", "CREATE":
                return _service(request, owner)
            case "RayService", "CREATE" | "UPDATE":
                return _warned(rayservices.admit(request.object, request.old, request.writer), request)
        return Decision(Aside.NOT_OURS)

    def _pod(self, request: Request, owner: RayServiceOwner | None) -> Decision:
        verdict = injection.verdict(request.object, owner)
        if verdict is injection.Verdict.REPAIRED:
            return Decision(verdict, injection.repair(request.object))
        if verdict is injection.Verdict.INJECTED and owner is not None:
            changed = injection.inject(request.object, owner, self.form, self.api_server)
            message = f"head pod {request.name} gets the sidecar {names.CONTAINER}"
            return Decision(verdict, changed, notices=(Notice(Reason.INJECTED_SIDECAR, message),))
        return _refused(verdict, injection.REFUSED, Reason.REFUSED_SIDECAR, f"head pod {request.name} gets no sidecar")


def _warned(decision: Decision, request: Request) -> Decision:
    warning = standing.warning(request.object)
    return replace(decision, warnings=(*decision.warnings, warning)) if warning else decision


def raycluster_to_look_up(request: Request) -> str | None:
    """The RayCluster whose RayService has to be known for a decision; None where nothing has to."""
    if request.operation == "CREATE" and request.kind in ("Pod", "Service"):
        return raycluster_of(request.object)
    return None


def _service(request: Request, owner: RayServiceOwner | None) -> Decision:
    verdict = services.verdict(request.object, owner)
    if verdict is services.Verdict.REDIRECTED:
        message = f"port dashboard of Service {request.name} leads to the sidecar"
        return Decision(
            verdict, services.redirect(request.object), notices=(Notice(Reason.REDIRECTED_SERVICE, message),)
        )
    return _refused(
        verdict, services.REFUSED, Reason.REFUSED_REDIRECT, f"Service {request.name} does not lead to the sidecar"
    )


def _refused(verdict: V, refused: dict[V, str], reason: Reason, what: str) -> Decision:
    if verdict not in refused:
        return Decision(verdict)
    message = f"{what}: {refused[verdict]}"
    return Decision(verdict, warnings=(message,), notices=(Notice(reason, message),))

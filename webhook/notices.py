"""What the owner of a RayService is told, in KubeRay's event style. Pure.

A reason is a word that people search for and alert on; the message says what happened and, where something is to be
done, what.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    """Why an Event was written. The value is shown by ``kubectl describe``: do not rename."""

    INJECTED_SIDECAR = "InjectedSidecar"
    REFUSED_SIDECAR = "RefusedSidecar"
    REDIRECTED_SERVICE = "RedirectedService"
    REFUSED_REDIRECT = "RefusedRedirect"
    RESTORED_SERVICE = "RestoredService"
    PUT_BACK_APPLICATIONS = "PutBackApplications"
    UNREADABLE_SERVE_CONFIG = "UnreadableServeConfig"
    CARRIED_OVER = "CarriedOver"
    NOT_CARRIED_OVER = "NotCarriedOver"
    IMPERATIVE_NOT_CARRIED = "ImperativeNotCarried"
    ARRIVAL_DEADLINE_PASSED = "ArrivalDeadlinePassed"

    @property
    def is_warning(self) -> bool:
        """Is something to be done about it?"""
        return self in _WARNINGS


_WARNINGS = frozenset(
    (
        Reason.REFUSED_SIDECAR,
        Reason.REFUSED_REDIRECT,
        Reason.RESTORED_SERVICE,
        Reason.UNREADABLE_SERVE_CONFIG,
        Reason.NOT_CARRIED_OVER,
        Reason.IMPERATIVE_NOT_CARRIED,
        Reason.ARRIVAL_DEADLINE_PASSED,
    )
)


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell."""

    reason: Reason
    message: str

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
    JOURNAL_FULL = "JournalFull"
    JOURNAL_PUT_ASIDE = "JournalPutAside"

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
        Reason.JOURNAL_FULL,
        Reason.JOURNAL_PUT_ASIDE,
    )
)


WHAT_TO_DO: dict[Reason, tuple[str, str]] = {
    Reason.INJECTED_SIDECAR: ("A head pod gets the sidecar.", ""),
    Reason.REFUSED_SIDECAR: (
        "A head pod that should have a sidecar cannot have one; it starts without.",
        "The message says what stands in the way: change the head group as it says, then delete the head pod.",
    ),
    Reason.REDIRECTED_SERVICE: ("KubeRay's port of a head Service leads to the sidecar.", ""),
    Reason.REFUSED_REDIRECT: (
        "A head Service that should lead to the sidecar cannot.",
        "The message names the port that is in the way: take it out of headService.",
    ),
    Reason.RESTORED_SERVICE: (
        "A head Service led to a sidecar that its head does not have; it leads to Ray again.",
        "The head was made while the webhook was away: delete its pod when it suits; the next one is protected.",
    ),
    Reason.PUT_BACK_APPLICATIONS: (
        "An update of the RayService left out applications of another writer; they were put back.",
        "",
    ),
    Reason.UNREADABLE_SERVE_CONFIG: (
        "KubeRay cannot read serveConfigV2. It was admitted as it is, and other writers' applications are held.",
        "Mend the YAML; the message names the line.",
    ),
    Reason.CARRIED_OVER: ("A new head or cluster has got dynamic applications from the journal.", ""),
    Reason.NOT_CARRIED_OVER: (
        "One of them could not be brought: Ray refuses its config, its route is taken, or serve.run has its name.",
        "Put it again, mended. It stays in the journal until it is deleted.",
    ),
    Reason.IMPERATIVE_NOT_CARRIED: (
        "Applications that serve.run had made are not there any more: Ray keeps no config of them.",
        "Deploy them again; over REST they will come along the next time.",
    ),
    Reason.ARRIVAL_DEADLINE_PASSED: (
        "Applications did not come up on a new cluster in time; it goes on without them.",
        "See why they do not run (`holdfast apps list`), or give them longer: holdfast.dev/arrival-deadline.",
    ),
    Reason.JOURNAL_FULL: (
        "The configs of the dynamic applications do not fit into the journal; what is new is not stored.",
        "Delete applications that nobody needs, or have HOLDFAST_WEBHOOK_MAX_JOURNAL_BYTES raised.",
    ),
    Reason.JOURNAL_PUT_ASIDE: (
        "The journal's Secret could not be read. It is kept under another name, and a new journal has begun.",
        "While the applications run, their sidecar fills it. See who writes Secrets there; delete the one kept.",
    ),
}
"""Of every reason what has happened, and what its owner can do: docs/messages.md is written from it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell."""

    reason: Reason
    message: str

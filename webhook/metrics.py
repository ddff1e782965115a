"""Every metric of the webhook: name, unit, labels. All exist at zero before the first request.

No label holds a name of an object or anything else of a request.
"""

from __future__ import annotations

from enum import StrEnum

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from webhook.admission import OUTCOMES
from webhook.notices import Reason

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

RESOURCES = {"Pod": "pods", "Service": "services", "RayService": "rayservices"}
"""The label of a kind."""

OTHER = "other"
"""The label of every other kind: the webhook configuration should send none."""

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0)
"""5 ms is the bar, 3 s is when the API server gives up."""


class Told(StrEnum):
    """What became of an Event. The value is a metric label: do not rename."""

    WRITTEN = "written"
    COUNTED = "counted"  # the same again: its count went up
    DROPPED = "dropped"  # too many of one RayService, or of all
    FAILED = "failed"


class JournalAnswer(StrEnum):
    """How the journal answered. The value is a metric label: do not rename."""

    DONE = "done"
    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"  # no token
    FORBIDDEN = "forbidden"  # a token that does not speak for that RayService
    CONFLICT = "conflict"  # another replica was faster, each time
    TOO_LARGE = "too_large"  # more at once than is read: the sidecar sends it in halves
    FULL = "full"
    FAILED = "failed"  # a fault of ours
    UNAVAILABLE = "unavailable"  # the API server did not do its part


class Metrics:
    """The webhook's metrics, in a registry of their own. Certificates register theirs there, too."""

    def __init__(self, version: str) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # a second series for each, which nobody asks for
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.admissions = Counter(
            "holdfast_admissions_total", "Admissions, by what was decided.", ["resource", "outcome"], registry=registry
        )
        self.admission_seconds = Histogram(
            "holdfast_admission_seconds",
            "From the review's last byte to the answer's first.",
            ["resource"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.journal_requests = Counter(
            "holdfast_journal_requests_total",
            "Requests of sidecars to the journal, by how they were answered.",
            ["method", "outcome"],
            registry=registry,
        )
        self.journal_seconds = Histogram(
            "holdfast_journal_seconds",
            "How long the journal took to answer.",
            ["method"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.journal_conflicts = Counter(
            "holdfast_journal_conflicts_total",
            "Writes of a journal that another replica was faster with; each was tried again.",
            registry=registry,
        )
        self.repairs = Counter(
            "holdfast_service_repairs_total",
            "Head Services that the watchdog led to the sidecar, or back to Ray.",
            ["reason"],
            registry=registry,
        )
        self.watch_failures = Counter(
            "holdfast_watch_failures_total", "Lists and watches of heads that failed.", registry=registry
        )
        self.events = Counter(
            "holdfast_events_total", "Events, by what became of them.", ["outcome"], registry=registry
        )
        Gauge("holdfast_build_info", "1, with the version.", ["version"], registry=registry).labels(version).set(1)
        self._create_at_zero()

    def _create_at_zero(self) -> None:
        for kind, outcomes in OUTCOMES.items():
            self.admission_seconds.labels(RESOURCES[kind])
            for outcome in outcomes:
                self.admissions.labels(RESOURCES[kind], outcome)
        for reason in (Reason.REDIRECTED_SERVICE, Reason.RESTORED_SERVICE):
            self.repairs.labels(reason)
        for method in ("GET", "PATCH"):
            self.journal_seconds.labels(method)
            for answer in JournalAnswer:
                self.journal_requests.labels(method, answer)
        for told in Told:
            self.events.labels(told)

    def print(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self.registry)

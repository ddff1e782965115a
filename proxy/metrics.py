"""Every metric of the sidecar: name, unit, labels. All exist at zero before the first request.

No label holds a name of an application, a path or anything else of a request.
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

from serveconfig.callers import Caller, Handling

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 5.0, 10.0, 30.0, 60.0)
"""1.5 s and 2 s are KubeRay's limits; beyond them a slow Ray shows."""


class Outcome(StrEnum):
    """What became of a PUT, or of a deletion. The value is a metric label and a log field: do not rename."""

    FORWARDED = "forwarded"
    UNCHANGED = "unchanged"
    REFUSED = "refused"  # by Holdfast, for the caller to mend
    RAY_REFUSED = "ray_refused"
    UNKNOWN_STATE = "unknown_state"  # what runs is not known: nothing was sent
    OUTCOME_UNKNOWN = "outcome_unknown"  # sent, and no answer


class JournalCall(StrEnum):
    """What was asked of the journal. The value is a metric label: do not rename."""

    READ = "read"
    WRITE = "write"


class JournalOutcome(StrEnum):
    """What became of it. The value is a metric label: do not rename."""

    DONE = "done"
    REFUSED = "refused"  # it answered, and not with what was asked for
    UNREACHABLE = "unreachable"


class Metrics:
    """The sidecar's metrics, in a registry of their own."""

    def __init__(self, version: str) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call] # a second series for each, which nobody asks for
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.requests = Counter(
            "holdfast_requests_total",
            "Requests, by what was done with them.",
            ["handling", "caller"],
            registry=registry,
        )
        self.request_seconds = Histogram(
            "holdfast_request_seconds",
            "From the request's head to the last byte of the answer; requests passed through not included.",
            ["handling"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.puts = Counter(
            "holdfast_puts_total", "Changes of the Serve config, by outcome.", ["caller", "outcome"], registry=registry
        )
        self.kept = Counter(
            "holdfast_apps_would_have_been_deleted_total",
            "Dynamic applications that a PUT by KubeRay would have deleted, counted at each such PUT.",
            registry=registry,
        )
        self.retired = Counter(
            "holdfast_apps_retired_total", "Applications deleted because their owner said so.", registry=registry
        )
        self.taken_over = Counter(
            "holdfast_apps_taken_over_total",
            "Applications of serve.run whose name a PUT has claimed since: their replicas were replaced.",
            registry=registry,
        )
        self.stale = Counter(
            "holdfast_stale_answers_total",
            "Answers to KubeRay from before, as Ray was late or down.",
            registry=registry,
        )
        self.ray_failures = Counter(
            "holdfast_ray_failures_total", "Calls to Ray without a usable answer.", ["call"], registry=registry
        )
        self.record_failures = Counter(
            "holdfast_record_failures_total", "Reads or writes of the record that failed.", registry=registry
        )
        self.journal_calls = Counter(
            "holdfast_journal_calls_total", "Calls to the journal.", ["call", "outcome"], registry=registry
        )
        self.journal_reachable = Gauge(
            "holdfast_journal_reachable", "1 if the journal answered the last call.", registry=registry
        )
        self.journal_unsent = Gauge(
            "holdfast_journal_unsent_changes", "Changes that the journal does not have yet.", registry=registry
        )
        self.carried_over = Counter(
            "holdfast_apps_carried_over_total",
            "Dynamic applications brought to this cluster from the journal.",
            registry=registry,
        )
        self.not_carried_over = Counter(
            "holdfast_apps_not_carried_over_total",
            "Dynamic applications of the journal that Ray or Holdfast refused to bring to this cluster.",
            registry=registry,
        )
        self.arriving = Gauge(
            "holdfast_apps_arriving",
            "Applications that have to run, or to fail, before this cluster gets the traffic.",
            registry=registry,
        )
        self.applications = Gauge(
            "holdfast_applications",
            "Applications when Ray last said what runs.",
            ["owner", "state"],
            registry=registry,
        )
        self.declared_known = Gauge(
            "holdfast_declared_known",
            "1 if it is known what KubeRay declares, 0 before its first PUT.",
            registry=registry,
        )
        self.kuberay_seen = Gauge(
            "holdfast_kuberay_last_request_timestamp_seconds",
            "When KubeRay's last Serve call came through here, in Unix time.",
            registry=registry,
        )
        Gauge("holdfast_build_info", "1, with the version.", ["version"], registry=registry).labels(version).set(1)
        self._create_at_zero()

    def _create_at_zero(self) -> None:
        for handling in Handling:
            if handling is not Handling.PASS:
                self.request_seconds.labels(handling)
            for caller in Caller:
                self.requests.labels(handling, caller)
        for caller in Caller:
            for outcome in Outcome:
                self.puts.labels(caller, outcome)
        for each in JournalCall:
            for became in JournalOutcome:
                self.journal_calls.labels(each, became)
        for call in ("applications", "put", "version", "actors"):
            self.ray_failures.labels(call)

    def print(self) -> bytes:
        """The metrics in Prometheus' text format."""
        return generate_latest(self._registry)

"""The Grafana dashboard, as its questions and what they ask Prometheus: `make dashboard` writes dashboard.json from it.

1. A row is a question that a person asks; its panels answer it. Grafana's JSON around it is made in grafana.py.
2. Every query returns data on a cluster where nothing went wrong, for all metrics exist at zero. `make monitoring` asks
   them of a real Prometheus.
"""

from __future__ import annotations

import json
from pathlib import Path

from manifests.monitoring.grafana import HEADS, Panel, Query, dashboard

FILE = Path(__file__).with_name("dashboard.json")


def lately(metric: str, *by: str, legend: str, heads: str = "", per: str = "rate") -> Query:
    """A counter's curve, by these labels: each second, or (``per="increase"``) how many in each step."""
    grouped = f"sum by ({', '.join(by)})" if by else "sum"
    return Query(f"{grouped} ({per}({metric}{heads}[$__rate_interval]))", legend)


def in_range(metric: str, *by: str, legend: str, heads: str = "") -> Query:
    """How much a counter has grown in the time that is shown."""
    grouped = f"sum by ({', '.join(by)})" if by else "sum"
    return Query(f"{grouped} (increase({metric}{heads}[$__range]))", legend)


def slowest(histogram: str, by: str, heads: str = "") -> Query:
    """The 99th percentile."""
    rate = f"rate({histogram}_bucket{heads}[$__rate_interval])"
    return Query(f"histogram_quantile(0.99, sum by (le, {by}) ({rate}))", f"{{{{{by}}}}}")


HEAD = "{{rayservice}} {{pod}}"

_COMING_THROUGH = (
    Panel(
        "Since KubeRay's last Serve call",
        "s",
        (Query(f"time() - (holdfast_kuberay_last_request_timestamp_seconds{HEADS} > 0)", HEAD),),
        "KubeRay asks every few seconds. Minutes: it goes past the sidecar, or its operator is down.",
    ),
    Panel(
        "Requests",
        "reqps",
        (lately("holdfast_requests_total", "caller", "handling", legend="{{caller}} {{handling}}", heads=HEADS),),
    ),
    Panel(
        "Time to answer, 99th percentile",
        "s",
        (slowest("holdfast_request_seconds", "handling", HEADS),),
        "KubeRay gives up after 2 s.",
    ),
    Panel(
        "Heads that know what KubeRay declares",
        "short",
        (Query(f"sum by (rayservice) (holdfast_declared_known{HEADS})", "{{rayservice}}"),),
        is_now=True,
    ),
    Panel("Versions", "short", (Query("count by (version) (holdfast_build_info)", "{{version}}"),), is_now=True),
)

_LOST = (
    Panel(
        "Applications that KubeRay's PUTs would have deleted",
        "short",
        (
            in_range(
                "holdfast_apps_would_have_been_deleted_total",
                *("namespace", "rayservice"),
                legend="{{namespace}}/{{rayservice}}",
                heads=HEADS,
            ),
        ),
        "In the time that is shown, counted at each such PUT.",
        is_now=True,
    ),
    Panel(
        "Changes of the Serve config",
        "short",
        (
            lately(
                "holdfast_puts_total",
                *("caller", "outcome"),
                legend="{{caller}} {{outcome}}",
                heads=HEADS,
                per="increase",
            ),
        ),
    ),
    Panel(
        "Deleted or replaced because somebody said so",
        "short",
        (
            lately("holdfast_apps_retired_total", legend="deleted by their owner", heads=HEADS, per="increase"),
            lately("holdfast_apps_taken_over_total", legend="taken over from serve.run", heads=HEADS, per="increase"),
        ),
    ),
)

_ARRIVING = (
    Panel(
        "Applications",
        "short",
        (Query(f"sum by (owner, state) (holdfast_applications{HEADS})", "{{owner}} {{state}}"),),
    ),
    Panel(
        "Arriving",
        "short",
        (Query(f"holdfast_apps_arriving{HEADS}", HEAD),),
        "A new cluster gets the traffic when they have run or failed, or at the deadline.",
    ),
    Panel(
        "Brought from the journal",
        "short",
        (
            in_range("holdfast_apps_carried_over_total", legend="carried over", heads=HEADS),
            in_range("holdfast_apps_not_carried_over_total", legend="refused", heads=HEADS),
        ),
        "In the time that is shown. Event NotCarriedOver on the RayService names those that were refused.",
        is_now=True,
    ),
)

_STALE = (
    Panel(
        "Stale answers, and failures of Ray",
        "cps",
        (
            lately("holdfast_stale_answers_total", legend="stale answers", heads=HEADS),
            lately("holdfast_ray_failures_total", "call", legend="Ray failed: {{call}}", heads=HEADS),
            lately("holdfast_record_failures_total", legend="the sidecar's disk failed", heads=HEADS),
        ),
    ),
    Panel(
        "Changes that the journal does not have",
        "short",
        (Query(f"holdfast_journal_unsent_changes{HEADS}", HEAD),),
        "Should the head be lost now, they are lost with it.",
    ),
    Panel(
        "Heads that reach the journal",
        "short",
        (Query(f"sum by (rayservice) (holdfast_journal_reachable{HEADS})", "{{rayservice}}"),),
        is_now=True,
    ),
    Panel(
        "Calls to the journal, as sidecars saw them",
        "cps",
        (lately("holdfast_journal_calls_total", "call", "outcome", legend="{{call}} {{outcome}}", heads=HEADS),),
    ),
    Panel(
        "Calls to the journal, as they were answered",
        "cps",
        (
            lately("holdfast_journal_requests_total", "method", "outcome", legend="{{method}} {{outcome}}"),
            lately("holdfast_journal_conflicts_total", legend="tried again: another replica was faster"),
        ),
        "`full`: nothing new is carried over for a RayService. Event JournalFull is on it.",
    ),
    Panel("Time of a call to the journal, 99th percentile", "s", (slowest("holdfast_journal_seconds", "method"),)),
)

_WEBHOOK = (
    Panel(
        "Admissions",
        "cps",
        (lately("holdfast_admissions_total", "resource", "outcome", legend="{{resource}} {{outcome}}"),),
    ),
    Panel(
        "Time of an admission, 99th percentile",
        "s",
        (slowest("holdfast_admission_seconds", "resource"),),
        "The API server gives up after 3 s, and admits without.",
    ),
    Panel(
        "Watchdog and Events",
        "short",
        (
            lately("holdfast_service_repairs_total", "reason", legend="{{reason}}", per="increase"),
            lately("holdfast_watch_failures_total", legend="watches that failed", per="increase"),
            lately("holdfast_events_total", "outcome", legend="Events {{outcome}}", per="increase"),
        ),
    ),
)

_CERTIFICATES = (
    Panel(
        "Until the end",
        "s",
        (
            Query("min(holdfast_certificate_expiry_timestamp_seconds > 0) - time()", "certificate"),
            Query(
                "min(holdfast_certificate_authority_expiry_timestamp_seconds > 0) - time() or vector(0)", "authority"
            ),
        ),
        "Renewed at two thirds of their life. An authority that is not Holdfast's own stands at 0.",
        is_now=True,
    ),
    Panel(
        "Renewals",
        "short",
        (
            in_range("holdfast_certificate_renewals_total", "reason", legend="{{reason}}"),
            in_range("holdfast_certificate_trust_writes_total", legend="caBundle written"),
        ),
        "In the time that is shown.",
        is_now=True,
    ),
    Panel(
        "Steps of the rotation that failed",
        "short",
        (lately("holdfast_certificate_failures_total", legend="failed", per="increase"),),
    ),
)

ROWS = {
    "Is KubeRay going through the sidecar?": _COMING_THROUGH,
    "What would have been lost?": _LOST,
    "What runs, and what is arriving?": _ARRIVING,
    "What is stale, or not safe yet?": _STALE,
    "Does the webhook do its work?": _WEBHOOK,
    "When do certificates end?": _CERTIFICATES,
}


def printed() -> str:
    """The file's text."""
    return json.dumps(dashboard(ROWS), indent=2) + "\n"


if __name__ == "__main__":
    FILE.write_text(printed())

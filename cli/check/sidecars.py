"""What a sidecar says of itself: does KubeRay come through it, has it the journal? Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from cli.check import pods
from cli.check.cluster import span
from cli.check.findings import Finding, failed, warning
from cli.check.seen import NotSeenError, Seen
from webhook import names
from webhook.heads import metadata
from webhook.journal.store import secret_name
from webhook.raystart import environment

Manifest = Mapping[str, Any]

SILENT_S = 120.0
"""KubeRay looks at Serve every 2 s (``ServiceDefaultRequeueDuration``); a minute may pass while it makes a cluster."""

_IMAGE = "HOLDFAST_WEBHOOK_SIDECAR_IMAGE"


def check(title: str, pod: Manifest, seen: Seen, now: datetime) -> Iterator[Finding]:
    """The findings about one sidecar that runs."""
    name = pod["metadata"]["name"]
    yield from _image(title, pod, seen)
    status = _status(seen, pod)
    if isinstance(status, NotSeenError):
        yield warning("sidecar", f"{title}: the sidecar of head {name} was not asked: {status}", _ASK)
        return
    yield from _passing(title, pod, status, now)
    yield from _journal(title, pod, status, seen)


_ASK = "it takes the right to get pods/proxy, and RAY_AUTH_TOKEN where Ray asks for one"


def last_request(seen: Seen, pod: Manifest) -> str:
    """How long before the sidecar was asked KubeRay came last, in words; empty where that is not known."""
    status = _status(seen, pod)
    at = None if isinstance(status, NotSeenError) else status.get("kuberay_last_request")
    theirs = seen.answers.get("clock")
    if not at or not isinstance(theirs, datetime):
        return ""
    return f"{span(max(0.0, (theirs - datetime.fromisoformat(at)).total_seconds()))} ago"


def _passing(title: str, pod: Manifest, status: Manifest, now: datetime) -> Iterator[Finding]:
    where, name, at = pod["metadata"]["namespace"], pod["metadata"]["name"], status.get("kuberay_last_request")
    began = pod["metadata"].get("creationTimestamp")
    since = at or began
    silent_s = (now - datetime.fromisoformat(since)).total_seconds() if since else 0.0
    if silent_s > SILENT_S:
        what = f"for {span(silent_s)}" if at else "at all"
        text = f"{title}: KubeRay has not come through the sidecar of head {name} {what}"
        fix = f"the operator's log says why; does a NetworkPolicy of {where} keep it from port {names.PROXY_PORT}?"
        yield failed("kuberay-requests", text, fix)


def _journal(title: str, pod: Manifest, status: Manifest, seen: Seen) -> Iterator[Finding]:
    where, name, journal = pod["metadata"]["namespace"], pod["metadata"]["name"], status.get("journal")
    rayservice = metadata(pod, "annotations").get(names.RAYSERVICE, title.partition("/")[2])
    if journal is None:
        text = f"{title}: head {name} has no journal: dynamic applications do not come along to the next head"
        yield warning("journal", text, "the webhook gives one to heads it injects: docs/journal.md")
    elif journal.get("problem"):
        fix = "the sidecar keeps what changes and tries again; see the webhook's log"
        yield failed("journal", f"{title}: the journal does not answer head {name}: {journal['problem']}", fix)
    elif seen.answers.get("journals", {}).get((where, rayservice)) is False and _is_written(status):
        fix = "nothing: the sidecar fills a new one within a minute; see who deletes Secrets there"
        yield failed("journal", f"{title}: the journal's Secret {secret_name(rayservice)} is gone", fix)


def _is_written(status: Manifest) -> bool:
    return any(each.get("journal") == "written" for each in status.get("dynamic") or ())


def _image(title: str, pod: Manifest, seen: Seen) -> Iterator[Finding]:
    """After an upgrade of Holdfast heads keep their sidecar until the next one."""
    deployment = seen["deployment"] or {}
    containers = (((deployment.get("spec") or {}).get("template") or {}).get("spec") or {}).get("containers") or [{}]
    given, has = environment(containers[0]).get(_IMAGE), pods.sidecar(pod).get("image")
    if given and has and given != has:
        where, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        text = f"{title}: the sidecar of head {name} is {has}, and the webhook gives {given} by now"
        yield warning(
            "sidecar", text, f"the next head gets that, at a time that suits: kubectl -n {where} delete pod {name}"
        )


def _status(seen: Seen, pod: Manifest) -> Any:  # noqa: ANN401 - JSON
    key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
    return seen.answers.get("statuses", {}).get(key, NotSeenError("it was not there a moment ago"))

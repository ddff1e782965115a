"""The checks of the installation itself: is the webhook asked, may it, does it run, is it trusted? Pure.

What is a cause comes before what it causes: one that is scaled to nothing lets its certificate end.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from certs.bundle import CA_CERT, CERT, UnreadableBundleError, parse_certificates
from certs.renewal import names_of
from certs.store import trusted
from cli.check import policies
from cli.check.cluster import span
from cli.check.findings import Finding, failed, ok, warning
from cli.check.seen import NotSeenError, Seen, kept_by_cert_manager

_INSTALL = "kubectl apply -k manifests/base"
_LOGS = "kubectl -n {namespace} logs deploy/{service}"


def configuration(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Does the API server ask the webhook?"""
    name, found = "webhook-configuration", seen["configuration"]
    if found is None:
        yield failed(name, "the API server is not told to ask the webhook", _INSTALL)
        return
    failure_policies = sorted({each["failurePolicy"] for each in found["webhooks"]})
    ours = [each for each in found["webhooks"] if _service(each) == (seen.place.namespace, seen.place.service)]
    if len(ours) < len(found["webhooks"]):
        yield failed(name, f"it leads elsewhere than to {seen.place.namespace}/{seen.place.service}", _INSTALL)
    else:
        yield ok(name, f"asks about {len(ours)} kinds of objects, failurePolicy {', '.join(failure_policies)}")


def deployed(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Is there to be a webhook at all?"""
    name, deployment = "webhook", seen["deployment"]
    if deployment is None:
        yield failed(name, f"there is no Deployment {seen.place.namespace}/{seen.place.service}", _INSTALL)
    elif deployment["spec"]["replicas"] == 0:
        fix = f"kubectl -n {seen.place.namespace} scale deploy/{seen.place.service} --replicas=2"
        yield failed(name, "the webhook is scaled to 0: new heads get no sidecar, and there is no journal", fix)


def granted(seen: Seen, _: datetime) -> Iterator[Finding]:
    """May the webhook what it has to?"""
    name = "webhook-rights"
    if seen["deployment"] is None:
        return
    reviews = seen["grants"]
    if not_seen := next((each for each in reviews.values() if isinstance(each, NotSeenError)), None):
        raise not_seen
    missing = [str(grant) for grant, allowed in reviews.items() if not allowed]
    if missing:
        yield failed(name, f"the webhook may not {', '.join(missing)}", f"its roles were changed: {_INSTALL}")
    else:
        yield ok(name, "the webhook may do all that it has to")


def certificate(seen: Seen, now: datetime) -> Iterator[Finding]:
    """Is it good, for these names, and for how long? ``now`` is the API server's: it is who looks at it."""
    name = "certificate"
    try:
        found = parse_certificates(_from_secret(seen, CERT))[0]
    except UnreadableBundleError:
        yield failed(name, "the webhook has no certificate", f"holdfast certs; {_logs(seen)}")
        return
    missing = set(seen.place.names()[:1]) - names_of(found)
    days = (found.not_valid_after_utc - now).days
    if missing:
        yield failed(name, f"the webhook's certificate is not for {', '.join(missing)}", "holdfast certs")
    elif now >= found.not_valid_after_utc:
        yield failed(name, f"the webhook's certificate ended {-days} days ago", f"holdfast certs; {_logs(seen)}")
    elif now < found.not_valid_before_utc:
        wait = span((found.not_valid_before_utc - now).total_seconds())
        text = f"the webhook's certificate becomes good in {wait} only: its maker's clock is ahead of the API server's"
        yield failed(name, text, f"set the clocks of the nodes, then kubectl -n {_secret_to_delete(seen)}")
    else:
        yield ok(name, f"the webhook's certificate is good for {days} more days")


def trust(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Does the API server trust the certificate?"""
    name, found = "ca-bundle", seen["configuration"]
    if found is None:
        return
    bundles = trusted(found)
    if kept_by_cert_manager(found):
        is_there = b"" not in bundles
        fix = "cert-manager's cainjector writes it: kubectl -n cert-manager logs deploy/cert-manager-cainjector"
        yield ok(name, "kept by cert-manager") if is_there else failed(name, "cert-manager has not written it yet", fix)
        return
    shared = _from_secret(seen, CA_CERT)
    if bundles == {shared}:
        yield ok(name, "the API server trusts the webhook's authority")
    else:
        yield failed(name, "the API server does not trust the webhook's authority", f"holdfast certs; {_logs(seen)}")


def replicas(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Do the webhook's pods run?"""
    name, deployment = "webhook", seen["deployment"]
    if deployment is None or deployment["spec"]["replicas"] == 0:
        return
    wanted, ready = deployment["spec"]["replicas"], deployment.get("status", {}).get("readyReplicas", 0)
    text = f"{ready} of {wanted} replicas are ready"
    if ready == 0:
        yield failed(name, text, f"kubectl -n {seen.place.namespace} describe pods; {_logs(seen)}")
    elif ready < wanted:
        yield warning(name, text, f"kubectl -n {seen.place.namespace} get pods; {_logs(seen)}")
    else:
        yield ok(name, text)


def answers(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Can the API server reach it?"""
    name = "reachable"
    if blocking := _blocking(seen):
        text = f"NetworkPolicy {blocking} in namespace {seen.place.namespace} lets nobody reach the webhook"
        yield failed(name, text, "let the API server in on its port https; it has no labels: give no `from`")
        return
    try:
        reached = seen["readyz"] is not None
    except NotSeenError as refused:
        yield failed(name, f"the API server does not reach the webhook: {refused}", f"{_logs(seen)}; NetworkPolicies")
        return
    if reached:
        yield ok(name, "the API server reaches the webhook")
    else:
        yield failed(name, "the webhook's Service is missing", _INSTALL)


def _blocking(seen: Seen) -> str:
    """The NetworkPolicies that keep everybody from the webhook's pods."""
    try:
        template, found = (seen["deployment"] or {})["spec"]["template"], seen["policies"]
    except (KeyError, NotSeenError):
        return ""
    about = {"namespace": seen.place.namespace, **(template.get("metadata") or {})}
    port = next(
        (each for each in template["spec"]["containers"][0].get("ports") or () if each.get("name") == "https"), None
    )
    return policies.blocking({"metadata": about}, found, port["containerPort"], "https") if port else ""


def _from_secret(seen: Seen, key: str) -> bytes:
    data = (seen["secret"] or {}).get("data") or {}
    return base64.b64decode(data.get(key, ""))


def _secret_to_delete(seen: Seen) -> str:
    return f"{seen.place.namespace} delete secret {seen.place.secret}"


def _service(webhook: dict[str, Any]) -> tuple[str | None, str | None]:
    service = webhook["clientConfig"].get("service") or {}
    return service.get("namespace"), service.get("name")


def _logs(seen: Seen) -> str:
    return _LOGS.format(namespace=seen.place.namespace, service=seen.place.service)

"""The checks, in the order a person would ask: the cluster, KubeRay, Holdfast, and then each RayService. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from certs.bundle import CA_CERT, CERT, UnreadableBundleError, parse_certificates
from certs.renewal import names_of
from certs.store import trusted
from cli.check import heads
from cli.check.findings import Finding, failed, ok, warning
from cli.check.seen import NotSeenError, Seen

Rule = Callable[[Seen, datetime], Iterable[Finding]]

MATCH_CONDITIONS_SINCE, NATIVE_SIDECARS_SINCE = (1, 28), (1, 29)
"""The first Kubernetes that has them without being asked."""

KUBERAY_FROM, KUBERAY_TO = (1, 0), (1, 7)
_CERT_MANAGER = "cert-manager.io/inject-ca-from"
_INSTALL = "kubectl apply -k manifests/base"
_LOGS = "kubectl -n {namespace} logs deploy/{service}"


def findings(seen: Seen, now: datetime, *, pre: bool, namespace: str | None) -> list[Finding]:
    """Every finding. ``pre``: before the installation. ``namespace``: only the RayServices there."""

    def rayservices(seen: Seen, _: datetime) -> Iterable[Finding]:
        return heads.check(seen, namespace)

    rules = BEFORE if pre else {**INSTALLED, "rayservice": rayservices}
    return [finding for name, rule in rules.items() for finding in _apply(name, rule, seen, now)]


def _apply(name: str, rule: Rule, seen: Seen, now: datetime) -> Iterator[Finding]:
    try:
        yield from rule(seen, now)
    except NotSeenError as refused:
        yield warning(name, f"not checked: {refused}", "ask somebody who may look, or for the right to")


def kubernetes(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Is the API server new enough?"""
    name, said = "kubernetes", seen["version"]
    version = (_digits(said["major"]), _digits(said["minor"]))
    text = f"Kubernetes {said['gitVersion']}"
    if version < MATCH_CONDITIONS_SINCE:
        yield failed(
            name, f"{text} has no matchConditions", "upgrade to 1.28 or newer, or use `holdfast inject` instead"
        )
    elif version < NATIVE_SIDECARS_SINCE:
        fix = "upgrade to 1.29; until then the sidecar is a plain container: under restartPolicy Never it ends for good"
        yield warning(name, f"{text} has no native sidecars", fix)
    else:
        yield ok(name, text)


def definitions(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Does the cluster know RayServices of the version that is asked about?"""
    name, definition = "rayservice-definition", seen["definition"]
    if definition is None:
        yield failed(name, "there are no RayServices in this cluster", "install KubeRay 1.0 or newer")
        return
    served = [each["name"] for each in definition["spec"]["versions"] if each.get("served")]
    if "v1" in served:
        yield ok(name, f"RayServices are served as {', '.join(sorted(served))}")
    else:
        yield failed(
            name, f"RayServices are served as {', '.join(served)} only", "upgrade KubeRay's definitions to 1.0"
        )


def operator(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Which KubeRay runs?"""
    name = "kuberay"
    if not seen["operators"]:
        yield warning(name, "no KubeRay operator found by its labels", "nothing to do if it runs elsewhere")
    for deployment in seen["operators"]:
        where = f"{deployment['metadata']['namespace']}/{deployment['metadata']['name']}"
        image = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
        found = re.search(r":v?(\d+)\.(\d+)", image)
        version = (int(found[1]), int(found[2])) if found else None
        if version is None:
            yield warning(name, f"{where} runs {image}, which does not tell its version", "1.0 to 1.7 are supported")
        elif KUBERAY_FROM <= version <= KUBERAY_TO:
            yield ok(name, f"KubeRay {found[0].removeprefix(':')} in {where}" if found else where)
        else:
            yield warning(name, f"{where} runs {image}", "1.0 to 1.7 are tested; read docs/compatibility.md")


def rights(seen: Seen, _: datetime) -> Iterator[Finding]:
    """May the person who asks install?"""
    name = "rights"
    for (_, resource), allowed in seen["rights"].items():
        if isinstance(allowed, NotSeenError):
            raise allowed
        if not allowed:
            yield failed(name, f"you may not create {resource}", "ask a cluster administrator to install Holdfast")
            return
    yield ok(name, "you may create everything that is installed")


def leftovers(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Is there a webhook configuration without a webhook?"""
    name = "leftovers"
    if seen["configuration"] is not None and seen["deployment"] is None:
        yield failed(name, "a webhook configuration is left of an earlier installation", "holdfast uninstall")
    elif seen["deployment"] is not None:
        yield ok(name, "Holdfast is installed already; installing again upgrades it")
    else:
        yield ok(name, "nothing is left of an earlier installation")


def configuration(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Does the API server ask the webhook?"""
    name, found = "webhook-configuration", seen["configuration"]
    if found is None:
        yield failed(name, "the API server is not told to ask the webhook", _INSTALL)
        return
    policies = sorted({each["failurePolicy"] for each in found["webhooks"]})
    ours = [each for each in found["webhooks"] if _service(each) == (seen.place.namespace, seen.place.service)]
    if len(ours) < len(found["webhooks"]):
        yield failed(name, f"it leads elsewhere than to {seen.place.namespace}/{seen.place.service}", _INSTALL)
    else:
        yield ok(name, f"asks about {len(ours)} kinds of objects, failurePolicy {', '.join(policies)}")


def replicas(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Do the webhook's pods run?"""
    name, deployment = "webhook", seen["deployment"]
    if deployment is None:
        yield failed(name, f"there is no Deployment {seen.place.namespace}/{seen.place.service}", _INSTALL)
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
    try:
        reached = seen["readyz"] is not None
    except NotSeenError as refused:
        yield failed(name, f"the API server does not reach the webhook: {refused}", f"{_logs(seen)}; NetworkPolicies")
        return
    if reached:
        yield ok(name, "the API server reaches the webhook")
    else:
        yield failed(name, "the webhook's Service is missing", _INSTALL)


def trust(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Does the API server trust the certificate?"""
    name, found = "ca-bundle", seen["configuration"]
    if found is None:
        return
    bundles = trusted(found)
    if _CERT_MANAGER in found["metadata"].get("annotations", {}):
        is_there = b"" not in bundles
        fix = "cert-manager's cainjector writes it: kubectl -n cert-manager logs deploy/cert-manager-cainjector"
        yield ok(name, "kept by cert-manager") if is_there else failed(name, "cert-manager has not written it yet", fix)
        return
    shared = _from_secret(seen, CA_CERT)
    if bundles == {shared}:
        yield ok(name, "the API server trusts the webhook's authority")
    else:
        yield failed(name, "the API server does not trust the webhook's authority", f"holdfast certs; {_logs(seen)}")


def certificate(seen: Seen, now: datetime) -> Iterator[Finding]:
    """Is it good, for these names, and for how long?"""
    name = "certificate"
    try:
        found = parse_certificates(_from_secret(seen, CERT))[0]
    except UnreadableBundleError:
        yield failed(name, "there is no certificate", f"holdfast certs; {_logs(seen)}")
        return
    missing = set(seen.place.names()[:1]) - names_of(found)
    days = (found.not_valid_after_utc - now).days
    if missing:
        yield failed(name, f"it is not for {', '.join(missing)}", "holdfast certs")
    elif now >= found.not_valid_after_utc:
        yield failed(name, f"it ended {-days} days ago", f"holdfast certs; {_logs(seen)}")
    else:
        yield ok(name, f"good for {days} more days")


def opted_in(seen: Seen, _: datetime) -> Iterator[Finding]:
    """Who takes part?"""
    name, namespaces = "namespaces", sorted(each["metadata"]["name"] for each in seen["namespaces"])
    if namespaces:
        yield ok(name, f"take part: {', '.join(namespaces)}")
    else:
        yield warning(name, "no namespace takes part", "kubectl label namespace NAME holdfast.dev/inject=enabled")


_CLUSTER: dict[str, Rule] = {"kubernetes": kubernetes, "rayservice-definition": definitions, "kuberay": operator}
BEFORE: dict[str, Rule] = {**_CLUSTER, "rights": rights, "leftovers": leftovers}
INSTALLED: dict[str, Rule] = {
    **_CLUSTER,
    "webhook-configuration": configuration,
    "webhook": replicas,
    "reachable": answers,
    "ca-bundle": trust,
    "certificate": certificate,
    "namespaces": opted_in,
}


def _from_secret(seen: Seen, key: str) -> bytes:
    data = (seen["secret"] or {}).get("data") or {}
    return base64.b64decode(data.get(key, ""))


def _service(webhook: dict[str, Any]) -> tuple[str | None, str | None]:
    service = webhook["clientConfig"].get("service") or {}
    return service.get("namespace"), service.get("name")


def _logs(seen: Seen) -> str:
    return _LOGS.format(namespace=seen.place.namespace, service=seen.place.service)


def _digits(text: str) -> int:
    return int("".join(filter(str.isdigit, text)) or 0)

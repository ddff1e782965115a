"""Is each RayService protected: has its head the sidecar, leads its Service there, does KubeRay come through? Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from cli.check import pods, policies, sidecars
from cli.check.cluster import operator_version
from cli.check.findings import Finding, Level, failed, ok, warning
from cli.check.seen import NotSeenError, Seen, belongs, clusters_of
from webhook import names, rolling, services
from webhook.heads import is_opted_out, metadata, raycluster_of
from webhook.injection import has_sidecar

Manifest = Mapping[str, Any]

_NAME = "rayservice"
PORT_NAME = "holdfast"
"""What the sidecar calls its port (webhook.injection)."""

STRATEGIES_SINCE, INCREMENTAL_SINCE = (1, 3), (1, 5)
"""KubeRay's ``spec.upgradeStrategy``, and its type NewClusterWithIncrementalUpgrade (its release notes)."""


def check(seen: Seen, now: datetime, namespace: str | None) -> Iterator[Finding]:
    """The findings about every RayService that takes part; in one ``namespace``, or in all."""
    taking_part = {each["metadata"]["name"] for each in seen["namespaces"]}
    for rayservice in seen["rayservices"]:
        where = rayservice["metadata"]["namespace"]
        if where in taking_part and namespace in {None, where}:
            try:
                yield from _rayservice(seen, now, rayservice)
            except NotSeenError as refused:
                title = f"{where}/{rayservice['metadata']['name']}"
                fix = "ask somebody who may look, or for the right to"
                yield warning(_NAME, f"{title}: not checked: {refused}", fix)


def _rayservice(seen: Seen, now: datetime, rayservice: Manifest) -> Iterator[Finding]:
    where, name = rayservice["metadata"]["namespace"], rayservice["metadata"]["name"]
    title = f"{where}/{name}"
    if is_opted_out(metadata(rayservice, "annotations")):
        yield ok(_NAME, f'{title} is left alone, as its annotation {names.INJECT}: "false" says')
        return
    yield from _options(title, rayservice, seen["operators"])
    clusters = clusters_of(rayservice, seen["rayclusters"])
    heads = [each for each in seen["heads"] if belongs(each, where, clusters)]
    if not heads:
        yield warning(_NAME, f"{title} has no head yet", "the next one gets a sidecar")
    for pod in heads:
        found = list(_head(title, pod, seen, now))
        yield from found
        if all(each.level is Level.OK for each in found):
            came = sidecars.last_request(seen, pod)
            yield ok(_NAME, f"{title} is protected (head {pod['metadata']['name']}{came and f'; KubeRay came {came}'})")


def _options(title: str, rayservice: Manifest, operators: Iterable[dict[str, Any]]) -> Iterator[Finding]:
    """Does the KubeRay that runs know what the RayService asks for?"""
    kind = rolling.at(rayservice, ("spec", "upgradeStrategy")).get("type")
    since = INCREMENTAL_SINCE if kind == "NewClusterWithIncrementalUpgrade" else STRATEGIES_SINCE
    for version in filter(None, map(operator_version, operators)):
        if kind and version < since:
            text = f"{title}: KubeRay {_dotted(version)} does not know upgradeStrategy {kind}, and goes on without it"
            yield failed("option", text, f"upgrade KubeRay to {_dotted(since)} or newer, or take it out")
    is_wanted = rolling.is_wanted(metadata(rayservice, "annotations"))
    if is_wanted and (said := rolling.warning(rayservice)):
        yield failed("option", f"{title}: {said}", f"kubectl -n {title.replace('/', ' edit rayservice ')}")


def _head(title: str, pod: Manifest, seen: Seen, now: datetime) -> Iterator[Finding]:
    where, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    leads_there = [
        services.is_redirected(each) for each in seen["services"] if belongs(each, where, {raycluster_of(pod)})
    ]
    if not has_sidecar(pod):
        yield from pods.without_sidecar(title, pod, seen["deployment"])
        if any(leads_there):
            fix = "the webhook puts it back within 10 s; until then KubeRay cannot reach Serve"
            yield failed(_NAME, f"{title}: head {name} has no sidecar, and its Service leads to one", fix)
        return
    yield from pods.faults(title, pod)
    if not all(leads_there) or not leads_there:
        fix = "the webhook mends it within 10 s; if not, read its log"
        yield failed(_NAME, f"{title}: head {name} has a sidecar, but its Service leads past it", fix)
    elif not pods.runs(pod):
        yield pods.not_running(title, pod)
    elif blocked := policies.blocking(pod, seen["policies"], names.PROXY_PORT, PORT_NAME):
        fix = f"let KubeRay's operator in on port {names.PROXY_PORT}, wherever {blocked} lets it in on 8265"
        yield failed("network-policy", f"{title}: no NetworkPolicy lets anybody reach the sidecar", fix)
    else:
        yield from sidecars.check(title, pod, seen, now)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"

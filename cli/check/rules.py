"""The checks, in an order that finds a cause before what it causes: cluster, KubeRay, Holdfast, RayServices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from cli.check import cluster, heads, installed, namespaces
from cli.check.findings import Finding, warning
from cli.check.seen import NotSeenError, Seen

Rule = Callable[[Seen, datetime], Iterable[Finding]]

_CLUSTER: dict[str, Rule] = {
    "kubernetes": cluster.kubernetes,
    "rayservice-definition": cluster.definitions,
    "kuberay": cluster.operator,
    "clock": cluster.clocks,
}
BEFORE: dict[str, Rule] = {**_CLUSTER, "rights": cluster.rights, "leftovers": cluster.leftovers}
INSTALLED: tuple[tuple[str, Rule], ...] = (
    *_CLUSTER.items(),
    ("webhook-configuration", installed.configuration),
    ("webhook", installed.deployed),
    ("webhook-rights", installed.granted),
    ("certificate", installed.certificate),
    ("ca-bundle", installed.trust),
    ("webhook", installed.replicas),
    ("reachable", installed.answers),
)


def findings(seen: Seen, now: datetime, *, pre: bool, namespace: str | None) -> list[Finding]:
    """Every finding. ``pre``: before the installation. ``namespace``: only RayServices there. ``now``: by our clock."""

    def taking_part(seen: Seen, _: datetime) -> Iterable[Finding]:
        return namespaces.check(seen, namespace)

    def rayservices(seen: Seen, now: datetime) -> Iterable[Finding]:
        return heads.check(seen, now, namespace)

    rules = [*BEFORE.items()] if pre else [*INSTALLED, ("namespaces", taking_part), ("rayservice", rayservices)]
    return [finding for name, rule in rules for finding in _apply(name, rule, seen, now)]


def _apply(name: str, rule: Rule, seen: Seen, now: datetime) -> Iterator[Finding]:
    """Only the clocks are compared with ours: all else goes by the API server's."""
    theirs = seen.answers.get("clock")
    try:
        yield from rule(seen, now if name == "clock" or not isinstance(theirs, datetime) else theirs)
    except NotSeenError as refused:
        yield warning(name, f"not checked: {refused}", "ask somebody who may look, or for the right to")

"""Do the namespaces take part in which the RayServices are? Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cli.check.findings import Finding, failed, ok, warning
from cli.check.seen import Seen

_NAME = "namespaces"


def check(seen: Seen, namespace: str | None) -> Iterator[Finding]:
    """The finding; about one ``namespace`` if one is asked about."""
    taking_part = {each["metadata"]["name"] for each in seen["namespaces"]}
    with_rayservices = {each["metadata"]["namespace"] for each in seen["rayservices"]}
    if namespace is not None:
        yield _one(namespace, taking_part, with_rayservices)
    elif taking_part & with_rayservices or (taking_part and not with_rayservices):
        yield ok(_NAME, f"take part: {_listed(taking_part)}")
    elif with_rayservices:
        which = f"only {_listed(taking_part)}" if taking_part else "no namespace"
        text = f"{which} takes part, and the RayServices are in {_listed(with_rayservices)}"
        yield failed(_NAME, text, _label(min(with_rayservices)))
    else:
        yield warning(_NAME, "no namespace takes part", _label("NAME"))


def _one(namespace: str, taking_part: set[str], with_rayservices: set[str]) -> Finding:
    if namespace not in with_rayservices:
        there = f"; there are some in {_listed(with_rayservices)}" if with_rayservices else ""
        fix = f"-n {min(with_rayservices)}" if with_rayservices else "apply one"
        return failed(_NAME, f"namespace {namespace} has no RayService{there}", fix)
    if namespace not in taking_part:
        return failed(_NAME, f"namespace {namespace} does not take part", _label(namespace))
    return ok(_NAME, f"namespace {namespace} takes part")


def _label(namespace: str) -> str:
    return f"kubectl label namespace {namespace} holdfast.dev/inject=enabled"


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names))

"""What the webhook has to be allowed, and whether it is. Pure.

The table says what manifests/base says; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from certs.place import Place

MOST_NAMESPACES = 10
"""In how many namespaces with RayServices it is asked."""


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """One verb on one resource. ``name``: of this object alone. ``namespace`` empty: in the whole cluster."""

    group: str
    resource: str
    verb: str
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{where}"


def _grants(group: str, resource: str, *verbs: str, name: str = "") -> tuple[Grant, ...]:
    return tuple(Grant(group, resource, verb, name) for verb in verbs)


EVERYWHERE = (
    *_grants("ray.io", "rayclusters", "get"),
    *_grants("ray.io", "rayservices", "get"),
    *_grants("", "services", "list", "watch", "patch"),
    *_grants("", "pods", "get", "list", "watch"),
    *_grants("authentication.k8s.io", "tokenreviews", "create"),
    *_grants("", "events", "create", "patch"),
)
"""In the whole cluster."""

BESIDE_RAYSERVICES = (
    *_grants("", "secrets", "get", "create", "update", "delete"),
    *_grants("", "configmaps", "create"),
    *_grants("", "configmaps", "get", "patch", name="holdfast-ca"),
)
"""In namespaces that take part: these may be bound there alone (docs/security.md)."""


def own_certificates(place: Place) -> tuple[Grant, ...]:
    """What keeping its own certificates takes; with cert-manager nothing of it."""
    of_configuration = _grants(
        "admissionregistration.k8s.io",
        "mutatingwebhookconfigurations",
        *("list", "watch", "patch"),
        name=place.configuration,
    )
    of_secret = _grants("", "secrets", "list", "watch", "update", name=place.secret)
    in_place = (*of_secret, *_grants("", "secrets", "create"))
    return (*of_configuration, *(Grant(g.group, g.resource, g.verb, g.name, place.namespace) for g in in_place))


def needed(place: Place, namespaces: list[str], *, keeps_certificates: bool) -> Iterator[Grant]:
    """All that it needs; ``namespaces`` are those that take part."""
    yield from EVERYWHERE
    if keeps_certificates:
        yield from own_certificates(place)
    for namespace in namespaces[:MOST_NAMESPACES]:
        yield from (Grant(each.group, each.resource, each.verb, each.name, namespace) for each in BESIDE_RAYSERVICES)


def review(grant: Grant, account: str, namespace: str) -> dict[str, Any]:
    """A SubjectAccessReview: may the service account ``account`` of ``namespace`` do that?"""
    attributes = {
        "group": grant.group,
        "resource": grant.resource,
        "verb": grant.verb,
        "name": grant.name,
        "namespace": grant.namespace,
    }
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{namespace}:{account}",
            "groups": groups,
            "resourceAttributes": {key: value for key, value in attributes.items() if value},
        },
    }

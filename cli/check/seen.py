"""Everything that is read of the cluster for `holdfast check`, at once. What may not be read is kept as a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from certs.apiserver import ApiError, ApiServer
from certs.place import Place
from certs.store import CONFIGURATIONS

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

INSTALLED_KINDS = (
    ("", "namespaces"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
)
"""What the installation makes outside of namespaces: (API group, resource)."""


class NotSeenError(Exception):
    """The API server did not let us look. The text is its own."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Answers by name: an object, a list of objects, None where there is no such object, or the refusal."""

    place: Place
    answers: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """The answer.

        Raises:
            NotSeenError: it was refused.
        """
        answer = self.answers[name]
        if isinstance(answer, NotSeenError):
            raise answer
        return answer


async def look(api: ApiServer, place: Place) -> Seen:
    """Read everything. Nothing is written; one review of one's own rights is asked for each kind that is installed.

    Raises:
        UnreachableError: the API server does not answer at all.
    """
    paths = {name: path.format(place=place) for name, path in _PATHS.items()}
    read = [_answer(api, path, is_list=name in _LISTS) for name, path in paths.items()]
    answers = dict(zip(paths, await asyncio.gather(*read), strict=True))
    rights = await asyncio.gather(*(_may_create(api, *kind) for kind in INSTALLED_KINDS))
    return Seen(place, {**answers, "rights": dict(zip(INSTALLED_KINDS, rights, strict=True))})


# A path, and behind the question mark a label that is asked for.
_PATHS = {
    "version": "/version",
    "definition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rayservices.ray.io",
    "operators": "/apis/apps/v1/deployments?app.kubernetes.io/component=kuberay-operator",
    "configuration": CONFIGURATIONS + "/{place.configuration}",
    "deployment": "/apis/apps/v1/namespaces/{place.namespace}/deployments/{place.service}",
    "secret": "/api/v1/namespaces/{place.namespace}/secrets/{place.secret}",
    "readyz": "/api/v1/namespaces/{place.namespace}/services/https:{place.service}:443/proxy/readyz",
    "namespaces": "/api/v1/namespaces?holdfast.dev/inject=enabled",
    "rayservices": "/apis/ray.io/v1/rayservices",
    "rayclusters": "/apis/ray.io/v1/rayclusters",
    "heads": "/api/v1/pods?ray.io/node-type=head",
    "services": "/api/v1/services?ray.io/node-type=head",
    "policies": "/apis/networking.k8s.io/v1/networkpolicies",
}
_LISTS = frozenset(("operators", "namespaces", "rayservices", "rayclusters", "heads", "services", "policies"))


async def _answer(api: ApiServer, path: str, *, is_list: bool) -> Any:  # noqa: ANN401 - JSON
    bare, _, selector = path.partition("?")
    query = {"labelSelector": selector} if selector else {}
    try:
        answer = await api.get(bare, **query)
    except ApiError as error:
        if error.not_found:
            return [] if is_list else None
        return NotSeenError(str(error))
    return answer["items"] if is_list else answer


async def _may_create(api: ApiServer, group: str, resource: str) -> Any:  # noqa: ANN401 - JSON
    attributes = {"group": group, "resource": resource, "verb": "create"}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    try:
        answer = await api.create(_REVIEWS, {**review, "spec": {"resourceAttributes": attributes}})
    except ApiError as error:
        return NotSeenError(str(error))
    return bool(answer["status"]["allowed"])

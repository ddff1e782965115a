"""Everything that is read of the cluster for `holdfast check`, at once. What may not be read is kept as a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from certs.apiserver import ApiError, ApiServer
from certs.place import Place
from certs.store import CONFIGURATIONS
from cli.check import grants
from cli.check.grants import Grant
from webhook import names
from webhook.heads import metadata, raycluster_of, rayservice_of
from webhook.journal.store import secret_name

_OWN_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"

K = TypeVar("K", bound=Hashable)

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
    """Read everything. Nothing is written; reviews are asked for one's own rights, and for the webhook's.

    Raises:
        UnreachableError: the API server does not answer at all.
    """
    paths = {name: path.format(place=place) for name, path in _PATHS.items()}
    read = [_answer(api, path, is_list=name in _LISTS) for name, path in paths.items()]
    answers = dict(zip(paths, await asyncio.gather(*read), strict=True))
    rights, grants, statuses, journals, clock = await asyncio.gather(
        _all({kind: _is_allowed(api, _OWN_REVIEWS, _own_review(*kind)) for kind in INSTALLED_KINDS}),
        _all(_granted(api, place, answers)),
        _all(_statuses(api, answers)),
        _all(_journals(api, answers)),
        api.clock(),
    )
    more = {"rights": rights, "grants": grants, "statuses": statuses, "journals": journals, "clock": clock}
    return Seen(place, {**answers, **more})


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

_CERT_MANAGER = "cert-manager.io/inject-ca-from"
_AT_ONCE = 16
"""How many heads and RayServices are asked about at a time."""


def kept_by_cert_manager(configuration: Mapping[str, Any] | None) -> bool:
    """Does cert-manager keep the certificate, and not the webhook?"""
    return _CERT_MANAGER in metadata(configuration or {"metadata": {}}, "annotations")


def clusters_of(rayservice: Mapping[str, Any], rayclusters: Iterable[Mapping[str, Any]]) -> set[str]:
    """The names of a RayService's RayClusters."""
    where, name = rayservice["metadata"]["namespace"], rayservice["metadata"]["name"]
    found = (each for each in rayclusters if each["metadata"]["namespace"] == where and rayservice_of(each) == name)
    return {each["metadata"]["name"] for each in found}


def belongs(item: Mapping[str, Any], namespace: str, clusters: Iterable[str | None]) -> bool:
    """Is a pod or a Service one of these RayClusters'?"""
    return item["metadata"]["namespace"] == namespace and raycluster_of(item) in set(clusters) - {None}


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


async def _all(asked: Mapping[K, Coroutine[Any, Any, Any]]) -> dict[K, Any]:
    """Every answer, a few at a time."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(asking: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - JSON
        async with room:
            return await asking

    return dict(zip(asked, await asyncio.gather(*map(one, asked.values())), strict=True))


def _statuses(api: ApiServer, answers: Mapping[str, Any]) -> dict[tuple[str, str], Coroutine[Any, Any, Any]]:
    """What the sidecars that run say of themselves, by namespace and pod."""
    pods = [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in _taking_part(answers, "heads")]
    path = f"/api/v1/namespaces/{{}}/pods/{{}}:{names.PROXY_PORT}/proxy/-/status"
    return {pod: _answer(api, path.format(*pod), is_list=False) for pod in pods}


def _journals(api: ApiServer, answers: Mapping[str, Any]) -> dict[tuple[str, str], Coroutine[Any, Any, Any]]:
    """Whether there is a journal, by namespace and RayService. Of its content nothing is kept."""

    async def is_there(namespace: str, rayservice: str) -> Any:  # noqa: ANN401 - JSON
        path = f"/api/v1/namespaces/{namespace}/secrets/{secret_name(rayservice)}"
        found = await _answer(api, path, is_list=False)
        return found if isinstance(found, NotSeenError) else found is not None

    found = _taking_part(answers, "rayservices")
    of = [(each["metadata"]["namespace"], each["metadata"]["name"]) for each in found]
    return {each: is_there(*each) for each in of}


def _granted(api: ApiServer, place: Place, answers: Mapping[str, Any]) -> dict[Grant, Coroutine[Any, Any, Any]]:
    """Whether the webhook may do what it has to."""
    deployment = answers["deployment"]
    if not isinstance(deployment, dict):
        return {}
    account = deployment["spec"].get("template", {}).get("spec", {}).get("serviceAccountName", place.service)
    namespaces = sorted({each["metadata"]["namespace"] for each in _taking_part(answers, "rayservices")})
    configuration = answers["configuration"]
    keeps = isinstance(configuration, dict) and not kept_by_cert_manager(configuration)
    needed = grants.needed(place, namespaces, keeps_certificates=keeps)
    return {grant: _is_allowed(api, _REVIEWS, grants.review(grant, account, place.namespace)) for grant in needed}


def _taking_part(answers: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    """Those in namespaces that take part; none where either could not be seen."""
    found, namespaces = answers[kind], answers["namespaces"]
    if isinstance(found, NotSeenError) or isinstance(namespaces, NotSeenError):
        return []
    taking_part = {each["metadata"]["name"] for each in namespaces}
    return [each for each in found if each["metadata"]["namespace"] in taking_part]


def _own_review(group: str, resource: str) -> dict[str, Any]:
    attributes = {"group": group, "resource": resource, "verb": "create"}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}
    return {**review, "spec": {"resourceAttributes": attributes}}


async def _is_allowed(api: ApiServer, path: str, review: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    try:
        answer = await api.create(path, review)
    except ApiError as error:
        return NotSeenError(str(error))
    return bool(answer["status"]["allowed"])

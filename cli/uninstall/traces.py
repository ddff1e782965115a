"""What is left on purpose, in case Holdfast comes back: found, named, and removed on request.

1. Journals: the Secrets beside RayServices. The next installation would find the applications in them again.
2. ConfigMaps ``holdfast-ca``: whom sidecars that still run trust.
3. What stands on RayServices and namespaces, ours and the users' own: annotations and labels ``holdfast.dev/...``.

An annotation of a head *template* stays, whatever is asked: it is part of what KubeRay compares, and without it KubeRay
would make a new cluster. ``holdfast uninject`` takes out of a manifest what ``inject`` has put in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from certs.apiserver import MERGE_PATCH, ApiError, ApiServer
from certs.listing import listed
from webhook.names import CA_CONFIGMAP, DOMAIN, INJECT, JOURNAL_LABEL

_RAYSERVICES, _NAMESPACES = "/apis/ray.io/v1/rayservices", "/api/v1/namespaces"


@dataclass(frozen=True, slots=True)
class Trace:
    """One thing that is left: what it is and where, as people say it; its path; how it goes.

    ``change`` is a merge patch; None deletes the object.
    """

    what: str
    where: str
    path: str
    change: Mapping[str, Any] | None = None


async def traces(api: ApiServer) -> list[Trace]:
    """All that is left. Raises: ApiError, UnreachableError."""
    secrets, _ = await listed(api, "/api/v1/secrets", labelSelector=JOURNAL_LABEL)
    configmaps, _ = await listed(api, "/api/v1/configmaps", fieldSelector=f"metadata.name={CA_CONFIGMAP}")
    namespaces, _ = await listed(api, _NAMESPACES, labelSelector=INJECT)
    return [
        *(_object("journals", "secrets", each) for each in secrets),
        *(_object(f"ConfigMaps {CA_CONFIGMAP}", "configmaps", each) for each in configmaps),
        *_annotations(await _rayservices(api)),
        *_labels(namespaces),
    ]


async def _rayservices(api: ApiServer) -> list[dict[str, Any]]:
    try:
        return (await listed(api, _RAYSERVICES))[0]
    except ApiError as error:
        if error.not_found:  # KubeRay has been uninstalled, too
            return []
        raise


async def remove(api: ApiServer, found: list[Trace]) -> None:
    """Remove them all. What has gone in the meantime is gone. Raises: ApiError, UnreachableError."""
    for each in found:
        if each.change is None:
            await api.delete(each.path)
            continue
        try:
            await api.patch(each.path, each.change, MERGE_PATCH)
        except ApiError as error:
            if not error.not_found:
                raise


def lines(found: list[Trace]) -> Iterator[str]:
    """A line for each kind of them, with where they are."""
    for what in dict.fromkeys(each.what for each in found):
        yield f"{what}: {', '.join(each.where for each in found if each.what == what)}"


def _object(what: str, kind: str, each: Mapping[str, Any]) -> Trace:
    namespace = each["metadata"]["namespace"]
    return Trace(what, f"{namespace}/{_name(each)}", f"{_NAMESPACES}/{namespace}/{kind}/{_name(each)}")


def _annotations(rayservices: Iterable[Mapping[str, Any]]) -> Iterator[Trace]:
    for each in rayservices:
        namespace = each["metadata"]["namespace"]
        names = [name for name in each["metadata"].get("annotations") or {} if name.startswith(f"{DOMAIN}/")]
        if names:
            path = f"/apis/ray.io/v1/namespaces/{namespace}/rayservices/{_name(each)}"
            where = f"{namespace}/{_name(each)} ({', '.join(names)})"
            yield Trace("annotations of RayServices", where, path, {"metadata": {"annotations": dict.fromkeys(names)}})


def _labels(namespaces: Iterable[Mapping[str, Any]]) -> Iterator[Trace]:
    for each in namespaces:
        yield Trace(
            f"label {INJECT} of namespaces",
            _name(each),
            f"{_NAMESPACES}/{_name(each)}",
            {"metadata": {"labels": {INJECT: None}}},
        )


def _name(each: Mapping[str, Any]) -> str:
    return str(each["metadata"]["name"])

"""The RayService in a file, and its Serve config as KubeRay would PUT it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cli.apps.errors import UsageError
from cli.inject import documents
from serveconfig.document import Application, ServeConfig
from webhook.heads import metadata
from webhook.writers import Ownership
from webhook.yamlnodes import UnreadableTextError, compose
from webhook.yamlreading import value_of

Manifest = Mapping[str, Any]

_WHOLE_BELOW = 1e21
"""Go prints a float64 without a fraction as an integer up to here (``encoding/json``): KubeRay's ``1.0`` is ``1``."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a PUT of KubeRay would carry. ``put_back`` are names that only the webhook adds to the file's."""

    config: ServeConfig
    annotations: Mapping[str, str]
    put_back: frozenset[str] = field(default_factory=frozenset)


def rayservice(text: str, name: str | None) -> Manifest:
    """The RayService in a file; the one of that ``name`` if there are several.

    Raises:
        UsageError: there is none, or several and no name.
    """
    try:
        values = [value_of(compose(document)) for _, document in documents.split(text)]
    except UnreadableTextError as error:
        raise UsageError(str(error)) from error
    found = [each for each in values if isinstance(each, dict) and each.get("kind") == "RayService"]
    meant = [each for each in found if name in {None, _name(each)}]
    if len(meant) == 1:
        return meant[0]
    if not meant:
        raise UsageError(f"there is no RayService {name or ''}".rstrip() + " in it")
    raise UsageError(f"it has several RayServices: name one with -r ({', '.join(map(_name, meant))})")


def wanted(new: Manifest, live: Manifest | None) -> Wanted:
    """What KubeRay would PUT for the RayService ``new``; ``live`` is the one in the cluster, None if it is not known.

    Dynamic applications of ``live`` that ``new`` leaves out are put back by the webhook (``webhook.rayservices``, rule
    1), unless it is their writer who drops them: who will apply the file nobody knows here.

    Raises:
        UsageError: KubeRay could not read its ``serveConfigV2``.
        InvalidServeConfigError: the sidecar would refuse it.
    """
    annotations = metadata(new, "annotations")
    config = ServeConfig.parse(_as_kuberay_prints(_read(new)))
    if live is None:
        return Wanted(config, annotations)
    ownership = Ownership.of(annotations, metadata(live, "annotations"))
    there = ServeConfig.parse(_as_kuberay_prints(_read(live))).applications
    lost = [app for app in there if app.name not in config.names and ownership.is_dynamic(app.name)]
    whole = ServeConfig(config.options, (*config.applications, *lost))
    return Wanted(whole, annotations, frozenset(app.name for app in lost))


def twice(applications: tuple[Application, ...]) -> list[str]:
    """Names that stand there more than once: Ray refuses them."""
    names = [application.name for application in applications]
    return sorted({name for name in names if names.count(name) > 1})


def _name(manifest: Manifest) -> str:
    return str((manifest.get("metadata") or {}).get("name", ""))


def _read(manifest: Manifest) -> Manifest:
    text = (manifest.get("spec") or {}).get("serveConfigV2") or ""
    try:
        value = value_of(compose(str(text)))
    except UnreadableTextError as error:
        raise UsageError(f"KubeRay cannot read serveConfigV2 of {_name(manifest)}: {error}") from error
    if not isinstance(value, dict | None):
        raise UsageError(f"serveConfigV2 of {_name(manifest)} is no mapping, so KubeRay cannot read it")
    return value or {}


def _as_kuberay_prints(value: Any) -> bytes:  # noqa: ANN401 - YAML
    return json.dumps(_whole(value), sort_keys=True, separators=(",", ":")).encode()


def _whole(value: Any) -> Any:  # noqa: ANN401 - YAML
    if isinstance(value, dict):
        return {key: _whole(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_BELOW:
        return int(value)
    return value

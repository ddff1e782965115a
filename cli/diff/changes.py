"""What a PUT of KubeRay would do to each application that runs. Pure: ``serveconfig.plans`` decides, as in the sidecar.

1. The sidecar does not tell what KubeRay sent last, only which applications it declared. So what Ray stores of them
   stands for it, and the top-level options (``http_options``, ...), which Ray does not show, are not compared.
2. Ray stores a config a little otherwise than it was sent: numbers of a deployment's options become floats, a global
   ``logging_config`` is written into each application (``serveconfig.likeness``, rule 3). That is no change.
3. A refusal is of the whole PUT, so there is one line for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cli.diff.manifest import Wanted, twice
from serveconfig import plans
from serveconfig.declared import Declared
from serveconfig.document import Application, ServeConfig
from serveconfig.errors import Refusal, UnknownStateError
from serveconfig.likeness import Receipt, fingerprint, is_unchanged
from serveconfig.plans import Plan, Situation
from serveconfig.rayversion import RayVersion
from serveconfig.running import Origin, Running, Status
from webhook.names import ALLOW_LOSS

_USERS_OWN = ("user_config", "runtime_env")
"""What a deployment has that Ray keeps letter by letter."""


class Action(StrEnum):
    """What becomes of an application. The value stands in the JSON output: do not rename."""

    KEEP = "keep"
    CREATE = "create"
    CHANGE = "change"
    DELETE = "delete"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Change:
    """One line. ``name`` is None where the whole PUT is meant."""

    action: Action
    name: str | None
    why: str


def changes(wanted: Wanted, status: Mapping[str, Any], running: bytes) -> list[Change]:
    """What would become of each application. ``status`` is the sidecar's ``/-/status``, ``running`` Ray's own list.

    Raises:
        Refusal: what runs is not known, or cannot be read.
    """
    now = situation(wanted, status, Running.parse(running))
    if not now.running.has_controller and now.declared.names:
        raise UnknownStateError(
            "Ray shows no controller of Serve, though KubeRay has declared applications: the head has just started, or "
            "its dashboard could not look Serve up. Try again in a few seconds."
        )
    if names := twice(wanted.config.applications):
        return [Change(Action.REFUSE, None, f"Ray refuses a config that names {', '.join(names)} more than once")]
    try:
        plan = plans.declare(wanted.config, now)
    except Refusal as refusal:
        return [Change(Action.REFUSE, None, str(refusal))]
    return sorted(_changes(wanted, now, plan), key=lambda change: change.name or "")


def situation(wanted: Wanted, status: Mapping[str, Any], running: Running) -> Situation:
    """All that a plan depends on, as far as the sidecar tells it (rule 1)."""
    told = status["declared"]
    declared = Declared()
    if told["known"]:
        there = tuple(_declared(name, running) for name in told["applications"])
        declared = declared.accepting(ServeConfig(wanted.config.options, there), keep_receipts=False)
    stored = {app.name: app.config for app in running.applications.values() if app.config}
    receipts = {
        asked.name: Receipt(fingerprint(asked.raw), fingerprint(stored[asked.name].raw))
        for asked in wanted.config.applications
        if asked.name in stored and _is_alike(asked.raw, stored[asked.name].raw)
    }
    allow_loss = wanted.annotations.get(ALLOW_LOSS, "").strip().lower() == "true"
    return Situation(running, declared.noting(receipts), RayVersion(str(status["ray_version"])), allow_loss)


def _declared(name: str, running: Running) -> Application:
    """As Ray stores it; by its name alone where Ray does not show it."""
    app = running.applications.get(name)
    return app.config if app and app.config else Application(name, None, json.dumps({"name": name}).encode())


def _is_alike(asked: bytes, stored: bytes) -> bool:
    """Is what Ray stores what it would make of this (rule 2)?"""
    one, other = json.loads(asked), json.loads(stored)
    if "logging_config" not in one:
        other.pop("logging_config", None)
    return json.dumps(_as_stored(one), sort_keys=True) == json.dumps(_as_stored(other), sort_keys=True)


def _as_stored(application: dict[str, Any]) -> dict[str, Any]:
    deployments = application.get("deployments")
    return application if deployments is None else {**application, "deployments": _floats(deployments)}


def _floats(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: member if key in _USERS_OWN else _floats(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_floats(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _changes(wanted: Wanted, now: Situation, plan: Plan) -> Iterator[Change]:
    for asked in wanted.config.applications:
        yield _asked(asked, wanted, now, plan)
    for app in now.applications:
        if app.name in plan.retired:
            yield Change(Action.DELETE, app.name, "declared before, and no longer")
        elif app.name not in wanted.config.names:
            why = "made by serve.run" if app.origin is Origin.IMPERATIVE else "dynamic: not KubeRay's"
            yield Change(Action.KEEP, app.name, why)


def _asked(asked: Application, wanted: Wanted, now: Situation, plan: Plan) -> Change:
    app = now.here(asked.name)
    if app is None:
        return Change(Action.CREATE, asked.name, "does not run yet")
    if plan.body is None or is_unchanged(asked, now.running, now.declared.receipts):
        if asked.name in wanted.put_back:
            return Change(Action.KEEP, asked.name, "dynamic: the webhook puts it back, unless its own writer drops it")
        return Change(Action.KEEP, asked.name, "unchanged")
    if asked.name in plan.taken_over:
        why = "made by serve.run: the RayService takes it over, and its replicas are replaced"
    elif app.status == Status.DEPLOY_FAILED and asked.name in now.declared.receipts:
        why = "has failed, and is tried again"
    else:
        why = "its config differs" if asked.name in now.declared.names else "dynamic: the RayService takes it over"
    return Change(Action.CHANGE, asked.name, why)

"""What Ray's GET says runs, and how far it can be believed.

1. ``controller_info`` filled: what is listed runs, and what is not listed does not (facts: section 6).
2. ``controller_info`` empty: Serve does not run, *or* the dashboard could not look it up. Nobody can tell from this
   answer alone; ``Running.has_controller`` is False then, and the caller has to ask elsewhere.
3. ``source`` tells declarative from imperative (Ray 2.39+). Before, a config is the only sign there is, and it may be a
   left-over of an application that ``serve.run`` has since replaced (facts: section 1).
4. An application that is DELETING is gone: naming it in a PUT would undo the deletion (facts: section 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from serveconfig.document import Application
from serveconfig.errors import InvalidServeConfigError, UnreadableAnswerError


class Origin(StrEnum):
    """How an application came to be. The value is a metric label and part of the REST API: do not rename."""

    DECLARATIVE = "declarative"
    IMPERATIVE = "imperative"
    UNKNOWN = "unknown"


class Status(StrEnum):
    """The states of an application that a decision depends on (Ray 2.9-2.60, ``serve/schema.py``)."""

    RUNNING = "RUNNING"
    DEPLOY_FAILED = "DEPLOY_FAILED"
    DELETING = "DELETING"


_ORIGINS = {str(origin): origin for origin in Origin}
_NULL = msgspec.Raw(b"null")


class _App(msgspec.Struct):
    status: str = ""
    message: str = ""
    source: str | None = None
    route_prefix: str | None = None
    last_deployed_time_s: float = 0.0
    deployed_app_config: msgspec.Raw = _NULL


class _Details(msgspec.Struct):
    controller_info: dict[str, object] = {}
    applications: dict[str, msgspec.Raw] = {}
    target_capacity: msgspec.Raw = _NULL


_details = msgspec.json.Decoder(_Details)
_app = msgspec.json.Decoder(_App)


class RunningApplication(msgspec.Struct, frozen=True, gc=False):
    """One application as Ray shows it.

    ``deployed_at`` is when somebody last deployed it, in Unix time. ``config`` is what Ray stored of the last PUT, or
    None.
    """

    name: str
    status: str
    message: str
    origin: Origin
    route_prefix: str | None
    deployed_at: float
    config: Application | None

    @property
    def is_deleting(self) -> bool:
        """It is on its way out: it counts as not running."""
        return self.status == Status.DELETING

    @property
    def is_kept_by_naming(self) -> bool:
        """A PUT that does not name it deletes it, and one that does can."""
        return self.origin is Origin.DECLARATIVE and not self.is_deleting


@dataclass(frozen=True, slots=True)
class Running:
    """All that runs, by name.

    ``has_controller`` says whether Ray showed a controller of Serve (rule 2). ``options`` are those top-level options
    of the last PUT that Ray shows and that the next PUT would reset by leaving them out: ``target_capacity``.
    ``instance`` is the controller's actor: it stays the same when the controller restarts, and is another one where
    Serve was started anew.
    """

    has_controller: bool
    applications: Mapping[str, RunningApplication]
    options: Mapping[str, bytes] = field(default_factory=dict)
    instance: str = ""

    @classmethod
    def parse(cls, body: bytes, only: frozenset[str] | None = None) -> Running:
        """Read the body of ``GET /api/serve/applications/``; of the applications ``only`` these, if it is given.

        Raises:
            UnreadableAnswerError: it is not what any Ray from 2.7 to 2.60 answers.
        """
        try:
            details = _details.decode(body)
            applications = {
                name: _running(name, _app.decode(raw))
                for name, raw in details.applications.items()
                if only is None or name in only
            }
        except (msgspec.DecodeError, RecursionError, InvalidServeConfigError) as error:
            raise UnreadableAnswerError(f"Ray's list of applications cannot be read: {error}.") from None
        capacity = bytes(details.target_capacity)
        options = {} if capacity == b"null" else {"target_capacity": capacity}
        instance = str(details.controller_info.get("actor_id") or "")
        return cls(bool(details.controller_info), applications, options, instance)

    def here(self, name: str) -> RunningApplication | None:
        """The application, unless there is none or it is being deleted."""
        app = self.applications.get(name)
        return None if app is None or app.is_deleting else app


def _running(name: str, app: _App) -> RunningApplication:
    stored = bytes(app.deployed_app_config)
    config = None if stored == b"null" else Application.parse_stored(stored)
    origin = _origin(app, config)
    # Ray shows no route while it builds an application, or after it failed to: the config has it
    route = config.route_prefix if config and origin is Origin.DECLARATIVE else app.route_prefix
    return RunningApplication(name, app.status, app.message, origin, route, app.last_deployed_time_s, config)


def _origin(app: _App, config: Application | None) -> Origin:
    if app.source is None:
        return Origin.DECLARATIVE if config else Origin.IMPERATIVE
    return _ORIGINS.get(app.source, Origin.UNKNOWN)

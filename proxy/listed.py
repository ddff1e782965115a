"""Every application with all that is known of it: what runs, what is to come, and what could not be carried. Pure.

1. An application that does not run here has no ``state``: KubeRay declares it and Ray does not show it, it is still to
   be carried over, or it could not be.
2. A message is shown by its beginning and its end: of a traceback, the last line says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from proxy.oneapp import owner
from proxy.times import utc
from serveconfig.declared import Declared
from serveconfig.localcopy import LocalCopy
from serveconfig.running import Running

LONGEST_MESSAGE = 600
"""How much of a message is told, in characters."""

MADE_BY_SERVE_RUN = "made by serve.run: Ray has no config of it to carry. Deploy it again"


def applications(
    running: Running, declared: Declared, copy: LocalCopy, left_behind: Sequence[str] = (), *, has_journal: bool
) -> list[dict[str, object]]:
    """One entry an application: those that Ray shows, in its order, then all others by name.

    ``left_behind`` are those of ``serve.run`` that ran before and could not be brought to this Serve instance.
    """
    arriving = copy.arriving(declared.names)
    refused = {**dict.fromkeys(left_behind, MADE_BY_SERVE_RUN), **copy.refused}
    absent = (declared.names | arriving | refused.keys()) - running.applications.keys()
    routes = _routes(absent, declared, copy)
    return [
        {
            "name": name,
            "owner": owner(name, declared),
            "origin": app.origin if app else _origin_of_absent(name, left_behind),
            "state": app.status if app else None,
            "message": shortened(app.message) if app else "",
            "route_prefix": app.route_prefix if app else routes.get(name),
            "deployed_at": utc(app.deployed_at) if app else None,
            "journal": None if name in declared.names else journaled(name, copy, has_journal=has_journal),
            "carried_over": carried_over(name, copy),
            "not_carried": copy.refused.get(name) if app else refused.get(name),
            "arriving": name in arriving,
        }
        for name, app in (*running.applications.items(), *((name, None) for name in sorted(absent)))
    ]


def journaled(name: str, copy: LocalCopy, *, has_journal: bool) -> str:
    """Whether the journal has a dynamic application: ``written``, ``queued`` or ``none``."""
    if name in copy.unsent:
        return "queued"
    return "written" if has_journal and name in copy.held else "none"


def carried_over(name: str, copy: LocalCopy) -> dict[str, object] | None:
    """Whence an application came, and when, if it was carried over."""
    carried = copy.carried.get(name)
    return None if carried is None else {"from": carried.source, "at": utc(carried.at)}


def shortened(message: str) -> str:
    """At most ``LONGEST_MESSAGE`` characters of it: rule 2."""
    if len(message) <= LONGEST_MESSAGE:
        return message
    mark = "\n[...]\n"
    end = (LONGEST_MESSAGE - len(mark)) * 2 // 3
    return message[: LONGEST_MESSAGE - len(mark) - end] + mark + message[-end:]


def _origin_of_absent(name: str, left_behind: Sequence[str]) -> str:
    return "imperative" if name in left_behind else "declarative"


def _routes(names: AbstractSet[str], declared: Declared, copy: LocalCopy) -> dict[str, str | None]:
    """The routes that the configs of these ask for."""
    held = [copy.held[name].application() for name in names & copy.held.keys()]
    configs = (*held, *(declared.config.applications if declared.config else ()))
    return {config.name: config.route_prefix for config in configs}

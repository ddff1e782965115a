"""What can be said of the applications from Ray's own answers: what runs, what was lost, what was restarted. Pure.

The demo's only witness. It reads `GET /api/serve/applications/` from Ray directly, never through Holdfast, and shares
no code with it. Rules (Ray 2.9 to 2.60, `serve/schema.py`, `dashboard/modules/serve/serve_head.py`):

* `controller_info == {}` means "no Serve" or "the controller could not be looked up": it is no evidence of anything.
* An application is gone when the answer does not name it, and as good as gone when it is DELETING.
* A replica is its actor. A RUNNING application none of whose actors was replaced has not been restarted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

RUNNING = "RUNNING"
DELETING = "DELETING"
SETTLED = frozenset({RUNNING, "DEPLOY_FAILED", "UNHEALTHY"})
"""The statuses that last: nothing more happens unless somebody acts."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One application in one answer of Ray."""

    status: str
    actor_ids: frozenset[str] = frozenset()
    pids: tuple[int, ...] = ()


Sighting = Mapping[str, Seen]
"""All applications in one answer, by name."""


def sighting(body: bytes) -> Sighting | None:
    """Ray's answer to `GET /api/serve/applications/`. None if it is no evidence.

    Raises:
        ValueError: the body is not such an answer.
    """
    try:
        answer = json.loads(body)
        if not answer["controller_info"]:
            return None
        return {name: _seen(application) for name, application in answer["applications"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not an answer of the Serve REST API: {error!r} is missing or of another type") from error


def _seen(application: Mapping[str, Any]) -> Seen:
    replicas = [
        replica
        for deployment in application["deployments"].values()
        for replica in deployment["replicas"]
        if replica["state"] == RUNNING
    ]
    return Seen(
        status=application["status"],
        actor_ids=frozenset(replica["actor_id"] for replica in replicas),
        pids=tuple(sorted(replica["pid"] for replica in replicas)),
    )


def statuses(body: bytes) -> dict[str, str]:
    """The status of each application in an answer of the Serve REST API: all that KubeRay reads of it.

    Raises:
        ValueError: the body is not such an answer.
    """
    try:
        return {name: application["status"] for name, application in json.loads(body)["applications"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not an answer of the Serve REST API: {error!r} is missing or of another type") from error


def is_settled(seen: Seen | None) -> bool:
    """Whether nothing more happens to an application by itself. One that is gone is settled too."""
    return seen is None or seen.status in SETTLED


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the applications, folded over every sighting so far.

    An application is *in hand* while its owner deploys, changes or retires it: what then happens is its owner's doing.
    """

    alive: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The applications of the last sighting, each with the replica actors it had when it was last RUNNING."""
    in_hand: frozenset[str] = frozenset()
    lost: tuple[str, ...] = ()
    """A name for each time an application went away though its owner had done nothing."""
    restarted: tuple[str, ...] = ()
    """A name for each time a replica was replaced though the application's owner had done nothing."""

    def owner_acts(self, *names: str) -> Tally:
        """The owners of these applications begin to deploy, change or retire them."""
        return replace(self, in_hand=self.in_hand | set(names))

    def owner_done(self, *names: str) -> Tally:
        """From now on, what happens to these applications, as they were last seen, is not their owners' doing."""
        return replace(self, in_hand=self.in_hand - set(names))

    def seen(self, applications: Sighting) -> Tally:
        """One more sighting."""
        there = {name: seen for name, seen in applications.items() if seen.status != DELETING}
        gone = [name for name in self.alive if name not in there and name not in self.in_hand]
        running = {name: seen.actor_ids for name, seen in there.items() if seen.status == RUNNING}
        replaced = [name for name in running if self._actors(name) - running[name] and name not in self.in_hand]
        return replace(
            self,
            alive={name: running.get(name, self._actors(name)) for name in there},
            lost=(*self.lost, *gone),
            restarted=(*self.restarted, *replaced),
        )

    def _actors(self, name: str) -> frozenset[str]:
        return self.alive.get(name, frozenset())

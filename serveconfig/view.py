"""What KubeRay is shown of Ray's list of applications.

1. The applications it declared, each in Ray's own bytes, and nothing else. The other members pass as they are.
2. Nothing declared is known: an empty list. KubeRay takes it for a fresh head and sends its PUT, which tells us.
3. It declared no application at all: one placeholder that is RUNNING. Without it KubeRay would PUT every 2 s and never
   call the RayService ready (KubeRay 1.0-1.7, ``checkIfNeedSubmitServeApplications``, ``getAndCheckServeStatus``).
   Only while Ray shows a controller of Serve: else KubeRay has to send its PUT, which starts one.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import msgspec

from serveconfig.document import print_members
from serveconfig.errors import UnreadableAnswerError

PLACEHOLDER = "holdfast"

_placeholder = msgspec.json.encode(
    {
        "name": PLACEHOLDER,
        "route_prefix": None,
        "docs_path": None,
        "status": "RUNNING",
        "message": "A placeholder by Holdfast: this RayService declares no application of its own.",
        "deployments": {},
    }
)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Listing:
    """Ray's list of applications, read no further than a view needs.

    ``has_controller`` is False where Ray shows no controller of Serve, so that the list proves nothing.
    """

    answer: bytes
    has_controller: bool
    _members: Mapping[str, msgspec.Raw]
    _applications: Mapping[str, msgspec.Raw]

    @classmethod
    def parse(cls, answer: bytes) -> Listing:
        """Read the body of ``GET /api/serve/applications/``.

        Raises:
            UnreadableAnswerError: it is not what Ray's Serve API answers.
        """
        try:
            members = _members.decode(answer)
            applications = _members.decode(members.get("applications", b"{}"))
        except (msgspec.DecodeError, RecursionError) as error:
            raise UnreadableAnswerError(f"Ray's list of applications cannot be read: {error}.") from None
        has_controller = bytes(members.get("controller_info", b"{}")) not in (b"{}", b"null")
        return cls(answer, has_controller, members, applications)

    def view(self, declared: AbstractSet[str] | None) -> bytes:
        """The part that concerns KubeRay. ``declared`` is None where nothing declared is known."""
        shown = {name: app for name, app in self._applications.items() if declared and name in declared}
        if declared is not None and not declared and self.has_controller:
            shown = {PLACEHOLDER: msgspec.Raw(_placeholder)}
        elif len(shown) == len(self._applications):
            return self.answer
        return print_members({**self._members, "applications": print_members(shown)})

"""What KubeRay is shown of Ray's list of applications.

1. The applications it declared, each in Ray's own bytes, and nothing else. The other members pass as they are.
2. Nothing declared is known: an empty list. KubeRay takes it for a fresh head and sends its PUT, which tells us.
3. It declared no application at all: one placeholder that is RUNNING. Without it KubeRay would PUT every 2 s and never
   call the RayService ready (KubeRay 1.0-1.7, ``checkIfNeedSubmitServeApplications``, ``getAndCheckServeStatus``).
   Only while Ray shows a controller of Serve: else KubeRay has to send its PUT, which starts one.
4. Before this cluster has the traffic, KubeRay is also shown what is to arrive first, as Ray shows it, or DEPLOYING
   while Ray does not. While it is not known what is to arrive, the placeholder is DEPLOYING. (KubeRay 1.0-1.7 switches
   when every application that it is shown is RUNNING; DEPLOYING starts no timer.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import msgspec

from serveconfig.document import member_parts
from serveconfig.errors import UnreadableAnswerError

PLACEHOLDER = "holdfast"
NOT_KNOWN_YET = frozenset((PLACEHOLDER,))
"""What is to arrive while the journal has not answered: nobody may have an application of that name."""

WORTH_BYTES = 16 * 1024
"""From how many bytes of applications on a second look at them is spared: below, it costs less than the comparison."""


def _entry(name: str, status: str, message: str) -> msgspec.Raw:
    about = {"name": name, "route_prefix": None, "docs_path": None, "status": status, "message": message}
    return msgspec.Raw(msgspec.json.encode({**about, "deployments": {}}))


_placeholder = _entry(
    PLACEHOLDER, "RUNNING", "A placeholder by Holdfast: this RayService declares no application of its own."
)
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Head:
    """A list up to and including its applications: between two polls these bytes rarely change.

    What follows them does, at every poll (Ray 2.56+: ``controller_health_metrics``). So a list that begins with the
    same bytes is read from there on only.
    """

    text: bytes
    members: Mapping[str, msgspec.Raw]

    @classmethod
    def of(cls, answer: bytes, applications: bytes) -> Head | None:
        """The head of a list whose ``applications`` are these bytes; None where it is not worth the while."""
        if len(applications) < WORTH_BYTES:
            return None
        text = answer[: answer.find(applications) + len(applications)]
        try:
            members = _members.decode(text + b"}")
        except msgspec.DecodeError:  # the same bytes stand somewhere before
            return None
        return cls(text, members) if members.get("applications") == msgspec.Raw(applications) else None

    def rest_of(self, answer: bytes) -> Mapping[str, msgspec.Raw] | None:
        """The members that follow in a list with the same head; None where it has another, or names them again.

        Raises:
            msgspec.DecodeError: what follows is broken.
        """
        if not answer.startswith(self.text):
            return None
        rest = answer[len(self.text) :].lstrip()
        more = rest.startswith(b",")
        members = _members.decode(b"{" + rest[1:] if more else b"{" + rest)
        is_plain = bool(members) is more and "applications" not in members
        return members if is_plain else None


@dataclass(frozen=True, slots=True)
class Listing:
    """Ray's list of applications, read no further than a view needs.

    ``has_controller`` is False where Ray shows no controller of Serve, so that the list proves nothing.
    """

    answer: bytes
    has_controller: bool
    members: Mapping[str, msgspec.Raw]
    applications: Mapping[str, msgspec.Raw]
    head: Head | None

    @classmethod
    def parse(cls, answer: bytes, before: Listing | None = None) -> Listing:
        """Read the body of ``GET /api/serve/applications/``; ``before`` is an earlier one, to spare what is the same.

        Raises:
            UnreadableAnswerError: it is not what Ray's Serve API answers.
        """
        try:
            if before and before.head and (rest := before.head.rest_of(answer)) is not None:
                return cls._of(answer, {**before.head.members, **rest}, before.applications, before.head)
            members = _members.decode(answer)
            text = members.get("applications", msgspec.Raw(b"{}"))
            return cls._of(answer, members, _members.decode(text), Head.of(answer, bytes(text)))
        except (msgspec.DecodeError, RecursionError) as error:
            raise UnreadableAnswerError(f"Ray's list of applications cannot be read: {error}.") from None

    @classmethod
    def _of(
        cls,
        answer: bytes,
        members: Mapping[str, msgspec.Raw],
        applications: Mapping[str, msgspec.Raw],
        head: Head | None,
    ) -> Listing:
        has_controller = bytes(members.get("controller_info", b"{}")) not in (b"{}", b"null")
        return cls(answer, has_controller, members, applications, head)

    def view(self, declared: AbstractSet[str] | None, arriving: AbstractSet[str] = frozenset()) -> bytes:
        """The part that concerns KubeRay. ``declared`` is None where nothing declared is known.

        ``arriving`` is what has to come before the traffic; an empty list stays empty, for KubeRay's PUT comes first.
        """
        shown = {name: app for name, app in self.applications.items() if declared and name in declared}
        if arriving and declared is not None and (shown or (not declared and self.has_controller)):
            for name in sorted(arriving - shown.keys()):
                message = "Carried over by Holdfast, and not deployed yet."
                shown[name] = self.applications.get(name) or _entry(name, "DEPLOYING", message)
        elif declared is not None and not declared and self.has_controller:
            shown = {PLACEHOLDER: _placeholder}
        if len(shown) == len(self.applications) and shown.keys() == self.applications.keys():
            return self.answer
        return b"".join(self._parts(shown))

    def _parts(self, shown: Mapping[str, msgspec.Raw]) -> Iterator[bytes | msgspec.Raw]:
        before = b"{"
        for key, value in {**self.members, "applications": msgspec.Raw()}.items():
            yield from (before, msgspec.json.encode(key), b":")
            yield from member_parts(shown) if key == "applications" else (value,)
            before = b","
        yield b"}"

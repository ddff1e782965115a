"""Why something is not done. Each error is a sentence to a human, and proposes the HTTP status that says so.

No error quotes a value of a request or of an answer of Ray's: names of applications and route prefixes at most.
"""

from __future__ import annotations

from collections.abc import Sequence


class Refusal(Exception):  # noqa: N818 - it is one: the caller is told no, nothing has gone wrong
    """The base: never raised itself. ``status`` is proposed to whoever speaks HTTP; ``title`` is short and constant."""

    status = 400
    title = "Refused"


class InvalidServeConfigError(Refusal):
    """The body cannot be read, so it is not forwarded: Ray's parser might read it, and delete what it does not name."""

    title = "Not a Serve config"


class UnreadableAnswerError(Refusal):
    """Ray answered, but not with what its Serve API answers: nothing is known, so nothing is done."""

    status = 503
    title = "Ray's answer cannot be read"


class UnknownStateError(Refusal):
    """What runs is not known for sure, so nothing is PUT."""

    status = 503
    title = "What runs is not known"


class OutcomeUnknownError(Refusal):
    """A PUT was sent, and Ray did not say whether it took it."""

    status = 503
    title = "Ray did not answer the PUT"


class DeclaredByKubeRayError(Refusal):
    """Somebody names an application that a RayService declares."""

    status = 409
    title = "Declared by KubeRay"

    def __init__(self, names: Sequence[str]) -> None:
        """``names``: the applications, at least one."""
        super().__init__(
            f"{_listed(names)} declared by the RayService behind this cluster. Change spec.serveConfigV2 of the "
            "RayService instead, or deploy under another name."
        )


class RouteTakenError(Refusal):
    """Two applications claim one route prefix. Ray would either refuse all, or silently give the route to the newer."""

    status = 409
    title = "Route prefix is taken"

    def __init__(self, route_prefix: str, claimant: str, holder: str) -> None:
        """``claimant`` is the application in the request, ``holder`` the one that runs."""
        super().__init__(
            f"application {claimant!r} claims the route prefix {route_prefix!r}, which belongs to the running "
            f"application {holder!r}. Give one of them another route_prefix, or delete {holder!r} first."
        )


class WouldDeleteImperativeError(Refusal):
    """Ray before 2.11 deletes applications of ``serve.run`` on every PUT, and no PUT can name them."""

    status = 409
    title = "Would delete applications of serve.run"

    def __init__(self, names: Sequence[str], version: str) -> None:
        """``names``: the applications that would be lost; ``version``: Ray's, as it says it."""
        super().__init__(
            f"Ray {version} deletes applications made by serve.run on any change of the Serve config, and would delete "
            f"{', '.join(map(repr, names))}. Deploy them over REST instead, remove them with serve.delete, upgrade to "
            'Ray 2.11 or newer, or accept the loss: annotation holdfast.dev/allow-loss: "true" '
            "(HOLDFAST_ALLOW_LOSS=true)."
        )


class ImperativeError(Refusal):
    """Asked to delete over REST what only ``serve.delete`` can delete."""

    status = 409
    title = "Made by serve.run"

    def __init__(self, name: str) -> None:
        """``name``: the application."""
        super().__init__(
            f"application {name!r} was deployed by serve.run: Ray has no config of it and no REST call deletes it. "
            f"Run serve.delete({name!r}) in the cluster."
        )


class NoSuchApplicationError(Refusal):
    """There is no application of that name."""

    status = 404
    title = "No such application"

    def __init__(self, name: str) -> None:
        """``name``: what was asked for."""
        super().__init__(f"no application {name!r} runs; GET /-/applications/ lists those that do.")


class ChangedMeanwhileError(Refusal):
    """If-Match or If-None-Match does not hold: somebody else was faster."""

    status = 412
    title = "Changed meanwhile"

    def __init__(self, name: str) -> None:
        """``name``: the application that is not as the caller thought."""
        super().__init__(
            f"application {name!r} is not in the state your If-Match or If-None-Match names. "
            f"GET /-/applications/{name} again, and repeat the change with the new ETag."
        )


def _listed(names: Sequence[str]) -> str:
    quoted = ", ".join(map(repr, names))
    return f"application {quoted} is" if len(names) == 1 else f"applications {quoted} are"

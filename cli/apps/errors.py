"""Why a command ends without having done it. Each is a sentence to a person; the class tells the exit code."""

from __future__ import annotations

EXIT_DONE, EXIT_REFUSED, EXIT_USAGE, EXIT_NOT_REACHED = 0, 1, 2, 3


class CommandError(Exception):
    """The base: never raised itself."""

    exit_code = EXIT_REFUSED


class RefusedError(CommandError):
    """The sidecar, Ray or the API server said no. ``status`` is HTTP's."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class UsageError(CommandError):
    """What was given cannot be meant: a file that cannot be read, two options that exclude each other."""

    exit_code = EXIT_USAGE


class NotReachedError(CommandError):
    """Nobody answered: there is no API server, no head, no sidecar in it."""

    exit_code = EXIT_NOT_REACHED

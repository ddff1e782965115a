"""Running a short command: its output on success, its own words in the error otherwise."""

import subprocess
from collections.abc import Sequence

from tests.cluster.node.errors import CannotRunHereError


def run(command: Sequence[str], *, feed: str | None = None, timeout_s: float = 120) -> str:
    """Run a command to its end and return what it printed.

    Raises: CannotRunHereError with the command's last words if it fails or is not there.
    """
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, input=feed, timeout=timeout_s)
    except FileNotFoundError as error:
        raise CannotRunHereError(f"The command `{command[0]}` is not installed.") from error
    if done.returncode:
        raise CannotRunHereError(f"`{' '.join(command)}` failed ({done.returncode}):\n{done.stderr[-2000:]}")
    return done.stdout


def succeeds(command: Sequence[str], *, timeout_s: float = 60) -> bool:
    """Whether a command is there and ends with 0. For questions, and for removing what may be gone already."""
    try:
        return subprocess.run(command, check=False, capture_output=True, timeout=timeout_s).returncode == 0
    except FileNotFoundError:
        return False

"""The options of `holdfast explain`."""

from __future__ import annotations

from typing import Any

from cli.options import add_sidecar


def add(commands: Any) -> None:  # noqa: ANN401 - argparse has no public name for it
    """Add `explain`."""
    command = commands.add_parser(
        "explain",
        help="the story of one application: whose it is, what became of it, what will",
        description="Tells of one application whence it comes, what happened to it and when, and what the next PUT of "
        "KubeRay, the next head and the next upgrade will do with it. Asks the sidecar, and reads the RayService, its "
        "Events and its journal as far as your rights go; what it may not read, it names. Changes nothing.",
        epilog="Exit codes: 0 if there is a story, 1 if nobody knows such an application or something was refused, 2 "
        "if an option is wrong, 3 if no sidecar was reached.",
    )
    command.add_argument("name", metavar="APP", help="the application")
    command.add_argument("-o", "--output", choices=("text", "json"), default="text", help="%(default)s")
    add_sidecar(command)

"""The options of `holdfast diff`."""

from __future__ import annotations

from typing import Any

from cli.options import add_sidecar


def add(commands: Any) -> None:  # noqa: ANN401 - argparse has no public name for it
    """Add `diff`."""
    command = commands.add_parser(
        "diff",
        help="what a RayService's config would keep, create, change and delete, before it is applied",
        description="Compares the serveConfigV2 of a RayService with what runs, and writes one line an application: "
        "= keep, + create, ~ change, - delete; or ! refuse, where the PUT would be refused. Changes nothing. What Ray "
        "does not show (http_options and the like) is not compared.",
        epilog="Exit codes, as diff's: 0 if nothing would change, 1 if something would, 2 if the PUT would be refused "
        "or something is wrong, 3 if no sidecar was reached.",
    )
    command.add_argument("-f", "--filename", metavar="FILE", required=True, help="the manifest; - is standard input")
    command.add_argument("-o", "--output", choices=("text", "json"), default="text", help="%(default)s")
    add_sidecar(command)

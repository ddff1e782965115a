"""The options of `holdfast apps`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from cli.apps.errors import EXIT_DONE, EXIT_NOT_REACHED, EXIT_REFUSED, EXIT_USAGE
from cli.options import add_sidecar

FORMS = ("table", "wide", "json", "yaml", "name")

WAIT_S = 600.0
"""How long ``--wait`` waits without a number: a large model is fetched and loaded in that time."""

_SPELLED = {"--wait": f"--wait={WAIT_S:g}", "--dry-run": "--dry-run=server"}
_MAX_WAIT_S = 86_400.0
_CODES = (
    f"Exit codes: {EXIT_DONE} if it is done, {EXIT_REFUSED} if something was refused or has failed, {EXIT_USAGE} if an "
    f"option or a file is wrong, {EXIT_NOT_REACHED} if no sidecar was reached."
)
_WAY = (
    "Asks the sidecar of the RayService's head through the API server: no port-forward. Needs the rights list on "
    "rayservices and pods, and get, update and delete on pods/proxy."
)


def add(commands: Any) -> None:  # noqa: ANN401 - argparse has no public name for it
    """Add `apps` with its verbs."""
    apps = commands.add_parser(
        "apps",
        help="list, get, apply or delete one application at a time",
        description=f"One Ray Serve application at a time; nothing else moves. {_WAY}",
        epilog=_CODES,
    )
    verbs = apps.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=type(apps))
    _add_list(verbs)
    _add_get(verbs)
    _add_apply(verbs)
    _add_delete(verbs)


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """``--wait`` and ``--dry-run`` with their values attached: else they would take the name that follows for one."""
    spelled: list[str] = []
    for argument in arguments:
        before = spelled[-1] if spelled else ""
        if before == f"--wait={WAIT_S:g}" and argument.replace(".", "", 1).isdigit():
            spelled[-1] = f"--wait={argument}"
        else:
            spelled.append(_SPELLED.get(argument, argument))
    return spelled


def _verb(verbs: Any, name: str, text: str, description: str) -> argparse.ArgumentParser:  # noqa: ANN401 - see add
    verb: argparse.ArgumentParser = verbs.add_parser(name, help=text, description=description, epilog=_CODES)
    return verb


def _add_list(verbs: Any) -> None:  # noqa: ANN401 - see add
    verb = _verb(
        verbs,
        "list",
        "every application: where it comes from, whose it is, how it is",
        "Lists every application that Ray shows, those of KubeRay and all others.",
    )
    verb.add_argument("-o", "--output", choices=FORMS, default="table", help="%(default)s")
    add_sidecar(verb)


def _add_get(verbs: Any) -> None:  # noqa: ANN401 - see add
    verb = _verb(verbs, "get", "config and state of one", "Shows applications with the config that Ray stores of each.")
    verb.add_argument("names", metavar="NAME", nargs="+", help="the applications")
    verb.add_argument("-o", "--output", choices=FORMS, default="yaml", help="%(default)s")
    add_sidecar(verb)


def _add_apply(verbs: Any) -> None:  # noqa: ANN401 - see add
    verb = _verb(
        verbs,
        "apply",
        "add or replace applications",
        "Adds or replaces the applications of a file: one, a list of them, or a Serve config, as YAML or JSON. Numbers "
        "go as they are written. Every other application stays as it is.",
    )
    verb.add_argument("-f", "--filename", metavar="FILE", required=True, help="the file; - is standard input")
    verb.add_argument("--if-match", metavar="ETAG", type=_etag, help="only if its config still has this ETag")
    _add_wait(verb, "wait until each runs or has failed")
    _add_dry_run(verb)
    add_sidecar(verb)


def _add_delete(verbs: Any) -> None:  # noqa: ANN401 - see add
    verb = _verb(
        verbs, "delete", "delete applications", "Deletes dynamic applications. What a RayService declares is refused."
    )
    verb.add_argument("names", metavar="NAME", nargs="+", help="the applications")
    _add_wait(verb, "wait until each is gone")
    _add_dry_run(verb)
    add_sidecar(verb)


def _add_wait(verb: argparse.ArgumentParser, text: str) -> None:
    verb.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_seconds,
        help=f"{text}, for at most SECONDS ({WAIT_S:g})",
    )


def _add_dry_run(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--dry-run",
        choices=("server",),
        help="change nothing: the sidecar tells what would be done, or why it would refuse",
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= _MAX_WAIT_S:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return seconds


def _etag(text: str) -> str:
    """With or without its quotes: a shell takes them off."""
    return text if text == "*" or text.startswith('"') else f'"{text}"'

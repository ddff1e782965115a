"""`holdfast apps list|get|apply|delete`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Mapping

import msgspec

from cli.apps import changing, showing, spelling
from cli.apps.asking import Sidecar
from cli.apps.common import Prepared, carried_out, colours, complained, ended
from cli.apps.errors import EXIT_DONE
from serveconfig.document import print_members


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """The exit code: 0 done, 1 refused or failed, 2 wrong usage, 3 not reached."""
    prepare = PREPARE[options.verb]
    return ended(f"holdfast apps {options.verb}", lambda: carried_out(lambda: prepare(options), options, environ))


def _list(options: argparse.Namespace) -> Prepared:
    async def carry_out(sidecar: Sidecar) -> int:
        listed, status = await asyncio.gather(sidecar.list(), sidecar.status())
        applications = showing.merged(listed["applications"], status)
        if not applications and options.output in {"table", "wide"}:
            sys.stderr.write("No application runs.\n")
            return EXIT_DONE
        sys.stdout.write(showing.shown(applications, options.output, colours=colours(sys.stdout)))
        return EXIT_DONE

    return carry_out


def _get(options: argparse.Namespace) -> Prepared:
    async def carry_out(sidecar: Sidecar) -> int:
        status = await sidecar.status()
        answers = {name: await sidecar.get(name) for name in options.names}
        found = {name: answer for name, answer in answers.items() if answer is not None}
        sys.stdout.write(_printed(found, status, options.output))
        missing = [f"no application {name} runs" for name in options.names if name not in found]
        return complained("holdfast apps get", missing)

    return carry_out


def _printed(found: Mapping[str, bytes], status: Mapping[str, object], form: str) -> str:
    if form not in {"json", "yaml"}:
        applications = [msgspec.json.decode(answer) for answer in found.values()]
        told = showing.merged(applications, status)
        kept = [each for each in told if each["name"] in found]
        return showing.shown(kept, form, colours=colours(sys.stdout)) if kept else ""
    more = {each["name"]: each for each in showing.merged([{"name": name} for name in found], status)}
    whole = [_with(answer, more[name]) for name, answer in found.items()]
    if form == "yaml":
        return "---\n".join(map(spelling.as_yaml, whole))
    printed = whole[0] if len(whole) == 1 else print_members({"applications": b"[" + b",".join(whole) + b"]"})
    return spelling.indented(printed) if whole else ""


def _with(answer: bytes, more: Mapping[str, object]) -> bytes:
    """The answer in its own bytes, and behind it what else the status page tells of the application."""
    members = msgspec.json.decode(answer, type=dict[str, msgspec.Raw])
    added = {name: msgspec.json.encode(value) for name, value in more.items() if name not in members}
    return print_members({**members, **added})


PREPARE: dict[str, Callable[[argparse.Namespace], Prepared]] = {
    "list": _list,
    "get": _get,
    "apply": changing.apply,
    "delete": changing.delete,
}

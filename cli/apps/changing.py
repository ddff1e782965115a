"""`holdfast apps apply` and `delete`.

Several applications are sent one by one; one that is refused does not keep the others from being sent.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable, Callable

from cli.apps import reading
from cli.apps.asking import GOING, Sidecar
from cli.apps.common import Prepared, complained, progress, read
from cli.apps.errors import RefusedError, UsageError
from cli.apps.waiting import until_gone, until_settled


def apply(options: argparse.Namespace) -> Prepared:
    """Read what is to be applied.

    Raises:
        UsageError: it cannot be read, or ``--if-match`` is given for several.
    """
    given = read(options.filename, reading.read)
    if options.if_match is not None and len(given.applications) > 1:
        raise UsageError("--if-match is for one application; there are several in the file")
    if given.ignored:
        left_out = ", ".join(given.ignored)
        sys.stderr.write(f"holdfast apps apply: left out, as KubeRay alone sets it for all: {left_out}.\n")
    by_name = {application.name: application for application in given.applications}

    async def carry_out(sidecar: Sidecar) -> int:
        async def put(name: str) -> str:
            return await sidecar.put(by_name[name], dry_run=bool(options.dry_run), if_match=options.if_match)

        words, refused = await _each(sidecar, list(by_name), put, dry_run=bool(options.dry_run))
        failed: list[str] = []
        if options.wait is not None and words and not options.dry_run:
            failed = await until_settled(sidecar, words, options.wait, progress())
        return complained("holdfast apps apply", [*refused, *failed])

    return carry_out


def delete(options: argparse.Namespace) -> Prepared:
    """Nothing has to be read."""

    async def carry_out(sidecar: Sidecar) -> int:
        async def drop(name: str) -> str:
            return await sidecar.delete(name, dry_run=bool(options.dry_run))

        words, refused = await _each(sidecar, options.names, drop, dry_run=bool(options.dry_run))
        going = [name for name, word in words.items() if word == GOING]
        left: list[str] = []
        if options.wait is not None and going:
            left = await until_gone(sidecar, going, options.wait, progress())
        return complained("holdfast apps delete", [*refused, *left])

    return carry_out


async def _each(
    sidecar: Sidecar, names: list[str], change: Callable[[str], Awaitable[str]], *, dry_run: bool
) -> tuple[dict[str, str], list[str]]:
    """What became of each, printed; and the refusals."""
    if dry_run:
        await sidecar.expect_dry_run()
    words: dict[str, str] = {}
    refused: list[str] = []
    for name in names:
        try:
            words[name] = await change(name)
        except RefusedError as error:
            refused.append(f"application {name}: {error}")
        else:
            sys.stdout.write(f"application {name}: {words[name]}\n")
            sys.stdout.flush()
    return words, refused

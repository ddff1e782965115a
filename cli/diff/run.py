"""`holdfast diff`: the file, what runs, and the difference. Nothing is changed."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping

from cli.apps.asking import Sidecar
from cli.apps.common import Prepared, carried_out, colours, ended, read
from cli.apps.errors import EXIT_REFUSED, RefusedError, UsageError
from cli.apps.reaching import ThroughApiServer
from cli.diff import manifest, report
from cli.diff.changes import Action, Change, changes
from serveconfig.errors import InvalidServeConfigError, Refusal
from webhook import rolling

EXIT_SAME, EXIT_DIFFERENT, EXIT_TROUBLE = 0, 1, 2

_ROLLS = (
    'holdfast.dev/update-in-place is "false": instead of this, KubeRay makes a new cluster for a change of what is '
    "declared"
)


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """The exit code, as diff's: 0 nothing would change, 1 something would, 2 refused or trouble, 3 not reached."""
    codes = {EXIT_REFUSED: EXIT_TROUBLE}
    return ended("holdfast diff", lambda: carried_out(lambda: _prepare(options), options, environ), codes)


def _prepare(options: argparse.Namespace) -> Prepared:
    """Read the file; name and namespace in it say which RayService is meant, unless options do."""
    new = read(options.filename, lambda content: manifest.rayservice(_text(content), options.rayservice))
    where = new.get("metadata") or {}
    if options.url is None:
        options.rayservice = options.rayservice or where.get("name")
        options.namespace = options.namespace or where.get("namespace")

    async def carry_out(sidecar: Sidecar) -> int:
        live = sidecar.way.rayservice if isinstance(sidecar.way, ThroughApiServer) else None
        status, running = await asyncio.gather(sidecar.status(), sidecar.running())
        found = _compared(new, live, status, running)
        if options.output == "json":
            sys.stdout.write(report.as_json(found))
        else:
            sys.stdout.write(report.lines(found, colours=colours(sys.stdout)))
        if report.is_refused(found):
            return EXIT_TROUBLE
        if not report.changes_anything(found):
            return EXIT_SAME
        if rolling.is_wanted(where.get("annotations") or {}):
            sys.stderr.write(f"holdfast diff: {_ROLLS}.\n")
        return EXIT_DIFFERENT

    return carry_out


def _compared(
    new: manifest.Manifest, live: manifest.Manifest | None, status: Mapping[str, object], running: bytes
) -> list[Change]:
    try:
        return changes(manifest.wanted(new, live), status, running)
    except InvalidServeConfigError as refusal:
        return [Change(Action.REFUSE, None, str(refusal))]
    except Refusal as refusal:
        raise RefusedError(str(refusal).rstrip("."), refusal.status) from refusal


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"it is not UTF-8: see byte {error.start}") from error

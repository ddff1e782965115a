"""`holdfast check`: look, judge, report."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from certs.apiserver import ApiServer, Login, UnreachableError
from certs.place import Place
from cli.check import report, rules
from cli.check.seen import Seen, look

EXIT_WELL, EXIT_FAILED, EXIT_NOT_CHECKED = 0, 1, 2


def run(place: Place, login: Login, *, pre: bool, namespace: str | None, output: str) -> int:
    """The exit code: 0 if no check failed, 1 if one did, 2 if nothing could be checked."""
    try:
        seen = asyncio.run(_look(place, login))
    except UnreachableError as error:
        sys.stderr.write(f"holdfast check: {error}.\n")
        return EXIT_NOT_CHECKED
    found = rules.findings(seen, datetime.now(UTC), pre=pre, namespace=namespace)
    sys.stdout.write(report.as_json(found) if output == "json" else report.lines(found))
    return EXIT_WELL if report.is_well(found) else EXIT_FAILED


async def _look(place: Place, login: Login) -> Seen:
    async with ApiServer.connected(context=login.context, kubeconfig=login.kubeconfig) as api:
        return await look(api, place)

"""`holdfast uninstall`: ask, do, and say what is left."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

from certs.apiserver import ApiError, Login, UnreachableError
from certs.place import Place
from cli.uninstall import steps, traces
from webhook.cluster import Watchable

EXIT_DONE, EXIT_FAILED, EXIT_DECLINED = 0, 1, 2


def run(
    place: Place,
    login: Login,
    *,
    yes: bool = False,
    step_aside: bool = False,
    forget: bool = False,
    ask: Callable[[str], str] = input,
) -> int:
    """Uninstall, after asking. The exit code: 0 done, 1 failed on the way, 2 declined."""
    if not yes and not _agreed(_question(place, step_aside=step_aside, forget=forget), ask):
        sys.stderr.write("holdfast uninstall: nothing was changed.\n")
        return EXIT_DECLINED
    try:
        asyncio.run(_run(place, login, step_aside=step_aside, forget=forget))
    except (ApiError, UnreachableError, steps.StillRunningError) as error:
        sys.stderr.write(f"holdfast uninstall: {error}. Run it again: it goes on from what is left.\n")
        return EXIT_FAILED
    return EXIT_DONE


def _question(place: Place, *, step_aside: bool, forget: bool) -> str:
    what = "stops Holdfast" if step_aside else f"removes Holdfast and the namespace {place.namespace}"
    lost = " The journals go, too: what only they have is lost." if forget else ""
    return (
        f"This {what}. RayServices go on; from then on KubeRay deletes\ndynamic applications again.{lost} Go on? [y/N] "
    )


def _agreed(question: str, ask: Callable[[str], str]) -> bool:
    try:
        return ask(question).strip().lower() in {"y", "yes"}
    except EOFError:
        return False


async def _run(place: Place, login: Login, *, step_aside: bool, forget: bool) -> None:
    async with Watchable.connected(context=login.context, kubeconfig=login.kubeconfig) as api:
        async for line in (steps.step_aside if step_aside else steps.uninstall)(api, place):
            _say(line)
        if not step_aside:
            async for line in left(api, forget=forget):
                _say(line)


async def left(api: Watchable, *, forget: bool) -> AsyncIterator[str]:
    """What is left on purpose; with ``forget`` it is removed.

    Raises:
        ApiError, UnreachableError: it could not be removed. Without ``forget`` what cannot be listed is told.
    """
    yield "Sidecars that still run go with their heads."
    try:
        found = await traces.traces(api)
    except ApiError as error:
        if forget:
            raise
        yield f"What is left besides cannot be listed: {error}"
        return
    if forget:
        await traces.remove(api, found)
    yield ("Removed, too:" if forget else "Left, for when it is installed again:") if found else "Nothing else is left."
    for line in traces.lines(found):
        yield f"  {line}"
    if found and not forget:
        yield "To remove these, too: holdfast uninstall --forget"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()

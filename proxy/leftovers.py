"""A deletion that Ray loses sight of is asked for again.

Ray (seen on 2.9.3 and 2.40.0, not on 2.60.0) lets an application run on whose build ends just when a PUT has dropped
it: it comes back from DELETING, without a config, and goes only with the next PUT that does not name it. Nobody may
send one for weeks; until then the application answers at its route, no merge can name it, and on Ray before 2.39 it
looks like one of ``serve.run``.

What tells it from one that somebody has made anew under the same name is when it was deployed
(``last_deployed_time_s``; seen on 2.9.3): not after its deletion was sent. What was seen before the deletion may differ
from that: a PUT just before may have been stored and not shown yet.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from proxy.ray import RayRefusedError
from serveconfig.errors import Refusal
from serveconfig.plans import is_left_over
from serveconfig.running import Running

log = logging.getLogger("holdfast.leftovers")

WATCH_S = 600.0
"""How long to look, at most. An application is gone 2.2-2.9 s after it was dropped (facts: section 2); but one that is
being built stays DELETING until its build has ended, and comes back then. (2.40.0: twenty builds on two cores take a
minute.)"""

PAUSE_S, LONGEST_PAUSE_S = 0.5, 2.0


async def see_off(
    dropped: Mapping[str, float], look: Callable[[], Awaitable[Running]], drop_again: Callable[[], Awaitable[object]]
) -> None:
    """Watch applications that were dropped until they are gone or made anew; drop again what is left over.

    ``dropped`` maps each one's name to the time up to which it counts as the same.
    """
    until, pause_s = time.monotonic() + WATCH_S, PAUSE_S
    while dropped and time.monotonic() < until:
        await asyncio.sleep(pause_s)
        pause_s = min(1.1 * pause_s, LONGEST_PAUSE_S)
        try:
            running = await look()
            left_over = [app.name for app in running.applications.values() if is_left_over(app, dropped)]
            if left_over:
                log.warning("ray runs on what was deleted; deleting it again", extra={"applications": len(left_over)})
                await drop_again()
        except (Refusal, RayRefusedError):
            log.info("whether a deletion was carried out cannot be seen yet", exc_info=True)
            continue
        dropped = {name: at for name, at in dropped.items() if _may_come_back(running, name, at)}


def _may_come_back(running: Running, name: str, until: float) -> bool:
    app = running.applications.get(name)
    return app is not None and app.deployed_at <= until

"""A deletion that Ray loses sight of is asked for again.

Ray (seen on 2.9.3 and 2.40.0, not on 2.60.0) lets an application run on whose build ends just when a PUT has dropped
it: it comes back from DELETING, without a config, and goes only with the next PUT that does not name it. Nobody may
send one for weeks; until then the application answers at its route, no merge can name it, and on Ray before 2.39 it
looks like one of ``serve.run``.

What tells it from one that somebody has made anew under the same name is when it was deployed: that stays as it was
before the deletion (``last_deployed_time_s``; seen on 2.9.3).
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

WATCH_S = 20.0
"""How long to look. An application is gone 2.2-2.9 s after it was dropped (facts: section 2), or it came back."""

PAUSE_S = 0.5


async def see_off(
    dropped: Mapping[str, float], look: Callable[[], Awaitable[Running]], drop_again: Callable[[], Awaitable[object]]
) -> None:
    """Watch applications that were dropped until they are gone or made anew; drop again what is left over.

    ``dropped`` maps each one's name to when it had been deployed.
    """
    until = time.monotonic() + WATCH_S
    while dropped and time.monotonic() < until:
        await asyncio.sleep(PAUSE_S)
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


def _may_come_back(running: Running, name: str, deployed_at: float) -> bool:
    app = running.applications.get(name)
    return app is not None and app.deployed_at == deployed_at

"""A deletion that Ray loses sight of is asked for again.

Ray (seen on 2.9.3 and 2.40.0, not on 2.60.0) lets an application run on whose build ends just when a PUT has dropped
it: it comes back from DELETING, without a config, and goes only with the next PUT that does not name it. Nobody may
send one for weeks; until then the application answers at its route, and no merge can name it.

Only where Ray says ``source: declarative`` (2.39+) can such an application be told from one that ``serve.run`` has just
made under the same name. Where it cannot, it is left alone: when in doubt, nothing is deleted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from proxy.ray import RayRefusedError
from serveconfig.errors import Refusal
from serveconfig.running import Running

log = logging.getLogger("holdfast.leftovers")

WATCH_S = 20.0
"""How long to look. An application is gone 2.2-2.9 s after it was dropped (facts: section 2), or it came back."""

PAUSE_S = 0.5


async def see_off(
    names: frozenset[str], look: Callable[[], Awaitable[Running]], drop_again: Callable[[], Awaitable[object]]
) -> None:
    """Watch the applications ``names``, which were dropped, until they are gone; drop again what comes back."""
    until = time.monotonic() + WATCH_S
    while names and time.monotonic() < until:
        await asyncio.sleep(PAUSE_S)
        try:
            running = await look()
            if any((app := running.here(name)) and app.is_left_over for name in names):
                log.warning("ray runs on what was deleted; deleting it again", extra={"applications": len(names)})
                await drop_again()
        except (Refusal, RayRefusedError):
            log.info("whether a deletion was carried out cannot be seen yet", exc_info=True)
            continue
        names = frozenset(name for name in names if name in running.applications)

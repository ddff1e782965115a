"""Events are written in the background, and never in anybody's way."""

import asyncio
from typing import Any

from certs.apiserver import ApiError
from webhook.events import About, Events
from webhook.metrics import Metrics
from webhook.notices import Notice, Reason

SHOP = About("web", "shop", "u-1")
NOTICE = Notice(Reason.INJECTED_SIDECAR, "head pod head-0 gets the sidecar holdfast-proxy")


class Api:
    """Keeps what is written, unless it is told to refuse."""

    def __init__(self) -> None:
        self.created: list[dict[str, Any]] = []
        self.patched: list[tuple[str, Any]] = []
        self.refuses = False

    async def create(self, path: str, manifest: dict[str, Any]) -> None:
        if self.refuses:
            raise ApiError(403, "no")
        self.created.append(manifest)

    async def patch(self, path: str, change: Any, content_type: str) -> None:
        self.patched.append((path, change))


async def written(api: Api, notices: list[Notice]) -> str:
    """What the metrics say after these."""
    metrics = Metrics("test")
    events = Events(api, metrics, clock=lambda: 1_800_000_000.0)
    for notice in notices:
        events.tell(SHOP, notice)
    running = asyncio.create_task(events.run())
    async with asyncio.timeout(10):
        while not events.is_idle:  # noqa: ASYNC110 - nobody is told
            await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return metrics.print().decode()


async def test_the_same_twice_is_one_event_counted_twice():
    api = Api()

    metrics = await written(api, [NOTICE, NOTICE])

    (event,) = api.created
    ((path, change),) = api.patched
    assert (event["reason"], event["type"], event["count"]) == ("InjectedSidecar", "Normal", 1)
    assert event["firstTimestamp"] == "2027-01-15T08:00:00Z"
    assert (path.rpartition("/")[2], change["count"]) == (event["metadata"]["name"], 2)
    assert 'holdfast_events_total{outcome="counted"} 1.0' in metrics


async def test_what_cannot_be_written_is_counted_and_left():
    api = Api()
    api.refuses = True

    assert 'holdfast_events_total{outcome="failed"} 1.0' in await written(api, [NOTICE])


async def test_a_flood_is_cut_off():
    api = Api()
    notices = [Notice(Reason.REFUSED_SIDECAR, f"head pod head-{n} gets no sidecar") for n in range(1200)]

    metrics = await written(api, notices)

    assert len(api.created) == 25
    assert 'holdfast_events_total{outcome="dropped"} 1175.0' in metrics

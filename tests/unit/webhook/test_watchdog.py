"""The watchdog against a small API server on a real port: watches that end, break off, or are too old; two replicas."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from tests.unit.webhook.apiserver_double import ApiServerDouble, serving
from tests.unit.webhook.manifests import pod, raycluster, rayservice, service
from webhook import services
from webhook.cluster import Cluster, LookupFailedError, Watchable
from webhook.events import Events
from webhook.metrics import Metrics
from webhook.settings import Settings
from webhook.watchdog import Watchdog, undo_all

HEAD, POD = "/api/v1/namespaces/web/services/head", "/api/v1/namespaces/web/pods/head-0"
EVENTS = "/api/v1/namespaces/web/events/"
SETTINGS = Settings(backoff_s=0.2, resync_s=30)


@pytest.fixture
def double() -> ApiServerDouble:
    made = ApiServerDouble()
    made.put("/apis/ray.io/v1/namespaces/web/rayclusters/shop-abc", raycluster())
    made.put("/apis/ray.io/v1/namespaces/web/rayservices/shop", rayservice())
    return made


@pytest.fixture
async def api(double: ApiServerDouble) -> AsyncIterator[Watchable]:
    async with serving(double) as client:
        yield client


@contextlib.asynccontextmanager
async def watching(api: Watchable, metrics: Metrics | None = None) -> AsyncIterator[Metrics]:
    """One replica."""
    metrics = metrics or Metrics("test")
    events = Events(api, metrics)
    cluster = Cluster(api, within_s=5, remember_s=10)
    loops = [Watchdog(api, cluster, events, metrics, SETTINGS).run(), events.run()]
    tasks = [asyncio.create_task(loop) for loop in loops]
    try:
        yield metrics
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110 - the double tells nobody
            await asyncio.sleep(0.01)


def leads_to_sidecar(double: ApiServerDouble, path: str = HEAD) -> bool:
    return services.is_redirected(double.objects[path])


def events(double: ApiServerDouble) -> list[dict]:
    return [each for path, each in double.objects.items() if path.startswith(EVENTS)]


async def test_g11_a_service_that_leads_to_no_sidecar_is_put_back_and_told(double, api):
    """The webhook was down when the head was created."""
    double.put(HEAD, services.redirect(service()))
    double.put(POD, pod())

    async with watching(api):
        await until(lambda: not leads_to_sidecar(double))
        await until(lambda: bool(events(double)))

    (event,) = events(double)
    assert double.objects[HEAD]["spec"] == service()["spec"]
    assert "annotations" not in double.objects[HEAD]["metadata"] or not double.objects[HEAD]["metadata"]["annotations"]
    assert (event["reason"], event["type"], event["involvedObject"]["name"]) == ("RestoredService", "Warning", "shop")
    assert event["involvedObject"]["uid"] == "u-1"


async def test_a_head_that_comes_with_a_sidecar_is_led_to(double, api):
    double.put(HEAD, service())

    async with watching(api):
        await until(lambda: double.watches == 2)
        double.put(POD, pod(sidecar=True))
        await until(lambda: leads_to_sidecar(double))
        double.remove(POD)
        double.put(POD, pod())
        await until(lambda: not leads_to_sidecar(double))


async def test_two_replicas_repair_once(double, api):
    double.put(HEAD, service())
    metrics = Metrics("test")

    async with watching(api, metrics), watching(api, metrics):
        await until(lambda: double.watches == 4)
        double.put(POD, pod(sidecar=True))
        await until(lambda: leads_to_sidecar(double))
        await asyncio.sleep(0.2)

    written = double.objects[HEAD]
    assert 'reason="RedirectedService"} 1.0' in metrics.print().decode()
    assert sum(port["name"] == "dashboard-ray" for port in written["spec"]["ports"]) == 1


async def test_a_watch_that_ends_begins_again(double, api):
    double.put(HEAD, service())

    async with watching(api):
        await until(lambda: double.watches == 2)
        double.end_watches()
        double.objects[POD] = {
            **pod(sidecar=True),
            "metadata": {**pod()["metadata"], "namespace": "web", "name": "head-0"},
        }
        await until(lambda: leads_to_sidecar(double))


@pytest.mark.parametrize("code", [410, 500])
async def test_a_watch_that_is_told_off_lists_again(double, api, code):
    double.put(HEAD, service())

    async with watching(api):
        await until(lambda: double.watches == 2)
        double.end_watches({"type": "ERROR", "object": {"code": code, "message": "too old"}})
        await until(lambda: double.calls.count(("GET", "/api/v1/pods")) >= 4)
        double.put(POD, pod(sidecar=True))
        await until(lambda: leads_to_sidecar(double))


async def test_a_version_that_is_too_old_lists_again(double, api):
    double.put(HEAD, service())
    double.gone_before = 10_000

    async with watching(api):
        await until(lambda: double.calls.count(("GET", "/api/v1/pods")) >= 4)
        double.gone_before = 0
        double.put(POD, pod(sidecar=True))
        await until(lambda: leads_to_sidecar(double))


async def test_an_api_server_that_is_away_is_asked_again(double, api):
    double.put(HEAD, services.redirect(service()))
    double.put(POD, pod())
    double.faults = [503, 500, 403, 503]

    async with watching(api) as metrics:
        await until(lambda: not leads_to_sidecar(double))

    assert "holdfast_watch_failures_total 4.0" in metrics.print().decode()


async def test_many_heads_in_many_pages_and_each_its_own(double, api):
    for n in range(7):
        double.put(f"/api/v1/namespaces/web/services/head-{n}", service(cluster=f"c-{n}"))
        double.put(f"/api/v1/namespaces/web/pods/pod-{n}", pod(cluster=f"c-{n}", sidecar=n % 2 == 0))

    async with watching(api):
        await until(
            lambda: all(leads_to_sidecar(double, f"/api/v1/namespaces/web/services/head-{n}") for n in (0, 2, 4, 6))
        )

    assert not any(leads_to_sidecar(double, f"/api/v1/namespaces/web/services/head-{n}") for n in (1, 3, 5))


async def test_g11_uninstalling_leads_every_service_back(double, api):
    for n in range(3):
        double.put(f"/api/v1/namespaces/web/services/head-{n}", services.redirect(service(cluster=f"c-{n}")))
    double.put("/api/v1/namespaces/web/services/other", service(cluster="c-9"))

    undone = await undo_all(api)

    assert undone == ["web/head-0", "web/head-1", "web/head-2"]
    assert not any(services.is_redirected(each) for path, each in double.objects.items() if "/services/" in path)


async def test_an_owner_is_looked_up_once_in_a_while(double, api):
    now = 0.0
    cluster = Cluster(api, within_s=5, remember_s=10, clock=lambda: now)

    first = await cluster.owner("web", "shop-abc")
    again = await cluster.owner("web", "shop-abc")
    looked_up = len(double.calls)
    now = 11.0
    later = await cluster.owner("web", "shop-abc")

    assert first == again == later
    assert (looked_up, len(double.calls)) == (2, 4)
    assert first is not None
    assert (first.name, first.uid) == ("shop", "u-1")


async def test_a_raycluster_of_nobody_and_one_that_is_gone_have_no_owner(double, api):
    double.put("/apis/ray.io/v1/namespaces/web/rayclusters/own", raycluster("own", rayservice=None))
    cluster = Cluster(api, within_s=5, remember_s=10)

    assert await cluster.owner("web", "own") is None
    assert await cluster.owner("web", "gone") is None


async def test_a_look_up_that_fails_is_not_remembered(double, api):
    cluster = Cluster(api, within_s=5, remember_s=10)
    double.faults = [500]

    with pytest.raises(LookupFailedError, match="500"):
        await cluster.owner("web", "shop-abc")

    assert await cluster.owner("web", "shop-abc")


async def test_an_api_servers_version_is_read_with_its_plus(api):
    assert await Cluster(api, within_s=5, remember_s=10).version() == (1, 29)


async def test_a_watchdog_that_may_not_write_says_so_and_goes_on(double, api):
    """A role that was cut down: counted, tried again, and nothing else stops."""
    double.put(HEAD, services.redirect(service()))

    async with watching(api) as metrics:
        await until(lambda: double.watches == 2)
        double.refused = {HEAD: 403}
        double.put(POD, pod())
        await until(lambda: "holdfast_watch_failures_total 0.0" not in metrics.print().decode())
        double.refused = {}
        await until(lambda: not leads_to_sidecar(double))


async def test_a_repair_whose_owner_is_not_known_is_made_all_the_same(double, api):
    double.put(HEAD, services.redirect(service()))
    double.put(POD, pod())
    double.refused = {"/apis/ray.io/v1/namespaces/web/rayclusters/shop-abc": 500}

    async with watching(api):
        await until(lambda: not leads_to_sidecar(double))

    assert events(double) == []

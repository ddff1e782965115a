"""G4 refuse, don't guess: who cannot know what runs, PUTs nothing."""

import asyncio
import time

import pytest

from tests.fakes.ray_config import Refusal
from tests.ray.configs import app, tuned
from tests.ray.stages import LOOKUP_TIMEOUT_S, FakeStage, eventually

separate_modules = pytest.mark.on(lambda version, _real: version.has("modules are subprocesses"))
fake_only = pytest.mark.on(lambda _version, real: not real)


@separate_modules
async def test_g4_no_serve_is_not_believed_while_the_gcs_says_nothing(ray, kuberay, developer, dynamic):
    """A dashboard without a handle answers 200 and "no applications" after its look-up has timed out."""
    await ray.restart_dashboard()
    await ray.freeze_gcs()
    if isinstance(ray, FakeStage):
        ray.fake.lookup_timeout_s = 0.3

    kuberay.operator.apply(tuned("shop", 5), http_options=ray.http_options)
    kuberay.operator.timeout_s = 5 * LOOKUP_TIMEOUT_S
    answer = await developer.put_app(app("late"))
    assert not await kuberay.operator.reconcile()
    await ray.thaw_gcs()

    assert answer.status == 503
    assert "application/problem+json" in answer.headers["Content-Type"]
    await kuberay.until_submitted()
    assert dynamic == await ray.until_running(*dynamic)
    assert "late" not in await ray.statuses()


@fake_only
async def test_g4_a_put_while_ray_is_away_is_503_and_the_next_one_goes_through(ray, kuberay, dynamic):
    await ray.fake.hang_up()
    kuberay.operator.apply(tuned("shop", 5))
    assert not await kuberay.operator.reconcile()

    await ray.fake.listen()
    await kuberay.until_submitted()

    assert dynamic == await ray.until_running(*dynamic)


@fake_only
@pytest.mark.parametrize("status", [500, 503, 401, 413])
async def test_g4_nothing_is_put_after_a_get_that_ray_refused(ray, kuberay, developer, dynamic, status):
    ray.fake.faults.answers["GET"] = Refusal(status, "not now")
    puts = count_puts(ray)
    answer = await developer.put_app(app("late"))
    kuberay.operator.apply(tuned("shop", 5))
    await kuberay.operator.reconcile()

    assert answer.status in {503, status}
    assert puts == count_puts(ray)
    del ray.fake.faults.answers["GET"]
    assert dynamic == await ray.replicas(*dynamic)


def count_puts(ray):
    return sum(seen.method == "PUT" for seen in ray.fake.seen)


async def test_g4_a_slow_ray_is_answered_for_within_kuberays_two_seconds(ray, kuberay, dynamic):
    """Frozen, the GCS makes Ray's GET hang: KubeRay gets the last good answer, and it is marked as old."""
    assert dynamic
    await kuberay.until_ready()
    await ray.freeze_gcs()

    async def stale() -> bool:
        started = time.monotonic()
        assert await kuberay.operator.reconcile(), kuberay.operator.error
        assert time.monotonic() - started < 2
        return any("stale" in name for name in kuberay.operator.log[-1].answer.headers)

    await eventually(stale, within_s=10)
    assert kuberay.operator.applications == {"shop": "RUNNING"}
    await ray.thaw_gcs()


@fake_only
async def test_g4_an_answer_is_too_old_after_its_time(ray, kuberay, developer, dynamic):
    assert dynamic
    await kuberay.until_ready()
    await ray.fake.hang_up()

    answer = await developer.ask(
        "PUT", "/api/serve/applications/", {"applications": []}, User_Agent="Go-http-client/1.1"
    )

    assert answer.status == 503
    await ray.fake.listen()


@fake_only
async def test_g4_a_put_that_nobody_waits_for_is_carried_out_once(ray, kuberay, dynamic):
    """KubeRay hangs up after 2 s and sends the same bytes again."""
    ray.fake.faults.put_delay_s = 0.6
    kuberay.operator.timeout_s = 0.3
    puts = count_puts(ray)
    kuberay.operator.apply(tuned("shop", 5), http_options=ray.http_options)

    await kuberay.until_submitted()

    assert count_puts(ray) == puts + 1
    ray.fake.faults.put_delay_s = 0
    assert dynamic == await ray.until_running(*dynamic)


@pytest.mark.usefixtures("dynamic")
async def test_g4_a_head_that_dies_in_the_middle_of_a_put_is_not_taken_for_an_empty_one(ray, kuberay):
    """What KubeRay declared comes back, and what the dead PUT may have created stays KubeRay's to retire."""
    kuberay.operator.apply(tuned("shop", 5), app("cart"), http_options=ray.http_options)
    put = asyncio.create_task(kuberay.operator.reconcile())
    await asyncio.sleep(0.02)
    await ray.restart_head()
    await put

    await kuberay.until_ready()

    assert set(await ray.until_running("shop", "cart")) == {"shop", "cart"}
    await kuberay.declares(tuned("shop", 5))
    await ray.until({"cart": None})

"""What the same steps do without the proxy. Should one of these stop being true, its counterpart proves nothing."""

import asyncio

import pytest

from tests.fakes.kuberay import KubeRay
from tests.ray.configs import app, tuned


async def test_without_holdfast_kuberays_put_deletes_an_application_made_over_rest(ray, kuberay_alone):
    await kuberay_alone.declares(app("shop"))
    await ray.put(app("shop"), app("guest"))
    await ray.until_running("guest")

    await kuberay_alone.declares(tuned("shop", 5))

    await ray.until({"guest": None})


async def test_without_holdfast_even_an_operator_restart_deletes_it(ray, kuberay_alone):
    await kuberay_alone.declares(app("shop"))
    await ray.put(app("shop"), app("guest"))
    await ray.until_running("guest")

    await kuberay_alone.restarts()

    await ray.until({"guest": None})


async def test_without_holdfast_an_operator_restart_starts_a_build_again(ray, kuberay_alone):
    await kuberay_alone.declares(app("shop"), app("heavy", "never_built"))
    await ray.until({"shop": "RUNNING", "heavy": "DEPLOYING"})
    started = (await ray.applications())["heavy"]["last_deployed_time_s"]

    await kuberay_alone.restarts()

    assert started < (await ray.applications())["heavy"]["last_deployed_time_s"]


async def test_without_holdfast_a_number_printed_anew_restarts_an_application(ray, kuberay_alone):
    """KubeRay reads 1.0 and prints 1. What it declares itself is its own affair; what others wrote is not."""
    await ray.put(app("precise", args={"a": 1.0}))
    before = await ray.until_running("precise")

    await kuberay_alone.declares(app("precise", args={"a": 1.0}))

    await ray.until({"precise": "DEPLOYING"})
    assert before != await ray.until_running("precise")


async def test_without_holdfast_a_route_is_taken_in_silence(ray, kuberay_alone):
    await kuberay_alone.declares(app("shop"))
    await ray.put(app("shop"), app("guest"))
    await ray.until_running("guest")

    await kuberay_alone.declares(app("shop"), {**app("thief"), "route_prefix": "/guest"})

    await ray.until({"thief": "RUNNING", "guest": None})


async def test_without_holdfast_of_two_teams_that_put_at_once_one_loses(ray):
    await ray.put()
    await asyncio.gather(ray.put(app("ours")), ray.put(app("theirs")))

    survivors = {name for name, status in (await ray.statuses()).items() if status != "DELETING"}

    assert survivors in ({"ours"}, {"theirs"})


@pytest.mark.on(lambda version, _real: not version.has("a PUT keeps imperative apps"))
async def test_without_holdfast_before_2_11_a_serve_run_application_is_deleted_too(ray, kuberay_alone):
    await kuberay_alone.declares(app("shop"))
    await ray.serve_run("notebook")
    await ray.until_running("notebook")

    await kuberay_alone.restarts()

    await ray.until({"notebook": None})


@pytest.mark.on(lambda version, _real: version.has("a PUT keeps imperative apps"))
async def test_without_holdfast_somebody_elses_broken_application_keeps_a_service_from_being_ready(ray):
    """An operator before 1.5 asks for all applications, and waits for all of them."""
    operator = KubeRay("1.4.2", "127.0.0.1", ray.port)
    operator.apply(app("shop"), http_options=ray.http_options)
    await operator.reconcile()
    await ray.put(app("shop"), app("guest", "absent"))
    await ray.until({"shop": "RUNNING", "guest": "DEPLOY_FAILED"})

    for _ in range(3):
        await operator.reconcile()

    assert not operator.ready
    operator.close()


async def test_without_holdfast_a_service_that_declares_nothing_is_put_for_ever(ray, kuberay_alone):
    await kuberay_alone.declares()

    for _ in range(3):
        await kuberay_alone.operator.reconcile()

    assert kuberay_alone.operator.puts >= 4
    assert not kuberay_alone.operator.ready
    assert ray.port


async def test_without_holdfast_a_controller_restart_brings_a_deleted_application_back(ray, kuberay_alone):
    await kuberay_alone.declares(app("shop"), app("guest"))
    await ray.until_running("guest")
    await ray.serve_delete("guest")
    await ray.until({"guest": None})

    await ray.kill_controller()

    await ray.until_running("guest")

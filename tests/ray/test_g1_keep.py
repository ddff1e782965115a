"""G1 keep: no PUT through the proxy deletes, restarts or reconfigures what its sender does not own.

Each has its counterpart in `test_without_holdfast.py`, where the same steps lose the application.
"""

import asyncio

import pytest

from tests.fakes.kuberay import OPERATORS
from tests.ray.configs import app, tuned
from tests.ray.stages import eventually


async def test_g1_a_put_by_kuberay_keeps_every_dynamic_application_with_its_replicas(ray, kuberay, dynamic):
    await kuberay.declares(tuned("shop", 5), app("cart"))
    await ray.until_running("shop", "cart")

    assert dynamic == await ray.replicas(*dynamic)


async def test_g1_twenty_puts_in_a_row_keep_them_while_others_come_and_go(ray, kuberay, developer, dynamic):
    visits = []
    visitors = asyncio.create_task(come_and_go(developer, visits))

    puts = 0
    while puts < 20 or len(visits) < 3:
        puts += 1
        await kuberay.declares(tuned("shop", puts))
        statuses = await ray.statuses()
        assert {statuses.get(name) for name in dynamic} <= {"RUNNING", "DEPLOYING"}
        assert not visitors.done(), visitors.result()

    visits.append("enough")
    await visitors
    assert dynamic == await ray.until_running(*dynamic)
    await ray.until({"visitor-0": None, "visitor-1": None})


async def come_and_go(developer, visits):
    """Another team deploys an application of its own, deletes it before it is built, deploys the next."""
    while "enough" not in visits:
        name = f"visitor-{len(visits) % 2}"
        put = await developer.put_app(app(name))
        assert put.status in {200, 201}, put
        await asyncio.sleep(0.5)
        deleted = await developer.delete_app(name)
        assert deleted.status in {202, 204}, deleted
        visits.append(name)


async def test_g1_every_operator_version_keeps_them_when_it_takes_over_and_changes_something(ray, kuberay, dynamic):
    for count, version in enumerate(OPERATORS):
        await kuberay.restarts(version)
        await kuberay.declares(tuned("shop", 2 + count))

    assert dynamic == await ray.until_running(*dynamic)


async def test_g1_an_operator_restart_moves_nothing_at_all(ray, kuberay, dynamic):
    before = await ray.applications()

    for _ in range(3):
        await kuberay.restarts()

    after = await ray.applications()
    assert {name: one["last_deployed_time_s"] for name, one in before.items()} == {
        name: one["last_deployed_time_s"] for name, one in after.items()
    }
    assert dynamic == await ray.replicas(*dynamic)


async def test_g1_an_operator_restart_does_not_start_a_build_again(ray, kuberay, developer):
    await kuberay.declares(app("shop"))
    await developer.put_app(app("heavy", "never_built"))
    await ray.until({"shop": "RUNNING", "heavy": "DEPLOYING"})
    started = (await ray.applications())["heavy"]["last_deployed_time_s"]

    await kuberay.restarts()

    assert started == (await ray.applications())["heavy"]["last_deployed_time_s"]


async def test_g1_a_number_is_never_printed_anew(ray, kuberay, developer):
    """1.0 becoming 1 in args is other code to Ray, and restarts every replica."""
    await kuberay.declares(app("shop"))
    await developer.put_app(app("precise", args={"a": 1.0, "b": 1e22, "c": 12345678901234567890, "d": "ü\u2028<&>"}))
    before = await ray.until_running("precise")

    for count in range(2):
        await kuberay.declares(tuned("shop", 5 + count))

    assert before == await ray.until_running("precise")


async def test_g1_a_script_that_puts_its_own_applications_touches_nothing_else(ray, developer, dynamic):
    answer = await developer.put_all(app("batch"))

    assert answer.status == 200
    await ray.until_running("batch", "shop")
    assert dynamic == await ray.replicas(*dynamic)


async def test_g1_a_script_that_deletes_everything_is_told_that_it_would(ray, developer, dynamic):
    answer = await developer.ask("DELETE", "/api/serve/applications/")

    assert answer.status == 409
    assert "force=true" in answer.text
    assert dynamic == await ray.replicas(*dynamic)


async def test_g1_a_route_that_a_kept_application_holds_is_not_taken_from_it(ray, kuberay, dynamic):
    kuberay.operator.apply(app("shop"), {**app("thief"), "route_prefix": "/guest"}, http_options=ray.http_options)

    assert not await kuberay.operator.reconcile()

    assert "409" in kuberay.operator.error
    assert "guest" in kuberay.operator.error
    assert "thief" in kuberay.operator.error
    assert "thief" not in await ray.statuses()
    assert dynamic == await ray.replicas(*dynamic)


async def test_g1_a_controller_that_dies_in_the_middle_of_a_put_takes_nobody_along(ray, kuberay, dynamic):
    kuberay.operator.apply(tuned("shop", 7), http_options=ray.http_options)
    put = asyncio.create_task(kuberay.operator.reconcile())
    await ray.kill_controller()
    await put
    await kuberay.until_submitted()

    assert dynamic == await ray.until_running(*dynamic)
    for count in range(3):
        await kuberay.declares(tuned("shop", 8 + count))
    assert dynamic == await ray.until_running(*dynamic)


async def test_g1_a_head_that_comes_back_blank_in_the_middle_of_a_put_gets_its_static_applications(
    ray, kuberay, dynamic
):
    assert dynamic
    kuberay.operator.apply(tuned("shop", 7), http_options=ray.http_options)
    put = asyncio.create_task(kuberay.operator.reconcile())
    await ray.restart_head()
    await put

    async def put_again() -> bool:
        await kuberay.operator.reconcile()
        return (await ray.statuses()).get("shop") == "RUNNING"

    await eventually(put_again)


old_rays = pytest.mark.on(lambda version, _real: not version.has("a PUT keeps imperative apps"))


@old_rays
async def test_g1_before_2_11_a_put_that_would_delete_a_serve_run_application_is_refused_by_name(ray, kuberay):
    await kuberay.declares(app("shop"))
    await ray.serve_run("notebook")
    before = await ray.until_running("notebook", "shop")

    kuberay.operator.apply(tuned("shop", 5), http_options=ray.http_options)
    for _ in range(3):
        assert not await kuberay.operator.reconcile()

    assert "409" in kuberay.operator.error
    assert "notebook" in kuberay.operator.error
    assert before == await ray.replicas("notebook", "shop")


@old_rays
async def test_g1_before_2_11_an_operator_restart_that_changes_nothing_is_answered_200(ray, kuberay):
    await kuberay.declares(app("shop"))
    await ray.serve_run("notebook")
    before = await ray.until_running("notebook", "shop")

    for _ in range(3):
        await kuberay.restarts()

    assert before == await ray.replicas("notebook", "shop")

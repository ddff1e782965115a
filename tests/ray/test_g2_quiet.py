"""G2 quiet: KubeRay is shown what it declared, and nothing else."""

import json

import pytest

from tests.fakes.kuberay import KubeRay
from tests.ray.configs import app
from tests.ray.rayservice import RayService

VOLATILE = ("last_deployed_time_s", "controller_health_metrics")


async def kuberays_view(developer, **headers):
    answer = await developer.ask("GET", "/api/serve/applications/", User_Agent="Go-http-client/1.1", **headers)
    assert answer.status == 200, answer
    return without(json.loads(answer.text), VOLATILE)


def without(value, keys):
    if isinstance(value, dict):
        return {key: without(one, keys) for key, one in value.items() if key not in keys}
    return [without(one, keys) for one in value] if isinstance(value, list) else value


async def test_g2_kuberays_view_is_the_same_with_and_without_applications_that_fail_and_deploy(ray, kuberay, developer):
    await kuberay.declares(app("shop"))
    await ray.until_running("shop")
    alone = await kuberays_view(developer)

    await developer.put_app(app("failing", "absent"))
    await developer.put_app(app("starting", "never_ready"))
    if ray.keeps_imperative:
        await ray.serve_run("notebook")
    await ray.until({"failing": "DEPLOY_FAILED", "starting": "DEPLOYING", "shop": "RUNNING"})

    assert list(alone["applications"]) == ["shop"]
    assert alone == await kuberays_view(developer)


async def test_g2_a_service_becomes_ready_whatever_others_have_broken(ray, kuberay, developer):
    await kuberay.declares(app("shop"))
    await developer.put_app(app("failing", "absent"))
    await developer.put_app(app("starting", "never_ready"))

    await kuberay.until_ready()

    assert kuberay.operator.applications == {"shop": "RUNNING"}
    assert {"failing", "starting"} < set(await ray.statuses())


@pytest.mark.parametrize("version", ["1.0.0", "1.2.2", "1.4.2", "1.5.2", "1.7.0"])
@pytest.mark.on(lambda _version, real: not real)
async def test_g2_every_operator_becomes_ready_and_puts_once(ray, proxy, developer, version):
    service = RayService(KubeRay(version, "127.0.0.1", proxy.port), ray)
    await service.declares(app("shop"))
    await developer.put_app(app("failing", "absent"))

    await service.until_ready()
    for _ in range(3):
        assert await service.operator.reconcile()

    assert service.operator.puts == 1
    service.operator.close()


async def test_g2_a_static_application_that_fails_is_shown_as_it_is(ray, kuberay):
    await kuberay.declares(app("shop"), app("cart", "absent"))
    await ray.until({"shop": "RUNNING", "cart": "DEPLOY_FAILED"})

    assert await kuberay.operator.reconcile()

    assert kuberay.operator.applications == {"shop": "RUNNING", "cart": "DEPLOY_FAILED"}
    assert not kuberay.operator.ready


async def test_g2_a_service_that_declares_nothing_becomes_ready_and_is_put_once(ray, kuberay, developer):
    await kuberay.declares()
    await developer.put_app(app("guest"))

    await kuberay.until_ready()
    for _ in range(3):
        assert await kuberay.operator.reconcile()

    assert kuberay.operator.puts == 1
    assert list(await ray.statuses()) == ["guest"]


async def test_g2_everybody_else_sees_what_ray_says(ray, developer, dynamic):
    seen = (await developer.get()).json

    assert {"shop", *dynamic} == set(seen["applications"])
    assert without(await ray.details(), VOLATILE) == without(seen, VOLATILE)


async def test_g2_what_an_operator_upgrade_asks_for_differently_is_answered_the_same(ray, kuberay, developer, dynamic):
    await ray.until_running("shop", *dynamic)

    by_name = await kuberays_view(developer)
    answer = await developer.get("/api/serve/applications/?api_type=declarative")

    assert by_name == without(answer.json, VOLATILE)
    assert kuberay.operator.submitted

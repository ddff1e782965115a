"""g. A RayService declares nothing: all applications come from developers. Is it a RayService all the same?"""

import asyncio

import pytest

from tests.cluster.kubectl import KubectlError
from tests.cluster.manifests import application

PATIENCE_S = 40


def without_holdfast(pair, how):
    """(The application is still there, the RayService is Running.)

    Until KubeRay 1.2 "no application at my last look" means PUT at once, and that deletes what REST has made; from 1.3
    on KubeRay looks right before. What `serve.run` made is not counted from 1.5 and Ray 2.50 on: no app, not ready.
    """
    if how == "by-rest":
        return (pair.kuberay_reports_by_endpoints, pair.kuberay_reports_by_endpoints)
    return (pair.ray_keeps_imperative, pair.ray_keeps_imperative and not pair.kuberay_asks_for_declared_only)


@pytest.mark.parametrize("how", ["by-rest", "by-serve-run"])
async def test_a_service_that_declares_nothing_serves(service, operator, record, how):
    await service.apply()
    head = await service.first_head()
    await operator.has_put(service.namespace)
    puts = await operator.puts(service.namespace)
    await asyncio.sleep(30)
    puts_per_minute = 2 * (await operator.puts(service.namespace) - puts)

    deployed = await deploys(head, how)
    ready_after = await service.running_within(PATIENCE_S)
    stays = how in await head.look()

    record.note(puts_per_minute=puts_per_minute, deployed=deployed, stays=stays, seconds_to_running=ready_after)
    seen = (stays, ready_after is not None)
    record.judge((True, True), seen)
    assert ((True, True) if service.holdfast else without_holdfast(service.pair, how)) == seen


async def deploys(head, how):
    """Whether the developer is told of success: `serve.run` fails if a PUT deletes what it still waits for."""
    try:
        await (head.deploy_by_rest(application(how)) if how == "by-rest" else head.deploy_imperatively(how))
    except (KubectlError, TimeoutError):
        return False
    return True

"""r. An upgrade moves capacity and traffic bit by bit: KubeRay PUTs to both clusters, with ever other capacities."""

import asyncio

import pytest

from tests.cluster import gateway
from tests.cluster.api import ApiError
from tests.cluster.fates import running
from tests.cluster.manifests import application

PATIENCE_S = 480  # KubeRay looks once a minute at some of its steps
STATIC, BOTH = {"static"}, {"static", "by-rest"}


@pytest.mark.told_with("1.5.1", "1.6.2")
async def test_an_upgrade_bit_by_bit_takes_the_dynamic_apps_along(api, service, operator, record):
    try:
        await gateway.install(operator)
        head = await service.start(application("static"), incremental=True)
        await head.deploy_by_rest(application("by-rest"))
        await head.runs(*BOTH)
        old = await service.active_cluster()

        await service.apply(application("static"), cluster_note="second")
        switched = asyncio.create_task(service.switched_from(old, patience_s=PATIENCE_S))
        capacities, on_the_old = [], BOTH
        while not switched.done():
            await gateway.accept(api, service)
            capacity, apps = await told(head)
            capacities += [capacity] if apps and capacity not in capacities else []
            on_the_old = on_the_old & apps if apps else on_the_old
            await asyncio.sleep(1)
        seconds, new = await switched, await service.head()
        at_the_switch = running(await new.look())
        capacity, _ = await told(new)
    finally:
        await service.delete()
        await gateway.uninstall(operator)

    record.note(seconds_to_switch=seconds, capacities_of_the_old=capacities, capacity_of_the_new=capacity)
    record.note(on_the_old_all_the_time=sorted(on_the_old), runs_at_the_switch=sorted(at_the_switch))
    record.judge((BOTH, BOTH), (on_the_old, at_the_switch))
    expected = BOTH if service.holdfast else STATIC
    assert (expected, expected, 100) == (on_the_old, at_the_switch, capacity)


async def told(head):
    """The share of its replicas that a Ray runs, in percent, and the applications it has; none once it is gone."""
    try:
        answer = await head.applications()
    except ApiError:
        return None, set()
    return answer["target_capacity"], set(answer["applications"])

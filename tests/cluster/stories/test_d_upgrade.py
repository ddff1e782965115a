"""d. The owners change the cluster. KubeRay makes a new one and moves the traffic; customers should not notice."""

import asyncio

import pytest

from tests.cluster.fates import running
from tests.cluster.manifests import application
from tests.cluster.traffic import Customer

APPS = ("static", "by-cr", "by-rest", "by-serve-run")
# `serve.run` leaves no config behind: nobody can carry that one over, with or without Holdfast.
WITH_HOLDFAST = WISH = {"static", "by-cr", "by-rest"}
WITHOUT_HOLDFAST = {"static", "by-cr"}


@pytest.mark.core_with_holdfast
async def test_an_upgrade_brings_the_dynamic_apps_along(service, record):
    head = await service.start(application("static"), application("by-cr"))
    await head.deploy_by_rest(application("by-rest"))
    await head.deploy_imperatively("by-serve-run")
    await head.runs(*APPS)
    customer = Customer(service)
    await customer.come(APPS)
    old = await service.active_cluster()

    await service.apply(application("static"), application("by-cr"), cluster_note="second")
    seconds = await service.switched_from(old, patience_s=180)
    at_the_switch = running(await (await service.head()).look())
    await asyncio.sleep(15)
    afterwards = running(await (await service.head()).look())
    served = await customer.counted("served", last_seconds=5)

    record.note(seconds_to_switch=seconds, runs_at_the_switch=sorted(at_the_switch), runs_afterwards=sorted(afterwards))
    record.note(refused=dict(await customer.counted("refused")), served_afterwards=sorted(+served))
    record.judge(WISH, afterwards)
    expected = WITH_HOLDFAST if service.holdfast else WITHOUT_HOLDFAST
    assert (expected, expected) == (at_the_switch, afterwards)

"""m. The owners change the cluster of twenty dynamic applications, one of them broken, while its platform goes on."""

import asyncio

import pytest

from tests.cluster.fates import running
from tests.cluster.manifests import application
from tests.cluster.traffic import Customer

MODELS = [f"model-{n}" for n in range(19)]
PATIENCE_S = 420
"""Forty replicas start twice on two cores."""


@pytest.mark.with_holdfast
async def test_an_upgrade_brings_exactly_what_is_wanted(service, record):
    head = await service.start(application("static"))
    await head.deploy_by_rest(*map(application, MODELS), application("broken", word=""))
    await head.runs(*MODELS, patience_s=PATIENCE_S)
    customer = Customer(service)
    await customer.come(("static", *MODELS[5:]))
    old = await service.active_cluster()

    await service.apply(application("static"), cluster_note="second")
    switched = asyncio.create_task(service.switched_from(old, patience_s=PATIENCE_S))
    for number in range(3):
        await asyncio.sleep(5)
        await head.upsert(application(f"late-{number}"))
        await head.remove(MODELS[number])
    early = switched.done()
    seconds = await switched
    new = await service.head()
    at_the_switch = running(await new.look())
    await asyncio.sleep(10)
    refused = await customer.counted("refused")

    wanted = {"static", *MODELS[3:], "late-0", "late-1", "late-2"}
    record.note(
        seconds_to_switch=seconds, missing=sorted(wanted - at_the_switch), too_many=sorted(at_the_switch - wanted)
    )
    record.note(refused=refused.total())
    record.judge(wanted, at_the_switch)
    assert not early
    assert wanted == at_the_switch

"""o. The sidecar crashes, or its container is killed, three times, while the owners change what is static."""

import asyncio
import contextlib

import pytest

from tests.cluster import sidecar
from tests.cluster.api import ApiError
from tests.cluster.fates import Fate, fates
from tests.cluster.faults import sidecar_dies
from tests.cluster.manifests import application
from tests.cluster.traffic import Customer

EXPECTED = {"static": Fate.KEPT, "retires": Fate.LOST, "second": Fate.NEW, "by-rest": Fate.KEPT}
TIMES = 3


@pytest.mark.with_holdfast
@pytest.mark.parametrize("how", ["crashed", pytest.param("killed", marks=pytest.mark.own_node)])
async def test_a_sidecar_that_dies_loses_nothing(service, record, how):
    head = await service.start(application("static"), application("retires"))
    await head.deploy_by_rest(application("by-rest"))
    before = await head.runs("static", "retires", "by-rest")
    customer = Customer(service)
    await customer.come(("static", "by-rest"))

    for number in range(1, TIMES + 1):
        await sidecar_dies(head, how)
        if number == 1:  # it has to know afterwards what was declared before
            await service.apply(application("static"), application("second"))
        died = number * (how == "killed")
        await service.until(lambda died=died: back(head, died), "the sidecar to be back", patience_s=90)
    seconds_to_change = await service.until(lambda: is_so(head), "what was declared", patience_s=90)

    seen = fates(before, await head.look())
    refused = dict(+await customer.counted("refused"))
    restarts = sidecar.restarts(await head.pod_object())
    record.note(fates=seen, refused=refused, restarts=restarts, seconds_from_the_last_to_the_change=seconds_to_change)
    record.judge((EXPECTED, {}), (seen, refused))
    assert (seen, restarts) == (EXPECTED, TIMES if how == "killed" else 0)
    # While one of its containers is away a pod is not ready, and Services leave it out: of a head that serves itself,
    # customers are refused until the kubelet has started the sidecar again. A crash does not end the container.
    assert how == "killed" or not refused


async def back(head, died):
    """Started again as often as its container died, and it answers."""
    told = sidecar.status(await head.pod_object())
    with contextlib.suppress(ApiError):
        return told["restartCount"] == died and "running" in told["state"] and bool(await head.sidecar_metrics())
    return False


async def is_so(head):
    """KubeRay has come through, and Ray has done what it said."""
    await asyncio.sleep(1)
    seen = await head.look()
    return "retires" not in seen and "second" in seen and seen["second"].runs

"""a. The operator restarts. Nobody has changed anything, so nothing may move."""

import asyncio

import pytest

from tests.cluster.fates import Fate, fates
from tests.cluster.manifests import application

WITH_HOLDFAST = {"static": Fate.KEPT, "by-cr": Fate.KEPT, "by-rest": Fate.KEPT, "by-serve-run": Fate.KEPT}


def without_holdfast(pair):
    """The operator has forgotten what it sent, and sends it again: to Ray that means delete what is not in it."""
    return WITH_HOLDFAST | {
        "by-rest": Fate.LOST,
        "by-serve-run": Fate.KEPT if pair.ray_keeps_imperative else Fate.LOST,
    }


@pytest.mark.core
async def test_an_operator_restart_moves_nothing(service, operator, record):
    head = await service.start(application("static"))
    await service.add_by_patch(application("by-cr"))
    await head.runs("static", "by-cr")
    await head.deploy_by_rest(application("by-rest"))
    await head.deploy_imperatively("by-serve-run")
    before = await head.runs("static", "by-cr", "by-rest", "by-serve-run")

    await operator.restart()
    await operator.has_put(service.namespace)
    await asyncio.sleep(8)  # Ray deletes within 3 s, KubeRay comes again every 2 s

    seen = fates(before, await head.look())
    record.note(fates=seen, puts_after_restart=await operator.puts(service.namespace))
    record.judge(WITH_HOLDFAST, seen)
    assert (WITH_HOLDFAST if service.holdfast else without_holdfast(service.pair)) == seen

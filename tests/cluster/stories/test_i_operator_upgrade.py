"""i. The operator is upgraded under a RayService that runs."""

import asyncio

import pytest

from tests.cluster.fates import Fate, fates
from tests.cluster.manifests import application
from tests.cluster.operators import UPGRADE_TO, Operator

WITH_HOLDFAST = {"static": Fate.KEPT, "by-rest": Fate.KEPT, "by-serve-run": Fate.KEPT}


def without_holdfast(pair):
    """An upgraded operator is a restarted operator: it has forgotten what it sent."""
    return WITH_HOLDFAST | {
        "by-rest": Fate.LOST,
        "by-serve-run": Fate.KEPT if pair.ray_keeps_imperative else Fate.LOST,
    }


@pytest.mark.told_with("1.2.2", "1.4.2")
async def test_an_operator_upgrade_moves_nothing(service, operator, record):
    head = await service.start(application("static"))
    await head.deploy_by_rest(application("by-rest"))
    await head.deploy_imperatively("by-serve-run")
    before = await head.runs("static", "by-rest", "by-serve-run")
    cluster = await service.active_cluster()

    try:
        newer = Operator(UPGRADE_TO)
        await newer.install()
        await newer.has_put(service.namespace)
        await asyncio.sleep(8)  # Ray deletes within 3 s, KubeRay comes again every 2 s
        seen = fates(before, await head.look())
        same_cluster = await service.active_cluster() == cluster
    finally:
        await service.delete()  # while the operator is there that has put its finalizer on it
        await operator.install()

    record.note(fates=seen, same_cluster=same_cluster)
    record.judge((WITH_HOLDFAST, True), (seen, same_cluster))
    assert ((WITH_HOLDFAST if service.holdfast else without_holdfast(service.pair)), True) == (seen, same_cluster)

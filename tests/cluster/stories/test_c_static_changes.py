"""c. The owners add one static application, change another and retire a third. The dynamic ones are not concerned."""

import asyncio

from tests.cluster.fates import Fate, fates
from tests.cluster.manifests import application

WITH_HOLDFAST = {
    "stays": Fate.KEPT,
    "changes": Fate.RESTARTED,
    "retires": Fate.LOST,
    "comes": Fate.NEW,
    "by-rest": Fate.KEPT,
    "by-serve-run": Fate.KEPT,
}


def without_holdfast(pair):
    return WITH_HOLDFAST | {
        "by-rest": Fate.LOST,
        "by-serve-run": Fate.KEPT if pair.ray_keeps_imperative else Fate.LOST,
    }


async def test_a_static_change_touches_static_apps_only(service, record):
    head = await service.start(application("stays"), application("changes"), application("retires"))
    await head.deploy_by_rest(application("by-rest"))
    await head.deploy_imperatively("by-serve-run")
    before = await head.runs("stays", "changes", "retires", "by-rest", "by-serve-run")

    await service.apply(application("stays"), application("changes", word="changed"), application("comes"))
    await head.runs("comes")
    await asyncio.sleep(8)  # Ray deletes within 3 s, KubeRay comes again every 2 s

    seen = fates(before, await head.look())
    record.note(fates=seen)
    record.judge(WITH_HOLDFAST, seen)
    assert (WITH_HOLDFAST if service.holdfast else without_holdfast(service.pair)) == seen

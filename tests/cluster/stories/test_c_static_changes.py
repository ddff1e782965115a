"""c. The owners add one static application, change another and retire a third. The dynamic ones are not concerned."""

import asyncio

from tests.cluster.fates import Fate, fates
from tests.cluster.manifests import application

WISH = {
    "stays": Fate.KEPT,
    "changes": Fate.RESTARTED,
    "retires": Fate.LOST,
    "comes": Fate.NEW,
    "by-rest": Fate.KEPT,
    "by-serve-run": Fate.KEPT,
}
REFUSED = dict.fromkeys(WISH.keys() - {"comes"}, Fate.KEPT)


def with_holdfast(pair):
    """Before Ray 2.11 any PUT deletes what `serve.run` has deployed: Holdfast sends none, and says why to KubeRay."""
    return WISH if pair.ray_keeps_imperative else REFUSED


def without_holdfast(pair):
    return WISH | {
        "by-rest": Fate.LOST,
        "by-serve-run": Fate.KEPT if pair.ray_keeps_imperative else Fate.LOST,
    }


async def test_a_static_change_touches_static_apps_only(service, record):
    head = await service.start(application("stays"), application("changes"), application("retires"))
    await head.deploy_by_rest(application("by-rest"))
    await head.deploy_imperatively("by-serve-run")
    before = await head.runs("stays", "changes", "retires", "by-rest", "by-serve-run")
    expected = (with_holdfast if service.holdfast else without_holdfast)(service.pair)

    await service.apply(application("stays"), application("changes", word="changed"), application("comes"))
    await head.runs(*({"comes"} & expected.keys()))
    await asyncio.sleep(8)  # Ray deletes within 3 s, KubeRay comes again every 2 s

    seen = fates(before, await head.look())
    record.note(fates=seen)
    record.judge(WISH, seen)
    assert expected == seen
    if seen == REFUSED:
        await the_way_out(service, head, record, before)


async def the_way_out(service, head, record, before):
    """Its developer deletes what only a PUT would have deleted: the change goes through, and the rest is as wished."""
    record.note(kuberay_says=[event for event in await service.events() if "by-serve-run" in event][-1:])
    await head.delete_imperatively("by-serve-run")
    await head.runs("comes")
    await asyncio.sleep(8)
    seen = fates(before, await head.look())
    record.note(fates_after_serve_delete=seen)
    assert seen == WISH | {"by-serve-run": Fate.LOST}

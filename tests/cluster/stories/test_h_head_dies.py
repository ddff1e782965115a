"""h. The head pod is deleted, or its Ray dies in place; with and without GCS fault tolerance."""

import asyncio

import pytest

from tests.cluster.fates import Fate, fates
from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import application, redis

BACK = {"static": Fate.RESTARTED, "by-rest": Fate.RESTARTED, "by-serve-run": Fate.RESTARTED}
# Nobody has the config of what `serve.run` made: without a GCS that survives, it is gone with any head.
WISH = {"blank": BACK | {"by-serve-run": Fate.LOST}, "survives": BACK}


def expected(pair, gcs, *, holdfast):
    """A GCS that survives brings back what it knew; a blank head gets what is declared, and what Holdfast carries over.

    Ray before 2.11 deletes what `serve.run` has made when its controller starts.
    """
    if gcs == "blank":
        return BACK | {"by-rest": Fate.RESTARTED if holdfast else Fate.LOST, "by-serve-run": Fate.LOST}
    return BACK | {"by-serve-run": Fate.RESTARTED if pair.ray_keeps_imperative else Fate.LOST}


@pytest.mark.parametrize(
    ("how", "gcs"),
    [
        pytest.param("deleted", "blank", marks=pytest.mark.core_with_holdfast),
        ("deleted", "survives"),
        ("killed", "blank"),
        ("killed", "survives"),
    ],
)
async def test_dynamic_apps_come_back_with_the_head(service, record, how, gcs):
    if gcs == "survives":
        await kubectl("create", f"--namespace={service.namespace}", "--filename=-", feed=as_list(redis()))
    head = await service.start(application("static"), survives_gcs=gcs == "survives")
    await head.deploy_by_rest(application("by-rest"))
    await head.deploy_imperatively("by-serve-run")
    before = await head.runs("static", "by-rest", "by-serve-run")

    seconds = await service.lose_head(head, how)
    head = await service.head()
    await head.runs("static", patience_s=120)
    await asyncio.sleep(15)  # the others come back after the static one

    seen = fates(before, await head.look())
    record.note(fates=seen, seconds_to_running=seconds)
    record.judge(WISH[gcs], seen)
    assert expected(service.pair, gcs, holdfast=service.holdfast) == seen


def as_list(manifests):
    return {"apiVersion": "v1", "kind": "List", "items": manifests}

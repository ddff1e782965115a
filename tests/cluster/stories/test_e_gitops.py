"""e. A platform has put an application into the RayService; then the GitOps tool applies its repository."""

import asyncio

import pytest

from tests.cluster.fates import Fate, fates
from tests.cluster.manifests import application

# Which applications are the platform's: only Holdfast reads it.
OURS = {"holdfast.dev/dynamic-apps": "by-cr*"}
WITH_HOLDFAST = {"static": Fate.KEPT, "second": Fate.NEW, "by-cr": Fate.KEPT}
WITHOUT_HOLDFAST = WITH_HOLDFAST | {"by-cr": Fate.LOST}


@pytest.mark.parametrize("by", ["server-side", "client-side"])
async def test_an_apply_leaves_another_writers_app(service, record, by):
    await service.apply(application("static"), by=by, annotations=OURS)
    await service.is_running()
    head = await service.head()
    await service.add_by_patch(application("by-cr"))
    before = await head.runs("static", "by-cr")

    await service.apply(application("static"), application("second"), by=by)
    await head.runs("second")
    await asyncio.sleep(8)  # Ray deletes within 3 s, KubeRay comes again every 2 s

    seen = fates(before, await head.look())
    record.note(fates=seen, declared_afterwards=await service.declared())
    record.judge(WITH_HOLDFAST, seen)
    assert (WITH_HOLDFAST if service.holdfast else WITHOUT_HOLDFAST) == seen

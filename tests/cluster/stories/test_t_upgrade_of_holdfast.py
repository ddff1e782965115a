"""t. Holdfast itself is upgraded under a RayService that runs. Nothing restarts; the next head gets the new sidecar."""

import asyncio

import pytest

from tests.cluster import installation, previous, sidecar
from tests.cluster.fates import Fate, fates, running
from tests.cluster.image_names import image
from tests.cluster.manifests import application


@pytest.mark.with_holdfast
@pytest.mark.own_node
async def test_holdfast_is_upgraded_under_a_running_service(service, record):
    """The journal that the old one wrote is read by the new one: what was made by REST comes with the next head."""
    with previous.on_the_node() as old:
        try:
            await installation.install(old.tree, previous.TAG)
            head = await service.start(application("static"))
            await head.deploy_by_rest(application("by-rest"))
            before = await head.runs("static", "by-rest")
            images = [sidecar.image(await head.pod_object())]
        finally:
            await installation.install()
    await asyncio.sleep(8)  # KubeRay comes every 2 s
    upgraded = fates(before, await head.look())
    restarts = sidecar.restarts(await head.pod_object())
    checks = [await installation.check()]

    await head.die("deleted")
    head = await service.next_head(head)
    images.append(sidecar.image(await head.pod_object()))
    came_along = running(await head.runs("static", "by-rest", patience_s=180))
    checks.append(await installation.check())

    record.note(previous=old.commit[:12], upgraded=upgraded, restarts=restarts, came_along=sorted(came_along))
    record.note(sidecars=images, warned=[line for _, said in checks for line in said.splitlines() if "WARNING" in line])
    seen = (upgraded, restarts, images, came_along, [status for status, _ in checks])
    expected = (
        {"static": Fate.KEPT, "by-rest": Fate.KEPT},
        0,
        [image("holdfast/holdfast", previous.TAG), image("holdfast/holdfast", "test")],
        {"static", "by-rest"},
        [0, 0],
    )
    record.judge(expected, seen)
    assert expected == seen

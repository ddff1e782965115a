"""l. Holdfast is installed under a RayService that runs, and uninstalled again. Nothing restarts."""

import asyncio

import pytest

from tests.cluster import installation, sidecar
from tests.cluster.fates import Fate, fates
from tests.cluster.manifests import application

RAY, SIDECAR = 8265, 28265


@pytest.mark.with_holdfast
async def test_holdfast_comes_and_goes_under_a_running_service(service, record):
    await installation.uninstall()
    try:
        head = await service.start(application("static"))
        await head.deploy_by_rest(application("by-rest"), port=RAY)
        before = await head.runs("static", "by-rest")
    finally:
        await installation.install()
    await asyncio.sleep(8)  # KubeRay comes every 2 s
    installed = fates(before, await head.look())
    restarts = sidecar.restarts(await head.pod_object())
    led_to = [await service.head_service_leads_to()]

    await head.die("deleted")
    head = await service.next_head(head)
    led_to.append((await service.until_head_service_leads_to(SIDECAR, patience_s=30)) and SIDECAR)
    before = await head.runs("static", patience_s=120)

    try:
        await installation.uninstall()
        led_to.append(await service.head_service_leads_to())
        await service.apply(application("static"), application("second"))
        await head.runs("second")
        uninstalled = fates(before, await head.look())
    finally:
        await installation.install()

    record.note(installed=installed, restarts_by_installing=restarts, uninstalled=uninstalled, service_led_to=led_to)
    seen = (installed, restarts, uninstalled, led_to)
    expected = (
        {"static": Fate.KEPT, "by-rest": Fate.KEPT},
        0,
        {"static": Fate.KEPT, "second": Fate.NEW},
        [RAY, SIDECAR, RAY],
    )
    record.judge(expected, seen)
    assert expected == seen

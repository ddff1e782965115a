"""v. Somebody leaves, as docs/uninstall.md says. Nothing stays behind, the service goes on; and one may come back."""

import pytest

from tests.cluster import installation, leftovers, reader
from tests.cluster.fates import Fate, fates
from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import application

RAY, SIDECAR = 8265, 28265
WAYS = {"command": "With the command", "chart": "With Helm", "kubectl": "With kubectl alone"}


@pytest.mark.with_holdfast
@pytest.mark.parametrize("way", WAYS)
async def test_whoever_leaves_leaves_nothing_behind(service, record, way):
    if way == "chart":
        await installation.uninstall()
        await installation.install_chart()
    try:
        head = await service.start(application("static"))
        await service.until_head_service_leads_to(SIDECAR, patience_s=30)
        await head.upsert(application("by-rest"))
        before = await head.runs("static", "by-rest")

        await reader.follow("docs/uninstall.md", WAYS[way])
        await installation.is_gone()
        led_to = [await service.head_service_leads_to()]
        left = await fates_at_once(service, before)
        kept_for_later = await leftovers.find()
        await installation.uninstall("--forget")
        found = await leftovers.find()
        await service.apply(application("static"), application("second"))
        head = await service.head()
        await head.runs("second")
        status = await service.service_status()
    finally:
        await installation.install()
    await kubectl("label", "namespace", service.namespace, "holdfast.dev/inject=enabled")
    led_to.append(await service.until_head_service_leads_to(SIDECAR, patience_s=30) and SIDECAR)

    record.note(applications=left, left_on_purpose=kept_for_later, left_after_forgetting=found, status=status)
    seen = (left, bool(kept_for_later), found, led_to, status)
    expected = ({"static": Fate.KEPT, "by-rest": Fate.KEPT}, True, [], [RAY, SIDECAR], "Running")
    record.judge(expected, seen)
    assert expected == seen


async def fates_at_once(service, before):
    """Before KubeRay has a reason to PUT."""
    return fates(before, await (await service.head()).look())

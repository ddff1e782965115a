"""b. A developer's application cannot be built. That is the developer's trouble, and not the RayService's."""

import asyncio

from tests.cluster.manifests import application

RUNNING = "Running"


def without_holdfast(pair):
    """Until KubeRay 1.2 every application must run, whoever deployed it; from 1.3 on only until the first time."""
    return RUNNING if pair.kuberay_reports_by_endpoints else "WaitForServeDeploymentReady"


async def test_a_failed_app_leaves_the_service_running(service, record):
    head = await service.start(application("static"))
    await head.deploy_by_rest(application("by-rest", word=""))
    await head.failed("by-rest")

    await asyncio.sleep(10)  # KubeRay looks every 2 s

    status = await service.service_status()
    record.note(service_status=status)
    record.judge(RUNNING, status)
    assert (RUNNING if service.holdfast else without_holdfast(service.pair)) == status

"""f. A platform deploys a broken application to the new cluster as soon as it is there. Does traffic switch?"""

from tests.cluster.manifests import application

PATIENCE_S = 75
"""Twice what a switch takes on a busy machine without the broken application. It comes no later: nothing changes."""


async def test_an_upgrade_does_not_wait_for_a_broken_app(service, record):
    await service.start(application("static"))
    old = await service.active_cluster()

    await service.apply(application("static"), cluster_note="second")
    new_head = await service.head(await named_pending(service))
    await new_head.shows("static")  # before that, KubeRay's first PUT would delete it
    await new_head.deploy_by_rest(application("by-rest", word=""))
    seconds = await service.switched_from(old, patience_s=PATIENCE_S)

    status = await service.service_status()
    record.note(switched=seconds is not None, seconds_to_switch=seconds, service_status=status)
    record.judge(True, seconds is not None)
    assert service.holdfast == (seconds is not None)


async def named_pending(service):
    async def named():
        return bool(await service.pending_cluster())

    await service.until(named, "a pending cluster", patience_s=60)
    return await service.pending_cluster()

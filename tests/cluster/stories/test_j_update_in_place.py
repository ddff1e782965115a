"""j. The owners wish a change of a static application to roll a new cluster, and not to touch the one that serves."""

import asyncio

from tests.cluster.manifests import application

# Only Holdfast reads it.
WISH = {"holdfast.dev/update-in-place": "false"}


async def test_a_static_change_rolls_if_wished(service, record):
    head = await service.start(application("static"), annotations=WISH)
    old, before = await service.active_cluster(), await head.look()

    await service.apply(application("static", word="changed"))
    await asyncio.sleep(20)
    rolls = await service.pending_cluster() != "" or await service.active_cluster() != old
    touched = (await head.look()).get("static") != before["static"]

    record.note(rolls=rolls, touched_in_place=touched)
    record.judge((True, False), (rolls, touched))
    assert (service.holdfast, not service.holdfast) == (rolls, touched)

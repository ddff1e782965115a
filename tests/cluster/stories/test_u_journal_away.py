"""u. For ten minutes the webhook is away, and so is the journal. Developers go on. Then the journal has it all."""

import asyncio
from collections import Counter

import pytest

from tests.cluster import installation, sidecar
from tests.cluster.faults import sidecar_dies
from tests.cluster.manifests import application

AWAY_S, EVERY_S = 600, 5


@pytest.mark.long
@pytest.mark.with_holdfast
async def test_what_is_changed_while_the_webhook_is_away_is_caught_up_with(service, record):
    head = await service.start(application("static"))
    right, said = {}, Counter()

    await installation.scale(0)
    try:
        for number in range(AWAY_S // EVERY_S):
            name = f"app-{number % 5}"
            if number % 3 == 2 and name in right:
                said[await head.remove(name)] += 1
                del right[name]
            else:
                right[name] = f"word-{number}"
                said[await head.upsert(application(name, right[name]))] += 1
            if number == AWAY_S // EVERY_S // 2:  # what is queued has to outlive it
                await sidecar_dies(head, "ended")
                await service.until(lambda: back(head), "the sidecar to be back", patience_s=90)
            await asyncio.sleep(EVERY_S)
    finally:
        await installation.scale(2)
    caught_up = await service.until(lambda: is_told(head), "the journal to have it all", patience_s=90)

    await head.die("deleted")
    head = await service.next_head(head)
    await head.runs("static", *right, patience_s=180)
    runs = await head.words()

    record.note(answers=said, seconds_to_catch_up=caught_up)
    record.judge((right, {"queued"}), (runs, set(said)))
    assert (right, {"queued"}) == (runs, set(said))


async def back(head):
    """Started again, and running."""
    told = sidecar.status(await head.pod_object())
    return told["restartCount"] == 1 and "running" in told["state"]


async def is_told(head):
    """Nothing waits to be sent."""
    return "holdfast_journal_unsent_changes 0.0" in await head.sidecar_metrics()

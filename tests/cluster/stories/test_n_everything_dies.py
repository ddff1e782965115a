"""n. For ten minutes something dies every half minute, while teams deploy and delete. What was acknowledged holds."""

import asyncio
import random
from collections import Counter

import pytest

from tests.cluster.faults import faults, strike
from tests.cluster.manifests import application
from tests.cluster.writers import Team

SEED, LASTS_S, SETTLES_S = 20261201, 600, 240


@pytest.mark.long
@pytest.mark.with_holdfast
async def test_what_was_acknowledged_holds_whatever_dies(service, operator, record):
    await service.start(application("static"))
    dice, over = random.Random(SEED), asyncio.Event()  # noqa: S311 - so that a run can be told again
    teams = [Team(service, name, random.Random(dice.random())) for name in ("red", "green", "blue")]  # noqa: S311

    at_work = [asyncio.create_task(team.work(over)) for team in teams]
    asyncio.get_running_loop().call_later(LASTS_S, over.set)
    struck = await strike(faults(service, operator), dice, over)
    await asyncio.gather(*at_work)
    wrong = await settled(service, teams)

    record.note(died=dict(Counter(struck)), acknowledged=sum(team.acknowledged for team in teams))
    record.note(sure=sum(team.sure for team in teams), of=sum(len(team.right) for team in teams), wrong=wrong)
    record.judge({}, wrong)
    assert wrong == {}


async def settled(service, teams):
    """What is wrong at last, once everything has had time to come back."""
    wrong = {"nothing": "was seen"}
    for _ in range(SETTLES_S // 5):
        await asyncio.sleep(5)
        runs = await (await service.head()).words()
        wrong = {name: why for team in teams for name, why in team.wrong(runs).items()}
        if not wrong:
            break
    return wrong

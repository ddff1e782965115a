"""What outlives the proxy in its container: it starts it again, passes signals on, gives up where that is no use."""

import asyncio
import contextlib
import json
import os
import signal
import sys

import pytest

PATIENCE_S = 20
RUN = """
import os, signal, sys, time
from proxy import supervising
supervising.SOON_S = {soon}

def run():
    print(os.getpid(), flush=True)
    {body}

sys.exit(supervising.supervised(run))
"""
WAITS = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7)); time.sleep(60); return 1"


@pytest.fixture
async def start():
    started = []

    async def start(body, soon=0.0):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", RUN.format(body=body, soon=soon)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()


async def child(process):
    async with asyncio.timeout(PATIENCE_S):
        return int(await process.stdout.readline())


async def ended(process):
    async with asyncio.timeout(PATIENCE_S):
        return await process.wait()


async def test_g11_one_that_is_killed_is_started_again_and_the_log_says_so(start):
    process = await start(WAITS)

    children = []
    for _ in range(5):
        children.append(await child(process))
        os.kill(children[-1], signal.SIGKILL)

    assert len({*children, await child(process)}) == 6
    told = json.loads(await process.stderr.readline())
    assert (told["msg"], told["code"]) == ("the proxy has ended and is started again", 128 + signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_is_the_proxys_and_its_exit_code_the_containers(start, number):
    process = await start(WAITS.replace("SIGTERM", number.name))
    await child(process)
    await asyncio.sleep(0.3)  # until it has its handler

    process.send_signal(number)

    assert await ended(process) == 7


async def test_one_that_cannot_run_ends_the_container_with_its_exit_code(start):
    process = await start("return 2", soon=10.0)

    assert await ended(process) == 2
    assert len((await process.stdout.read()).split()) == 3


async def test_one_that_ends_as_it_should_ends_the_container(start):
    process = await start("return 0")

    assert await ended(process) == 0


async def test_whoever_is_orphaned_is_buried(start):
    process = await start("os.fork() or os._exit(0); os.fork(); time.sleep(1); sys.exit(3)", soon=10.0)

    assert await ended(process) == 3

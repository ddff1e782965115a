"""The sidecar as a process: it starts, says where it listens, drains on SIGTERM, and says why it cannot start."""

import asyncio
import json
import os
import signal
import socket
import sys

import pytest

from tests.words import listing

SERVE = "/api/serve/applications/"
PATIENCE_S = 20


@pytest.fixture
async def ray():
    """A Ray that answers every GET after ``late_s``; (port, late)."""
    late = {"s": 0.0}

    async def answer(reader, writer):
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(late["s"])
            body = listing()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async def serve(reader, writer):
        serving.add(asyncio.current_task())
        try:
            await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()

    serving = set()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], late
    server.close()
    for task in serving:
        task.cancel()
    await asyncio.gather(*serving)


@pytest.fixture
async def start(ray, tmp_path):
    """Start the sidecar with these settings; gives the process."""
    started = []

    async def start(**settings):
        given = {"listen": "127.0.0.1:0", "listen_agent": "", "upstream": f"127.0.0.1:{ray[0]}", "state_dir": tmp_path}
        environ = {f"HOLDFAST_{name.upper()}": str(value) for name, value in {**given, **settings}.items()}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "proxy", env={**os.environ, **environ}, stderr=asyncio.subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def line(process):
    async with asyncio.timeout(PATIENCE_S):
        return json.loads(await process.stderr.readline())


async def ended(process):
    async with asyncio.timeout(PATIENCE_S):
        return await process.wait()


async def get(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: x\r\nUser-Agent: Go-http-client/1.1\r\nConnection: close\r\n\r\n".encode()
    )
    answer = await reader.read()
    writer.close()
    return answer


async def test_it_says_where_it_listens_and_answers_there(start):
    process = await start(listen_agent="127.0.0.1:0")
    dashboard, agent = await line(process), await line(process)

    assert (dashboard["listener"], agent["listener"]) == ("dashboard", "agent")
    assert (await get(dashboard["port"], SERVE)).startswith(b"HTTP/1.1 200 ")


async def test_g9_kuberay_1_0_is_answered_from_the_agents_port(start, ray):
    process = await start(listen_agent="127.0.0.1:0", upstream="127.0.0.1:1", upstream_agent=f"127.0.0.1:{ray[0]}")
    await line(process)
    agent = await line(process)

    assert (await get(agent["port"], SERVE)).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_ends_on_a_signal_after_the_requests_in_flight(start, ray, number):
    ray[1]["s"] = 0.5
    process = await start()
    port = (await line(process))["port"]
    asked = asyncio.create_task(get(port, "/api/version"))
    await asyncio.sleep(0.2)

    process.send_signal(number)

    assert (await asked).startswith(b"HTTP/1.1 200 ")
    assert await ended(process) == 0


async def test_what_does_not_end_within_the_grace_is_cut(start, ray):
    ray[1]["s"] = 3600
    process = await start(grace_s=0.2)
    port = (await line(process))["port"]
    asked = asyncio.create_task(get(port, "/api/version"))
    await asyncio.sleep(0.2)

    process.send_signal(signal.SIGTERM)

    assert await ended(process) == 0
    assert await asked == b""


async def test_a_port_in_use_is_one_sentence_and_exit_code_2(start):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = await start(listen=f"127.0.0.1:{taken.getsockname()[1]}")

        said = await line(process)

    assert (said["msg"], "in use" in said["error"]) == ("cannot start", True)
    assert await ended(process) == 2


async def test_a_setting_that_cannot_be_read_is_one_sentence(start):
    process = await start(grace_s="soon")

    assert (await process.stderr.read()).decode().strip().startswith("holdfast proxy: HOLDFAST_GRACE_S: ")
    assert await ended(process) != 0

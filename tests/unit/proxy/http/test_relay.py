"""The relay: who answers, what is told of it, and how it ends. What passes is proved in tests/differential."""

import asyncio
import json
import logging
import socket
import subprocess
import sys

import pytest

from proxy.http.local import Answer
from tests.unit.proxy.http.conftest import OK, eventually

GET = b"GET /pass?secret HTTP/1.1\r\nHost: ray\r\n\r\n"
HERE = b"GET /here HTTP/1.1\r\nHost: ray\r\n\r\n"


async def here(_):
    return Answer(200, ((b"Content-Type", b"text/plain"),), [b"from here"])


def problem(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    return json.loads(body)


async def test_a_request_with_a_handler_never_reaches_ray(house, ray):
    house.handlers["/here"] = here
    client = await house.client()

    assert b"from here" in await client.ask(HERE, b"from here")
    assert b"ok" in await client.ask(GET, b"ok")
    assert ray.heads == [GET]


@pytest.mark.parametrize("target", [b"/%68ere", b"http://x/here", b"/here?a", b"/here#a", b"x:/h%65re"])
async def test_g1_no_spelling_of_a_path_gets_round_its_handler(house, ray, target):
    house.handlers["/here"] = here
    client = await house.client()

    await client.ask(HERE.replace(b"/here", target), b"from here")

    assert ray.heads == []


async def test_an_exchange_is_told_without_its_query(house):
    client = await house.client()
    await client.ask(GET, b"ok")
    await eventually(lambda: house.exchanges)

    (told,) = house.exchanges
    assert (told.method, told.path, told.status, told.passed_through) == ("GET", "/pass", 200, True)
    assert (len(GET), len(OK)) == (told.received_bytes, told.sent_bytes)
    assert 0 < told.duration_s < 5


async def test_bytes_are_counted_exchange_by_exchange(house):
    house.handlers["/here"] = here
    client = await house.client()
    put = b"PUT /a HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
    sent = len(await client.ask(HERE, b"from here"))
    await client.ask(put, b"ok")
    await eventually(lambda: len(house.exchanges) == 2)

    assert [(len(HERE), sent, False), (len(put), len(OK), True)] == [
        (told.received_bytes, told.sent_bytes, told.passed_through) for told in house.exchanges
    ]


async def test_g11_a_fault_in_a_handler_costs_its_own_request_and_nothing_else(house, caplog):
    async def faulty(_):
        raise ZeroDivisionError("s3cret")

    house.handlers |= {"/faulty": faulty, "/here": here}
    client = await house.client()
    request = b"PUT /faulty?s3cret HTTP/1.1\r\nAuthorization: s3cret\r\nContent-Length: 6\r\n\r\ns3cret"

    with caplog.at_level(logging.ERROR, logger="holdfast.relay"):
        answer = await client.ask(request, b"}")

    assert (problem(answer)["status"], problem(answer)["title"]) == (500, "Internal error")
    assert b"s3cret" not in answer
    assert [record.message for record in caplog.records] == ["handler failed"]
    assert caplog.records[0].exc_info
    assert b"from here" in await client.ask(HERE, b"from here")


async def test_a_fault_in_an_observer_closes_the_connection_and_is_logged(house, caplog):
    def faulty(_):
        raise ZeroDivisionError

    house.observe = faulty
    client = await house.client()

    with caplog.at_level(logging.ERROR, logger="holdfast.relay"):
        await client.send(GET)
        await client.rest()

    assert [record.message for record in caplog.records] == ["connection failed"]


async def test_ray_away_is_502_with_a_sentence_and_the_connection_stays(house, ray):
    await ray.stop()
    client = await house.client()

    answer = await client.ask(GET, b"}")

    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"\r\nRetry-After: 1\r\n" in answer
    assert "cannot be reached" in problem(answer)["detail"]
    await ray.start(ray.port)
    assert b"ok" in await client.ask(GET, b"ok")


async def test_an_upload_to_a_ray_that_is_away_is_answered_before_it_is_over(house, ray):
    await ray.stop()
    client = await house.client()
    await client.send(b"PUT /a HTTP/1.1\r\nContent-Length: 100000000\r\n\r\n" + b"a" * 100_000)

    answer = await client.read(b"}")

    assert b"Connection: close" in answer
    assert await client.rest() == b""


async def test_what_ray_did_is_not_guessed_when_it_breaks_off(house, ray):
    async def close(_, writer):
        writer.close()

    ray.answer = close
    client = await house.client()

    detail = problem(await client.ask(b"DELETE /a HTTP/1.1\r\n\r\n", b"}"))["detail"]

    assert "not known" in detail
    assert len(ray.heads) == 1


@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
async def test_g9_what_changes_nothing_is_sent_again_on_a_new_connection(house, ray, method):
    client = await house.client()
    await client.ask(GET, b"ok")

    async def once_more(_, writer):
        ray.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        writer.close()

    ray.answer = once_more

    assert b"200" in await client.ask(GET.replace(b"GET", method), b"\r\n\r\n")
    assert (ray.connections, len(ray.heads)) == (2, 3)


@pytest.mark.parametrize("method", [b"PUT", b"POST", b"DELETE", b"BREW"])
async def test_g9_what_may_change_something_goes_on_a_connection_of_its_own(house, ray, method):
    client = await house.client()
    await client.ask(GET, b"ok")

    await client.ask(GET.replace(b"GET", method), b"ok")

    assert ray.connections == 2


async def test_a_client_that_leaves_an_idle_stream_is_noticed_at_once(house, ray):
    async def stream(reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\none")
        assert await reader.read() == b""
        writer.close()

    ray.answer = stream
    client = await house.client()
    await client.ask(GET, b"one")

    client.close()

    await eventually(lambda: ray.ended == 1)
    await eventually(lambda: [told.status for told in house.exchanges] == [200])


async def test_a_client_that_leaves_before_its_answer_has_status_0(house, ray):
    async def never(reader, _):
        await reader.read()

    ray.answer = never
    client = await house.client()
    await client.send(GET)
    await eventually(lambda: ray.heads)

    client.reset()

    await eventually(lambda: [told.status for told in house.exchanges] == [0])


async def test_a_handler_finishes_though_its_client_has_left(house):
    """KubeRay hangs up after 2 s, and Ray carries a PUT out all the same: so do we."""
    began, go_on, finished = asyncio.Event(), asyncio.Event(), []

    async def slow(_):
        began.set()
        await go_on.wait()
        finished.append(True)
        return Answer(200)

    house.handlers["/slow"] = slow
    client = await house.client()
    await client.send(b"GET /slow HTTP/1.1\r\n\r\n")
    await began.wait()
    client.reset()
    await asyncio.sleep(0.02)
    go_on.set()

    await eventually(lambda: house.exchanges)
    assert (finished, house.exchanges[0].status) == ([True], 0)


async def test_a_head_that_does_not_come_in_time_is_408(house):
    await house.listen(head_timeout_s=0.05, linger_s=0.05)
    client = await house.client()

    answer = await client.ask(b"GET / HTT", b"}")

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert [(told.method, told.path, told.status, told.passed_through) for told in house.exchanges] == [
        ("", "", 408, False)
    ]


async def test_the_time_for_a_head_runs_from_its_first_byte(house):
    await house.listen(head_timeout_s=0.1)
    client = await house.client()
    await asyncio.sleep(0.15)

    assert b"ok" in await client.ask(GET, b"ok")


async def test_a_connection_that_is_idle_for_too_long_is_closed(house):
    await house.listen(idle_timeout_s=0.01)
    client = await house.client()
    await client.ask(GET, b"ok")
    await asyncio.sleep(0.05)

    house.relay._close_idle()

    assert await client.rest() == b""


async def test_a_refused_request_is_told_and_the_connection_closed(house, ray):
    client = await house.client()

    answer = await client.ask(b"POST /a HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"}")

    assert b"Connection: close" in answer
    assert await client.rest() == b""
    assert [(told.method, told.path, told.status) for told in house.exchanges] == [("POST", "/a", 400)]
    assert ray.heads == []


async def test_many_clients_at_once_get_their_own_answers(house, ray):
    async def echo(_, writer):
        target = ray.heads[-1].split()[1]
        await asyncio.sleep(0)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(target), target))

    ray.answer = echo

    async def ask(number):
        client = await house.client()
        for turn in range(3):
            target = b"/%d.%d." % (number, turn)
            assert (await client.ask(GET.replace(b"/pass?secret", target), target)).endswith(target)

    await house.listen()
    await asyncio.gather(*(ask(number) for number in range(40)))
    assert len(ray.heads) == 120


async def test_a_relay_listens_where_it_is_told(house):
    """On a port of its own choice, and on a socket it is handed."""
    await house.listen()
    sock = socket.create_server(("127.0.0.1", 0))

    assert sock.getsockname()[1] == await house.relay.listen("", 0, sock=sock)


def test_the_relay_imports_nothing_that_is_heavy():
    """A cold start counts: meanwhile KubeRay sees a head that does not answer. (asyncio itself brings ssl.)"""
    heavy = "{'http.client', 'email', 'urllib.request', 'aiohttp', 'xml', 'multiprocessing'}"
    program = f"import sys, proxy.relay; print({heavy} & set(sys.modules))"

    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout == "set()\n"
    )

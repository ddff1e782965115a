"""A server on a real socket whose certificate changes under it."""

import asyncio
import datetime as dt
import ssl

import pytest
from aiohttp import ClientSession, TCPConnector, web

from certs import authority
from certs.bundle import CA_CERT, CERT, KEY, Pair
from certs.folder import Folder
from certs.renewal import Terms
from certs.tls import LiveContext

NAME = "localhost"
ONE, TWO = (authority.first((NAME,), Terms(), dt.datetime.now(dt.UTC)) for _ in range(2))


def trusting(bundle):
    return ssl.create_default_context(cadata=bundle.trust_pem().decode())


class Server:
    """Says hello; to ``/slow`` only when a test says so."""

    def __init__(self):
        self.live = LiveContext()
        self.arrived, self.go_on = asyncio.Event(), asyncio.Event()

    async def answer(self, request):
        if request.path == "/slow":
            self.arrived.set()
            await self.go_on.wait()
        return web.Response(text="hello")


@pytest.fixture
async def server():
    server = Server()
    app = web.Application()
    app.router.add_get("/{rest:.*}", server.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=server.live.context)
    await site.start()
    server.url = f"https://{NAME}:{runner.addresses[0][1]}"
    yield server
    await runner.cleanup()


async def get(server, bundle, path="/"):
    async with (
        ClientSession(connector=TCPConnector(ssl=trusting(bundle))) as client,
        client.get(server.url + path) as answer,
    ):
        return await answer.text()


async def test_the_next_handshake_gets_the_new_certificate(server):
    server.live.load(ONE.serving)
    assert await get(server, ONE) == "hello"

    assert server.live.load(TWO.serving)

    assert await get(server, TWO) == "hello"
    with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
        await get(server, ONE)


async def test_a_request_in_flight_is_answered_and_its_connection_goes_on(server):
    server.live.load(ONE.serving)
    async with ClientSession(connector=TCPConnector(ssl=trusting(ONE), limit=1)) as client:

        async def slow():
            async with client.get(server.url + "/slow") as answer:
                return await answer.text()

        in_flight = asyncio.create_task(slow())
        await server.arrived.wait()
        server.live.load(TWO.serving)
        server.go_on.set()

        assert await in_flight == "hello"
        async with client.get(server.url) as answer:  # over the same connection: this client does not trust the new one
            assert await answer.text() == "hello"


async def test_changed_a_hundred_times_under_load_no_request_fails(server):
    server.live.load(ONE.serving)
    both = ssl.create_default_context(cadata=(ONE.trust_pem() + TWO.trust_pem()).decode())

    async def ask():
        async with ClientSession(connector=TCPConnector(ssl=both, force_close=True)) as client:
            for _ in range(20):
                async with client.get(server.url) as answer:
                    assert await answer.text() == "hello"

    async def change():
        for turn in range(100):
            server.live.load((ONE, TWO)[turn % 2].serving)
            await asyncio.sleep(0)

    await asyncio.gather(ask(), ask(), change())


async def test_before_the_first_certificate_no_handshake_succeeds(server):
    with pytest.raises(Exception, match=r"(?i)handshake|alert|ssl"):
        await get(server, ONE)


@pytest.mark.parametrize(
    "bad",
    [Pair(b"x", b"y"), Pair(ONE.serving.cert_pem, TWO.serving.key_pem), Pair(TWO.serving.cert_pem, b"")],
    ids=["no PEM", "key of another", "no key"],
)
async def test_a_bad_pair_is_refused_and_the_good_one_served_on(server, bad):
    server.live.load(ONE.serving)

    with pytest.raises(ssl.SSLError):
        server.live.load(bad)

    assert await get(server, ONE) == "hello"
    assert server.live.loaded == ONE.serving


async def test_the_same_certificate_is_not_loaded_twice(server):
    assert server.live.load(ONE.serving)
    assert not server.live.load(ONE.serving)


async def test_old_versions_of_tls_are_refused(server):
    server.live.load(ONE.serving)
    old = trusting(ONE)
    old.minimum_version = ssl.TLSVersion.TLSv1_2
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    async with ClientSession(connector=TCPConnector(ssl=old)) as client, client.get(server.url) as answer:
        assert answer.status == 200

    assert server.live.context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_a_folder_that_changes_is_read_again_and_a_bad_one_is_survived(tmp_path, metrics):
    live = LiveContext()
    folder = Folder(tmp_path, live, metrics)
    assert not folder.step()

    for bundle in (ONE, TWO):
        (tmp_path / CERT).write_bytes(bundle.serving.cert_pem)
        (tmp_path / KEY).write_bytes(bundle.serving.key_pem)
        assert folder.step()
        assert live.loaded == bundle.serving

    (tmp_path / KEY).write_bytes(ONE.serving.key_pem)  # half of a change
    assert folder.step()
    assert live.loaded == TWO.serving
    assert metrics.failures._value.get() == 2


def test_g5_a_folder_says_whom_to_trust_and_where_it_does_not_the_log_says_what_that_means(tmp_path, metrics, caplog):
    live = LiveContext()
    (tmp_path / CERT).write_bytes(ONE.serving.cert_pem)
    (tmp_path / KEY).write_bytes(ONE.serving.key_pem)

    Folder(tmp_path, live, metrics).step()
    assert live.trust_pem == b""
    assert [record.message for record in caplog.records] == ["no ca.crt: sidecars go without the journal"]

    (tmp_path / CA_CERT).write_bytes(ONE.trust_pem())
    Folder(tmp_path, live, metrics).step()
    assert live.trust_pem == ONE.trust_pem()

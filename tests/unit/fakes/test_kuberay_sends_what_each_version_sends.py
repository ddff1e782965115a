"""The KubeRay double: its bytes are Go's, and it PUTs when the real operator would."""

import pytest

from tests.fakes.dashboard import FakeRay
from tests.fakes.go_wire import Request, marshal
from tests.fakes.kuberay import DashboardError, KubeRay, statuses

STATIC = {"name": "static", "route_prefix": "/static", "import_path": "served:echo"}
OTHER = {"name": "other", "route_prefix": "/other", "import_path": "served:echo"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}'),
        ("<a&b>", r'"\u003ca\u0026b\u003e"'),
        ("ü\u2028\n\x01", '"ü\\u2028\\n\\u0001"'),
        (1.0, "1"),
        (2.5, "2.5"),
        (-0.5, "-0.5"),
        (1e-05, "0.00001"),
        (1e-07, "1e-7"),
        (1.5e-09, "1.5e-9"),
        (1e20, "100000000000000000000"),
        (1e22, "1e+22"),
        (123456789012345680000.0, "123456789012345680000"),
        (2**63 - 1, "9223372036854775807"),
        (12345678901234567890, "12345678901234567000"),
    ],
)
def test_json_is_written_as_go_writes_it(value, text):
    assert text == marshal(value)


def test_a_put_has_gos_headers_in_gos_order():
    put = Request("PUT", "/x/", "Go-http-client/1.1", {"Content-Type": "application/json"}, b"{}")

    assert put.on_the_wire("h:1") == (
        b"PUT /x/ HTTP/1.1\r\nHost: h:1\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: 2\r\n"
        b"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n{}"
    )


@pytest.fixture
async def ray():
    async with FakeRay("2.60.0") as ray:
        ray.cluster.delays.build_s = ray.cluster.delays.start_s = ray.cluster.delays.flicker_s = 0
        yield ray


@pytest.fixture(params=["1.2.2", "1.6.2"], ids=["puts, then asks", "asks, then puts"])
def kuberay(ray, request):
    kuberay = KubeRay(request.param, "127.0.0.1", ray.port)
    kuberay.apply(STATIC)
    yield kuberay
    kuberay.close()


async def test_a_new_service_is_put_once_and_becomes_ready(kuberay):
    for _ in range(3):
        assert await kuberay.reconcile(), kuberay.error

    assert kuberay.ready
    assert kuberay.puts == 1


@pytest.mark.parametrize(
    ("versions", "methods", "query", "token"),
    [
        (["1.0.0", "1.1.1", "1.2.2"], ["PUT", "GET"], "", False),
        (["1.3.2", "1.4.2"], ["GET", "PUT"], "", False),
        (["1.5.0"], ["GET", "PUT"], "?api_type=declarative", False),
        (["1.5.2", "1.6.2", "1.7.0"], ["GET", "PUT"], "?api_type=declarative", True),
    ],
)
async def test_versions_differ_in_order_query_and_token(ray, versions, methods, query, token):
    for version in versions:
        ray.seen.clear()
        kuberay = KubeRay(version, "127.0.0.1", ray.port, token="abc")  # noqa: S106 - nobody's
        kuberay.apply(STATIC)
        await kuberay.reconcile()
        kuberay.close()

        assert [seen.method for seen in ray.seen] == methods
        assert {seen.target for seen in ray.seen if seen.method == "GET"} == {"/api/serve/applications/" + query}
        names = [{name for name, _ in seen.headers} for seen in ray.seen]
        assert [token, token] == ["X-Ray-Authorization" in one for one in names]


async def test_an_operator_restart_puts_the_same_bytes_again(kuberay, ray):
    await kuberay.reconcile()
    kuberay.restart()
    await kuberay.reconcile()

    first, second = (seen.body for seen in ray.seen if seen.method == "PUT")
    assert first == second


async def test_a_comment_in_the_config_is_put_and_an_unchanged_config_is_not(kuberay):
    for _ in range(2):
        await kuberay.reconcile()
    kuberay.serve_config += " "
    for _ in range(2):
        await kuberay.reconcile()

    assert kuberay.puts == 2


async def test_a_service_that_declares_nothing_is_put_for_ever_and_is_never_ready(kuberay):
    kuberay.apply()
    for _ in range(3):
        await kuberay.reconcile()

    assert (kuberay.puts, kuberay.ready) == (3, False)


async def test_a_failing_application_of_whatever_origin_makes_it_unready(kuberay):
    await kuberay.reconcile()
    kuberay.apply(STATIC, {**OTHER, "import_path": "served:broken"})
    for _ in range(2):
        await kuberay.reconcile()

    assert not kuberay.ready


async def test_an_answer_after_its_time_out_is_too_late(ray):
    ray.faults.get_delay_s = 0.2
    kuberay = KubeRay("1.6.2", "127.0.0.1", ray.port, timeout_s=0.1)
    kuberay.apply(STATIC)

    assert not await kuberay.reconcile()

    assert kuberay.error.startswith("TimeoutError")
    assert kuberay.puts == 0
    kuberay.close()


async def test_the_connection_is_kept(kuberay):
    await kuberay.reconcile()
    connection = kuberay._connection
    streams = connection._streams
    await kuberay.reconcile()

    assert kuberay._connection._streams is streams


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"applications": []}',
        b'{"applications": {"a": 1}}',
        b'{"applications": {"a": {"route_prefix": 1}}}',
    ],
)
def test_a_wrong_type_anywhere_fails_the_whole_answer(body):
    with pytest.raises(DashboardError):
        statuses(body)

import json
import socket
import time
from dataclasses import replace

import pytest

from cli.demo.kuberay import KubeRay, Operator, reconcile, wire_body

SPEC = '{"applications": [{"name": "shop", "import_path": "a:b", "args": {"says": "<a&b>"}}]}'
OTHER_SPEC = SPEC.replace("a:b", "c:d")


@pytest.mark.parametrize(
    ("remembered", "shown", "expected"),
    [
        pytest.param(None, {"shop": "RUNNING"}, True, id="first time, or a new operator"),
        pytest.param(SPEC, {"shop": "RUNNING"}, False, id="all as it was"),
        pytest.param(SPEC, {"shop": "DEPLOY_FAILED"}, False, id="what runs badly is not sent again"),
        pytest.param(SPEC, {}, True, id="the list is empty"),
        pytest.param(SPEC + "\n", {"shop": "RUNNING"}, True, id="another byte in the RayService"),
        pytest.param(SPEC, {"else": "RUNNING"}, False, id="which applications there are is not compared"),
    ],
)
def test_when_kuberay_puts(remembered, shown, expected):
    assert expected is Operator(remembered=remembered, shown=shown).must_put(SPEC)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ({}, False),
        ({"shop": "RUNNING"}, True),
        ({"shop": "RUNNING", "translate": "DEPLOY_FAILED"}, False),
        ({"shop": "DEPLOYING"}, False),
    ],
)
def test_when_a_ray_service_is_ready(shown, expected):
    operator = Operator(shown=shown)

    assert (expected, not expected) == (operator.ready, operator.stuck)
    assert replace(operator, refused=True).stuck


@pytest.mark.parametrize(
    ("failures", "expected"), [(0, 2.0), (1, 0.005), (2, 0.01), (9, 1.28), (18, 655.36), (19, 1000.0), (99, 1000.0)]
)
def test_how_long_kuberay_waits(failures, expected):
    assert expected == pytest.approx(Operator(failures=failures).next_s(2.0))


def test_the_body_is_what_go_would_write():
    assert wire_body(SPEC) == (
        rb'{"applications":[{"args":{"says":"\u003ca\u0026b\u003e"},"import_path":"a:b","name":"shop"}]}'
    )
    assert wire_body('{"name": "ü"}') == '{"name":"ü"}'.encode()


def test_a_reconcile_gets_and_then_puts_with_gos_header_lines(serve):
    operator = reconcile(Operator(), serve.url, SPEC)

    host = serve.url.removeprefix("http://")
    body = wire_body(SPEC)
    assert serve.requests == [
        (
            "GET /api/serve/applications/?api_type=declarative HTTP/1.1",
            (("Host", host), ("User-Agent", "Go-http-client/1.1"), ("Accept-Encoding", "gzip")),
            b"",
        ),
        (
            "PUT /api/serve/applications/ HTTP/1.1",
            (
                ("Host", host),
                ("User-Agent", "Go-http-client/1.1"),
                ("Content-Length", str(len(body))),
                ("Content-Type", "application/json"),
                ("Accept-Encoding", "gzip"),
            ),
            body,
        ),
    ]
    assert (operator.remembered, operator.puts, operator.trouble) == (SPEC, 1, "")


def test_readiness_comes_from_the_get_before_the_put(serve):
    first = reconcile(Operator(), serve.url, SPEC)
    second = reconcile(first, serve.url, SPEC)

    assert (first.ready, second.ready) == (False, True)
    assert (first.puts, second.puts) == (1, 1)


@pytest.mark.parametrize(("status", "refused"), [(400, True), (409, True), (500, False), (503, False)], ids=str)
def test_a_put_that_fails_is_remembered_as_trouble_and_not_as_done(serve, status, refused):
    serve.answers["PUT", "/api/serve/applications/"] = (status, b"why\nnot")

    operator = reconcile(Operator(), serve.url, SPEC)

    assert (operator.remembered, operator.puts, operator.failures) == (None, 0, 1)
    assert f"its PUT was answered {status}: why not" == operator.trouble
    assert refused is operator.refused


def test_a_get_that_fails_is_trouble_and_nothing_is_put(serve):
    serve.answers["GET", "/api/serve/applications/?api_type=declarative"] = (503, b"later")

    operator = reconcile(Operator(), serve.url, SPEC)

    assert operator.trouble == "its GET was answered 503: later"
    assert len(serve.requests) == 1


def test_nobody_there_is_trouble():
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        operator = reconcile(Operator(), f"http://127.0.0.1:{unheard.getsockname()[1]}", SPEC)

    assert "refused" in operator.trouble
    assert not operator.refused


def test_after_trouble_a_good_reconcile_starts_afresh(serve):
    operator = reconcile(Operator(trouble="x", refused=True, failures=7), serve.url, SPEC)

    assert (operator.trouble, operator.refused, operator.failures) == ("", False, 0)


def await_puts(kuberay, count):
    deadline = time.monotonic() + 5
    while kuberay.operator.puts < count and time.monotonic() < deadline:
        time.sleep(0.002)
    assert count == kuberay.operator.puts


@pytest.fixture
def kuberay(serve):
    with KubeRay(serve.url, reconcile_s=0.01) as operator:
        yield operator


def bodies(serve):
    return [json.loads(body) for line, _, body in serve.requests if line.startswith("PUT")]


def test_the_operator_puts_once_and_again_when_it_restarts_or_the_spec_changes(serve, kuberay):
    kuberay.apply(SPEC)
    await_puts(kuberay, 1)
    kuberay.restart()
    await_puts(kuberay, 2)
    kuberay.apply(OTHER_SPEC)
    await_puts(kuberay, 3)
    time.sleep(0.05)

    assert [json.loads(SPEC), json.loads(SPEC), json.loads(OTHER_SPEC)] == bodies(serve)


def test_the_operator_does_nothing_before_there_is_a_ray_service(serve, kuberay):
    time.sleep(0.05)

    assert Operator() == kuberay.operator
    assert serve.requests == []

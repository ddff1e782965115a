import json
import logging

import pytest

from proxy import logs
from proxy.app import Sidecar, answered
from proxy.http.local import Answer
from proxy.openapi import DOCUMENT
from proxy.ray import RayRefusedError
from proxy.relay import Exchange
from proxy.settings import Settings
from serveconfig.errors import UnknownStateError
from tests.doubles import KUBERAY, PlayedRay, PlayedRequest, content
from tests.words import app, body, imperative, shown

SERVE = "/api/serve/applications/"


@pytest.fixture
def ray():
    return PlayedRay(shown(app("model"), status="DEPLOYING"), imperative("m"))


@pytest.fixture
def sidecar(tmp_path):
    return Sidecar.create(Settings(state_dir=str(tmp_path)), "1.2.3")


@pytest.fixture
def ask(sidecar, ray):
    async def ask(method, target, sent=b"", **headers):
        request = PlayedRequest(method, target, sent, **headers)
        handler = sidecar.route(ray, request.head)
        return None if handler is None else await handler(request)

    return ask


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", SERVE),
        ("GET", "/"),
        ("POST", "/api/jobs/"),
        ("PUT", "/api/packages/gcs/x.zip"),
        ("DELETE", SERVE + "?force=true"),
        ("HEAD", SERVE),
    ],
)
async def test_g9_everything_else_passes(ask, method, target):
    assert await ask(method, target) is None


@pytest.mark.parametrize(
    "target", ["/api/serve/%61pplications/", "http://ray:8265" + SERVE, SERVE + "?x=1", SERVE + "#x"]
)
async def test_g9_no_spelling_of_the_path_gets_round(ask, target):
    assert await ask("PUT", target, body()) is not None


async def test_g2_g1_kuberay_polls_puts_and_polls(ask, ray):
    assert content(await ask("GET", SERVE, User_Agent=KUBERAY))["applications"] == {}

    assert (await ask("PUT", SERVE, body(app("static")), User_Agent=KUBERAY)).status == 200

    assert list(content(await ask("GET", SERVE, User_Agent=KUBERAY))["applications"]) == ["static"]
    assert list(ray.entries) == ["m", "static", "model"]


async def test_g10_anyone_elses_put_adds(ask, ray):
    await ask("PUT", SERVE, body(app("static")), User_Agent=KUBERAY)

    assert (await ask("PUT", SERVE, body(app("new")))).status == 200
    assert (await ask("PUT", SERVE, body(app("static", v=2)))).status == 409
    assert set(ray.entries) == {"m", "static", "model", "new"}


async def test_anyone_elses_delete_is_refused(ask):
    answer = await ask("DELETE", SERVE)

    assert answer.status == 409
    assert "?force=true" in content(answer)["detail"]


async def test_g4_a_refusal_is_a_problem_that_says_when_to_come_again(ask, ray):
    ray.down = UnknownStateError("Ray is down.")

    answer = await ask("PUT", SERVE, body(), User_Agent=KUBERAY)

    assert (answer.status, content(answer)["detail"]) == (503, "Ray is down.")
    assert dict(answer.headers)[b"Retry-After"] == b"2"


async def test_rays_refusal_of_the_caller_is_rays_answer():
    refusal = Answer(401, (), [b"Unauthorized"])

    async def handler(_ray, _request):
        raise RayRefusedError(refusal)

    assert await answered(handler, None, None) is refusal


async def test_healthz_does_not_ask_ray(ask, ray):
    ray.down = UnknownStateError("down")

    assert (await ask("GET", "/-/healthz")).status == 200
    assert ray.asked == []


async def test_the_status_tells_what_is_declared_and_what_else_runs(ask):
    await ask("PUT", SERVE, body(app("static")), User_Agent=KUBERAY)

    status = content(await ask("GET", "/-/status"))

    assert status["declared"] == {"known": True, "applications": ["static"]}
    assert {app["name"]: (app["origin"], app["state"]) for app in status["dynamic"]} == {
        "model": ("declarative", "RUNNING"),
        "m": ("imperative", "RUNNING"),
    }
    assert (status["last_put"]["outcome"], status["last_put"]["kept"]) == ("forwarded", ["model"])
    assert (status["version"], status["ray_version"], status["serve_running"]) == ("1.2.3", "2.60.0", True)
    assert status["kuberay_last_request"] is not None


async def test_the_status_lists_every_application_and_whose_head_it_is(tmp_path, ray):
    settings = Settings(state_dir=str(tmp_path), journal_rayservice="team/shop", journal_cluster="shop-a")
    sidecar = Sidecar.create(settings, "1.2.3")
    request = PlayedRequest("GET", "/-/status")

    status = content(await sidecar.route(ray, request.head)(request))

    assert [(app["name"], app["state"]) for app in status["applications"]] == [("model", "DEPLOYING"), ("m", "RUNNING")]
    assert (status["rayservice"], status["raycluster"]) == ("team/shop", "shop-a")


async def test_before_anything_happened_the_status_says_so(ask):
    status = content(await ask("GET", "/-/status"))

    assert status["declared"] == {"known": False, "applications": []}
    assert (status["last_put"], status["kuberay_last_request"], status["last_good_answer_age_s"]) == (None, None, None)


async def test_metrics_exist_at_zero(ask):
    text = b"".join((await ask("GET", "/-/metrics")).body).decode()

    assert "holdfast_apps_would_have_been_deleted_total 0.0" in text
    assert 'holdfast_puts_total{caller="kuberay",outcome="refused"} 0.0' in text
    assert 'holdfast_build_info{version="1.2.3"} 1.0' in text


async def test_metrics_count_the_applications_that_ray_last_showed(ask, ray):
    await ask("PUT", SERVE, body(app("static")), User_Agent=KUBERAY)
    await ask("GET", SERVE, User_Agent=KUBERAY)
    assert b'holdfast_applications{owner="dynamic",state="RUNNING"} 2.0' in (await ask("GET", "/-/metrics")).body[0]
    ray.entries = {}
    await ask("GET", SERVE, User_Agent=KUBERAY)

    assert b'holdfast_applications{owner="dynamic",state="RUNNING"} 0.0' in (await ask("GET", "/-/metrics")).body[0]


async def test_own_paths_are_those_of_the_openapi_document(sidecar):
    documented = {
        path: {method.upper() for method in operations if method != "parameters"}
        for path, operations in DOCUMENT["paths"].items()
    }

    assert {path: set(methods) for path, methods in sidecar.own.items()} == {
        **documented,
        "/-/openapi.json": {"GET"},
    }


async def test_the_openapi_document_is_served(ask):
    assert content(await ask("GET", "/-/openapi.json")) == json.loads(json.dumps(DOCUMENT))


async def test_a_path_we_do_not_have_says_which_we_have(ask):
    answer = await ask("GET", "/-/nothing")

    assert answer.status == 404
    assert "/-/status" in content(answer)["detail"]


async def test_a_method_we_do_not_have_says_which_we_have(ask):
    answer = await ask("POST", "/-/applications/model")

    assert (answer.status, dict(answer.headers)[b"Allow"]) == (405, b"DELETE, GET, HEAD, PUT")


async def test_head_is_answered_like_get(ask):
    assert (await ask("HEAD", "/-/healthz")).status == 200


async def test_g12_a_request_is_one_line_without_query_header_or_body(sidecar, caplog):
    request = PlayedRequest("PUT", SERVE + "?token=s3cret", b'{"s3cret": 1}', Authorization="Bearer s3cret")
    exchange = Exchange("PUT", SERVE, 200, 10, 20, 0.0015, passed_through=False, head=request.head)
    with caplog.at_level(logging.INFO):
        sidecar.observe(exchange)

    (line,) = [logs.JsonLines().format(record) for record in caplog.records]
    assert "s3cret" not in line
    assert json.loads(line) | {"time": ""} == {
        "time": "",
        "level": "info",
        "logger": "holdfast.app",
        "msg": "request",
        "method": "PUT",
        "path": SERVE,
        "status": 200,
        "caller": "other",
        "handling": "upsert",
        "received_bytes": 10,
        "sent_bytes": 20,
        "duration_ms": 1.5,
    }


async def test_a_request_that_could_not_be_read_is_counted_and_logged(sidecar):
    sidecar.observe(Exchange("", "", 400, 10, 20, 0.001, passed_through=False))

    assert b'holdfast_requests_total{caller="other",handling="own"} 1.0' in sidecar.metrics.print()


async def test_g4_a_deletion_that_passes_makes_older_answers_worthless(sidecar, ask):
    await ask("GET", SERVE, User_Agent=KUBERAY)
    head = PlayedRequest("DELETE", SERVE + "?force=true").head

    sidecar.observe(Exchange("DELETE", SERVE, 200, 0, 0, 1.0, passed_through=True, head=head))

    assert sidecar.view.last is None


def test_a_fault_is_logged_with_its_traceback():
    error = ZeroDivisionError()
    record = logging.LogRecord("x", logging.ERROR, "", 0, "failed", (), (type(error), error, None))

    assert "ZeroDivisionError" in json.loads(logs.JsonLines().format(record))["traceback"]

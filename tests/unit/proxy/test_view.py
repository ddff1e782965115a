import asyncio
import json
from dataclasses import replace

import pytest

from proxy.http.local import Answer
from proxy.journal.arrivals import Shown
from proxy.metrics import Metrics
from proxy.ray import RayRefusedError
from proxy.settings import Settings
from proxy.view import KubeRayView
from serveconfig.declared import Declared
from serveconfig.errors import UnknownStateError
from tests.doubles import KUBERAY, PlayedRay, PlayedRequest, content
from tests.words import app, config, shown

PATIENCE_S = 0.03
SETTINGS = replace(Settings(), answer_within_s=PATIENCE_S, answer_within_proxied_s=0.5, stale_for_s=0.3)
DECLARED = Declared().accepting(config(app("static")), keep_receipts=False)


@pytest.fixture
def ray():
    return PlayedRay(shown(app("static")), shown(app("model"), status="DEPLOY_FAILED"))


@pytest.fixture
def view():
    return KubeRayView(lambda: Shown(DECLARED.names), lambda _: None, SETTINGS, Metrics("test"))


def poll(**headers):
    return PlayedRequest("GET", "/api/serve/applications/?api_type=declarative", User_Agent=KUBERAY, **headers)


def seen(answer):
    return {name: entry["status"] for name, entry in content(answer)["applications"].items()}


def is_stale(answer):
    return any(name == b"X-Holdfast-Stale" for name, _ in answer.headers)


async def test_g2_kuberay_sees_what_it_declared(view, ray):
    assert seen(await view.get(ray, poll())) == {"static": "RUNNING"}


async def test_g9_the_query_and_the_callers_headers_go_along_but_those_of_the_connection(view, ray):
    await view.get(ray, poll(Authorization="Bearer T", Accept_Encoding="gzip", Connection="keep-alive", X_Other="1"))

    ((headers, query),) = ray.asked
    assert query == b"api_type=declarative"
    assert {b"Authorization", b"X-Other", b"User-Agent", b"Host"} == {name for name, _ in headers}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405])
async def test_g9_rays_refusals_go_back_as_they_are(view, ray, status):
    await view.get(ray, poll())
    ray.status = status

    assert status == (await view.get(ray, poll())).status


@pytest.mark.parametrize(
    "trouble",
    [
        {"late_s": 1},
        {"down": UnknownStateError("down")},
        {"status": 500},
        {"controller": False, "controller_exists": True},
        {"controller": False, "controller_exists": None},
    ],
    ids=" ".join,
)
async def test_g4_while_ray_is_in_trouble_kuberay_gets_the_last_good_answer_marked(view, ray, trouble):
    await view.get(ray, poll())
    for name, value in trouble.items():
        setattr(ray, name, value)

    answer = await view.get(ray, poll())

    assert seen(answer) == {"static": "RUNNING"}
    assert is_stale(answer)


@pytest.mark.parametrize(("trouble", "status"), [({"late_s": 1}, 503), ({"status": 500}, 500)])
async def test_g4_an_answer_that_is_too_old_is_not_given(view, ray, trouble, status):
    await view.get(ray, poll())
    await asyncio.sleep(SETTINGS.stale_for_s)
    for name, value in trouble.items():
        setattr(ray, name, value)

    assert status == (await view.get(ray, poll())).status


async def test_g4_a_ray_that_is_down_for_too_long_is_unknown(view, ray):
    await view.get(ray, poll())
    await asyncio.sleep(SETTINGS.stale_for_s)
    ray.down = UnknownStateError("down")

    with pytest.raises(UnknownStateError):
        await view.get(ray, poll())


async def test_g4_a_cluster_without_serve_is_shown_as_such_at_once(view, ray):
    await view.get(ray, poll())
    ray.entries, ray.controller, ray.controller_exists = {}, False, False

    answer = await view.get(ray, poll())

    assert seen(answer) == {}
    assert not is_stale(answer)


async def test_g4_nobody_is_told_from_an_answer_to_somebody_else(view, ray):
    await view.get(ray, poll(X_Ray_Authorization="Bearer right"))
    ray.late_s = 1

    assert (await view.get(ray, poll(X_Ray_Authorization="Bearer wrong"))).status == 503


async def test_g4_an_answer_from_before_a_change_is_not_given_after_it(view, ray):
    await view.get(ray, poll())
    view.forget()
    ray.late_s = 1

    assert (await view.get(ray, poll())).status == 503


async def test_g4_an_answer_that_was_asked_for_before_a_change_is_not_remembered(view, ray):
    ray.late_s = 2 * PATIENCE_S
    await view.get(ray, poll())
    view.forget()
    await asyncio.sleep(3 * PATIENCE_S)

    assert view.last is None


async def test_a_late_answer_is_remembered_for_the_next_poll(view, ray):
    ray.late_s = 2 * PATIENCE_S
    assert (await view.get(ray, poll())).status == 503
    await asyncio.sleep(2 * PATIENCE_S)

    assert seen(await view.get(ray, poll())) == {"static": "RUNNING"}


async def test_polls_while_ray_is_late_share_one_call(view, ray):
    ray.late_s = 0.02

    await asyncio.gather(*(view.get(ray, poll()) for _ in range(10)))

    assert len(ray.asked) == 1


async def test_kuberay_behind_the_api_server_is_more_patient(view, ray):
    ray.late_s = 2 * PATIENCE_S
    request = PlayedRequest("GET", User_Agent="kuberay-operator/v1.6.2")

    assert seen(await view.get(ray, request)) == {"static": "RUNNING"}


async def test_g4_an_answer_that_is_no_list_of_applications_counts_as_none(view):
    class Garbled(PlayedRay):
        async def applications(self, headers, query=b""):
            return Answer(200, (), [b"<html>"])

    with pytest.raises(Exception, match="cannot be read"):
        await view.get(Garbled(), poll())


async def test_rays_refusal_of_the_caller_on_the_way_goes_back(view):
    class Refusing(PlayedRay):
        async def has_controller(self, headers):
            raise RayRefusedError(Answer(403))

    refusing = Refusing(shown(app("static")))
    await view.get(refusing, poll())
    refusing.controller = False

    assert (await view.get(refusing, poll())).status == 403


async def test_the_filtered_answer_keeps_rays_headers(view, ray):
    answer = await view.get(ray, poll())

    assert (b"Content-Type", b"application/json") in answer.headers
    assert json.loads(b"".join(answer.body))["controller_info"]

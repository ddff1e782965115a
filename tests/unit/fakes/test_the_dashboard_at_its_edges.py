"""The fake dashboard where it is not about applications: who may ask, what is found, what cannot be found out."""

import asyncio
import time

import aiohttp
import pytest

from tests.fakes.dashboard import APPLICATIONS, FakeRay
from tests.fakes.ray_model import Delays

CONTROLLERS = "/api/v0/actors?filter_keys=name&filter_predicates=%3D&filter_values=SERVE_CONTROLLER_ACTOR&timeout=2"
SECRET = {"import_path": "served:echo", "name": "a", "runtime_env": {"env_vars": {"KEY": "value"}}}
MOZILLA = {"User-Agent": "Mozilla/5.0"}
ORIGIN = {"Origin": "https://example.org"}


async def ask(ray, method, path, **more):
    async with aiohttp.ClientSession(ray.url) as http, http.request(method, path, **more) as answer:
        return answer.status, await answer.text()


@pytest.mark.parametrize(
    ("version", "method", "headers", "status"),
    [
        ("2.9.3", "PUT", MOZILLA, 405),
        ("2.9.3", "DELETE", MOZILLA, 200),
        ("2.9.3", "PUT", ORIGIN, 200),
        ("2.52.1", "PUT", ORIGIN, 405),
        ("2.52.1", "DELETE", ORIGIN, 200),
        ("2.60.0", "PUT", MOZILLA, 405),
        ("2.60.0", "DELETE", ORIGIN, 405),
        ("2.60.0", "GET", ORIGIN, 200),
    ],
)
async def test_browsers_may_do_less_in_newer_versions(version, method, headers, status):
    async with FakeRay(version) as ray:
        assert status == (await ask(ray, method, APPLICATIONS, json={"applications": []}, headers=headers))[0]


@pytest.mark.parametrize(("version", "status"), [("2.9.3", 500), ("2.47.1", 500), ("2.52.1", 200)])
async def test_a_request_without_a_user_agent_fails_in_older_versions(version, status):
    async with FakeRay(version) as ray:
        answered, text = await ask(ray, "GET", APPLICATIONS, skip_auto_headers=["User-Agent"])

    assert status == answered
    assert (status == 500) == text.startswith("500 Internal Server Error")


async def test_since_2_59_a_browser_sees_no_environment_variable():
    async with FakeRay("2.60.0") as ray:
        await ask(ray, "PUT", APPLICATIONS, json={"applications": [SECRET]})
        await asyncio.sleep(0.15)
        _, browser = await ask(ray, "GET", APPLICATIONS, headers=MOZILLA)
        _, script = await ask(ray, "GET", APPLICATIONS)

    assert (browser.count("<redacted>"), script.count("<redacted>")) == (2, 0)
    assert "KEY" in browser


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 403),
        ({"Authorization": "abc"}, 403),
        ({"Authorization": "Bearer abc"}, 200),
        ({"x-ray-authorization": "Bearer abc"}, 200),
        ({"Authorization": "Bearer wrong", "x-ray-authorization": "Bearer abc"}, 403),
        ({"Authorization": "", "x-ray-authorization": "Bearer abc"}, 200),
        ({"Cookie": "ray-authentication-token=abc"}, 200),
    ],
)
async def test_the_first_credential_decides(headers, status):
    async with FakeRay("2.60.0", token="abc") as ray:  # noqa: S106 - nobody's
        assert status == (await ask(ray, "GET", APPLICATIONS, headers=headers))[0]
        assert status == (await ask(ray, "GET", CONTROLLERS, headers=headers))[0]


@pytest.mark.parametrize(
    ("version", "query", "status", "names"),
    [
        ("2.47.1", "?api_type=declarative", 200, {"a", "b"}),
        ("2.47.1", "?api_type=bogus", 200, {"a", "b"}),
        ("2.60.0", "?api_type=Declarative", 200, {"a"}),
        ("2.60.0", "?api_type=imperative", 200, {"b"}),
        ("2.60.0", "?api_type=", 200, {"a", "b"}),
        ("2.60.0", "?api_type=bogus", 400, set()),
    ],
)
async def test_api_type_filters_since_2_50(version, query, status, names):
    async with FakeRay(version) as ray:
        await ask(ray, "PUT", APPLICATIONS, json={"applications": [SECRET]})
        ray.serve_run("b")
        answered, text = await ask(ray, "GET", APPLICATIONS + query)

    assert status == answered
    assert {name for name in ("a", "b") if f'"{name}": {{' in text} == names


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/serve/applications", 404),
        ("GET", "/api/serve/%61pplications/", 200),
        ("POST", APPLICATIONS, 405),
        ("GET", "/api/serve/deployments/", 404),
    ],
)
async def test_paths_are_matched_as_aiohttp_matches_them(method, path, status):
    async with FakeRay("2.60.0") as ray, aiohttp.ClientSession() as http:
        url = aiohttp.client.URL(ray.url + path, encoded=True)
        async with http.request(method, url) as answer:
            assert status == answer.status


@pytest.mark.parametrize("version", ["2.9.3", "2.60.0"])
async def test_a_frozen_gcs_makes_a_dashboard_without_a_handle_say_no_serve_and_the_state_api_fail(version):
    async with FakeRay(version) as ray:
        ray.lookup_timeout_s = 0.1
        ray.serve_run("b")
        ray.freeze_gcs()
        (_, serve), (status, actors) = await asyncio.gather(
            ask(ray, "GET", APPLICATIONS), ask(ray, "GET", CONTROLLERS.replace("timeout=2", "timeout=0"))
        )
        ray.thaw_gcs()
        _, after = await ask(ray, "GET", APPLICATIONS)

    assert '"controller_info": {}' in serve
    assert (status, '"result": false' in actors) == (500, True)
    assert '"b"' in after


async def test_a_frozen_gcs_makes_a_dashboard_with_a_handle_wait():
    async with FakeRay("2.60.0") as ray:
        ray.serve_run("b")
        await ask(ray, "GET", APPLICATIONS)
        ray.freeze_gcs()
        asyncio.get_running_loop().call_later(0.2, ray.thaw_gcs)
        started = time.monotonic()
        _, text = await ask(ray, "GET", APPLICATIONS)

    assert time.monotonic() - started >= 0.2
    assert '"b"' in text


async def test_the_state_api_knows_the_controller_alive_restarting_and_dead():
    async with FakeRay("2.60.0", delays=Delays(controller_restart_s=2.0)) as ray:  # longer than a busy machine asks
        states = [await ask(ray, "GET", CONTROLLERS)]
        ray.serve_run("b")
        states.append(await ask(ray, "GET", CONTROLLERS))
        await ray.kill_controller()
        states.append(await ask(ray, "GET", CONTROLLERS))
        await ask(ray, "DELETE", APPLICATIONS)
        states.append(await ask(ray, "GET", CONTROLLERS))

    known = ("ALIVE", "RESTARTING", "DEAD")
    assert [[state for state in known if state in text] for _, text in states] == [
        [],
        ["ALIVE"],
        ["RESTARTING"],
        ["DEAD"],
    ]


@pytest.mark.parametrize(("version", "named"), [("2.9.3", False), ("2.60.0", True)])
async def test_a_new_head_has_a_new_session_and_a_new_node(version, named):
    async with FakeRay(version) as ray:
        before = [await ask(ray, "GET", "/api/version"), await ask(ray, "GET", "/api/v0/nodes?detail=1")]
        await ray.restart_head()
        after = [await ask(ray, "GET", "/api/version"), await ask(ray, "GET", "/api/v0/nodes?detail=1")]

    assert ("session_name" in before[0][1]) == named
    assert (before[0] != after[0]) == named
    assert before[1] != after[1]

"""G12 private: nothing of a request's body or credentials comes out anywhere but at Ray."""

import pytest

from tests.fakes.dashboard import FakeRay
from tests.fakes.kuberay import KubeRay
from tests.ray.configs import app
from tests.ray.developer import developer as developer_at
from tests.ray.sidecar import Sidecar

SECRET = "hunter2-in-env-vars"  # noqa: S105 - nobody's
TOKEN = "t0ken-of-the-cluster"  # noqa: S105 - nobody's
SECRETIVE = {"runtime_env": {"env_vars": {"API_KEY": SECRET}}, "args": {"password": SECRET}}

on_the_fake = pytest.mark.on(lambda _version, real: not real)
with_tokens = pytest.mark.on(lambda version, real: version.has("tokens") and not real)


async def test_g12_no_secret_is_logged_counted_or_told(ray, proxy, kuberay, developer):
    await kuberay.declares(app("shop", **SECRETIVE))
    answers = [
        await developer.put_app(app("guest", **SECRETIVE), Authorization=f"Bearer {TOKEN}"),
        await developer.put_app({"name": "odd", **SECRETIVE}),
        await developer.put_all({**app("thief", **SECRETIVE), "route_prefix": "/shop"}),
        await developer.ask("PUT", "/api/serve/applications/", {"applications": SECRET}),
        await developer.get("/-/status"),
        await developer.get("/-/metrics"),
        await developer.app(),
    ]

    assert answers[0].status == 201
    told = "\n".join(answer.text for answer in answers[1:]) + proxy.log.read_text()
    assert SECRET not in told
    assert TOKEN not in told
    assert {"shop", "guest"} == set(await ray.statuses())


async def test_g12_a_secret_in_a_kept_config_reaches_ray_whole(ray, kuberay, developer):
    """Ray redacts for browsers, and would run with the word <redacted> if that were written back."""
    await kuberay.declares(app("shop"))
    await developer.put_app(app("guest", **SECRETIVE))

    browsing = await developer.ask(
        "GET", "/-/applications/guest", Origin="https://example.org", User_Agent="Mozilla/5.0"
    )
    await kuberay.declares(app("shop"), app("cart"))

    assert browsing.status == 200
    kept = (await ray.applications())["guest"]["deployed_app_config"]
    assert kept["runtime_env"]["env_vars"]["API_KEY"] == SECRET


@with_tokens
async def test_g12_a_token_is_passed_on_and_none_is_added(play, tmp_path):
    async with FakeRay(play.version, token=TOKEN) as ray:
        proxy = Sidecar(ray.url, tmp_path)
        allowed = KubeRay("1.6.2", "127.0.0.1", proxy.port, token=TOKEN)
        allowed.apply(app("shop"))
        assert await allowed.reconcile(), allowed.error

        async with developer_at(proxy.url) as developer:
            nobody = await developer.put_app(app("guest"))
            wrong = await developer.put_app(app("guest"), Authorization="Bearer wrong")
            right = await developer.put_app(app("guest"), Authorization=f"Bearer {TOKEN}")

        proxy.kill()
        allowed.close()
        assert (nobody.status, wrong.status, right.status) == (401, 403, 201)
        assert TOKEN not in proxy.log.read_text()
        assert {"shop", "guest"} == set(ray.cluster.apps)

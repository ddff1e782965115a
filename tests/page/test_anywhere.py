"""The page behind a port-forward, below the API server's proxy path, and among names that mean harm."""

import aiohttp
import pytest
from aiohttp import web
from playwright.async_api import expect
from pytest_asyncio import fixture

from tests.ray.configs import app

PREFIX = "/api/v1/namespaces/team/pods/shop-head:28265/proxy"
HARMFUL = "<img src=x onerror=window.harm=1>"


@fixture(loop_scope="session")
async def below(scene):
    """The page's address below a path that is taken off before the sidecar sees it, as the API server does."""

    async def passed_on(request):
        target = scene.sidecar.url + request.raw_path.removeprefix(PREFIX)
        async with aiohttp.ClientSession() as http, http.request(request.method, target) as answer:
            headers = {name: value for name, value in answer.headers.items() if name != "Content-Length"}
            return web.Response(status=answer.status, headers=headers, body=await answer.read())

    application = web.Application()
    application.router.add_get(PREFIX + "/{path:.*}", passed_on)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}{PREFIX}/-/"
    await runner.cleanup()


async def test_below_the_api_servers_proxy_path_it_works_and_asks_for_nothing_outside(scene, look_at, below):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(below)
    await look.until_live()

    await scene.puts(app("model"))

    await expect(look.page.locator("tbody tr")).to_have_count(2)
    assert {url for url in look.requests if not url.startswith("data:")} == {below, below + "status"}
    links = await look.page.locator("footer a").evaluate_all("links => links.map(link => link.href)")
    assert links == [below + path for path in ("status", "applications/", "openapi.json", "metrics")]


async def test_the_page_asks_for_itself_and_for_the_status_only(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(scene.url)
    await look.until_live()

    assert {url for url in look.requests if not url.startswith("data:")} == {scene.url, scene.url + "status"}


@pytest.mark.parametrize("name", [HARMFUL, "<script>window.harm=1", "&lt;b&gt;", "constructor", "__proto__"])
async def test_g12_a_name_that_means_harm_is_text(scene, look_at, name):
    await scene.kuberay_declares(app("shop"), {**app(name, "absent"), "route_prefix": "/<b>"})
    look = await look_at(scene.url)
    await look.until_live()
    await expect(look.page.locator("tbody tr")).to_have_count(2)

    rows = await look.rows()

    assert rows[name]["Route"] == "/<b>"
    assert await look.page.evaluate("window.harm") is None
    assert await look.page.locator("img, b").count() == 0


async def test_g12_a_script_that_got_in_all_the_same_would_not_run(scene, look_at):
    """The policy is there for the bug that nobody has found yet."""
    look = await look_at(scene.url)
    await look.until_live()

    await look.page.evaluate(
        "document.body.append(document.createRange().createContextualFragment("
        "'<script>window.harm=1</scr' + 'ipt><img src=x onerror=window.harm=1>'))"
    )
    await look.page.wait_for_timeout(100)

    assert await look.page.evaluate("window.harm") is None
    assert any("Content Security Policy" in said for said in look.wrong)
    look.wrong.clear()

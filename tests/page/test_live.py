"""The page stays true without being loaded again, and says so when it cannot."""

import re

import pytest
from playwright.async_api import expect

from tests.ray.configs import app

STAYS = "window.stays = true"
TOUCHED = """() => {
  window.touched = new Set();
  const element = (node) => node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  const rows = (changes) => changes.map(({ target }) => element(target).closest("tbody tr")).filter(Boolean);
  const everything = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver((changes) => rows(changes).forEach((row) => touched.add(row.firstElementChild.textContent)))
    .observe(document.querySelector("tbody"), everything);
}"""
"""Collects the names of rows that anything in changes."""


async def test_a_new_application_appears_without_a_reload_and_is_read_out(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(scene.url)
    await look.until_live()
    await look.page.evaluate(STAYS)

    await scene.puts(app("model"))

    row = look.page.get_by_role("row", name="model")
    await expect(row.get_by_role("cell").first).to_have_text("RUNNING")
    await expect(look.page.locator("#said")).to_have_text(re.compile("^model: (new|DEPLOYING)"))
    assert await look.page.evaluate("window.stays")


async def test_g3_an_application_that_was_deleted_goes_away(scene, look_at):
    await scene.kuberay_declares(app("shop"), app("search"))
    look = await look_at(scene.url)
    await look.until_live()

    await scene.kuberay_declares(app("shop"))

    await expect(look.page.locator("tbody tr")).to_have_count(1)
    await expect(look.page.locator("#said")).to_contain_text("search: gone")
    assert await look.text("#count") == "1 application: 1 RUNNING"


async def test_g4_while_ray_is_away_the_page_says_why_keeps_what_it_knew_and_recovers(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(scene.url)
    await look.until_live()

    await scene.ray.hang_up()

    alert = look.page.get_by_role("alert")
    await expect(alert).to_contain_text("Ray cannot be read since")
    detail = (await scene.status())["detail"]
    await expect(alert).to_contain_text(detail)
    await expect(alert).to_contain_text("The page shows what was known at")
    assert await look.names() == ["shop"]
    await scene.ray.listen()
    await look.until_live()
    await expect(alert).to_be_hidden()


async def test_g4_a_list_without_a_controller_is_not_told_as_the_end_of_all_applications(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    await scene.puts(app("model"))
    look = await look_at(scene.url)
    await look.until_live()

    scene.ray.lookup_timeout_s = 0.1
    scene.ray.freeze_gcs()
    await scene.ray.restart_dashboard()

    notice = look.page.locator("#notice")
    await expect(notice).to_contain_text(
        "Ray shows no controller of Serve: Serve does not run, or Ray's dashboard cannot"
    )
    assert "gone" not in await look.page.locator("#said").text_content()
    assert (await look.rows())["shop"]["State"] == "not shown by Ray"
    scene.ray.thaw_gcs()
    await expect(notice).to_be_hidden()
    assert (await look.rows())["model"]["State"] == "RUNNING"


async def test_g4_while_the_sidecar_is_away_the_page_says_since_when_and_recovers(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(scene.url)
    await look.until_live()

    scene.sidecar.kill()

    await expect(look.page.locator("#connection")).to_have_text(re.compile(r"^Connection lost since \d+:\d\d:\d\d"))
    assert await look.names() == ["shop"]
    scene.sidecar.start()
    await look.until_live()
    await expect(look.page.locator("#said")).to_have_text("Live again")


async def test_of_a_thousand_rows_only_the_one_that_changes_is_touched(scene, look_at):
    await scene.kuberay_declares(*(app(f"app-{n:04}") for n in range(999)))
    await scene.puts(app("slow", "never_built"))
    look = await look_at(scene.url)
    await expect(look.page.locator("#count")).to_contain_text("1000 applications: 999 RUNNING", timeout=60_000)
    await look.page.evaluate(TOUCHED)

    await scene.puts(app("slow"))

    await expect(look.page.get_by_role("row", name="slow").get_by_role("cell").first).to_have_text("RUNNING")
    assert await look.page.evaluate("[...touched]") == ["slow"]


async def test_in_a_tab_that_nobody_looks_at_it_asks_every_30_seconds(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(scene.url)
    await look.until_live()
    await look.page.clock.install()
    await look.page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => true })")
    await look.page.reload()
    await look.until_live()
    await look.page.wait_for_function("live.timer && !live.isAsking")
    look.requests.clear()

    await look.page.clock.run_for(29_000)
    assert look.requests == []

    async with look.page.expect_request("**/status"):
        await look.page.clock.run_for(2_000)


@pytest.mark.parametrize("token", ["s3cret"])
async def test_g12_where_ray_asks_for_a_token_the_page_says_where_to_log_in(scene, look_at, token):
    look = await look_at(scene.url)

    alert = look.page.get_by_role("alert")
    await expect(alert).to_contain_text("asks who you are (401)")
    assert await alert.get_by_role("link").evaluate("link => link.href") == scene.sidecar.url + "/"
    cookie = {"name": "ray-authentication-token", "value": token, "url": scene.sidecar.url}
    await look.page.context.add_cookies([cookie])
    await look.until_live()

"""What the page tells: every application, the last PUT, what was not carried over; and the pictures of it."""

import re

import pytest
from playwright.async_api import expect

from tests.page.scene import EVERY_KIND, OLD
from tests.ray.configs import app

MOST_BYTES = 150_000
HEIGHT = 860
BOTTOMS = "rows => rows.map(row => [row.firstElementChild.textContent, row.getBoundingClientRect().bottom])"


async def test_g5_every_kind_of_application_has_its_row(full, look_at):
    look = await look_at(full.url)
    await look.until_live()

    rows = await look.rows()

    told = {
        name: [row[head] for head in ("State", "Owner", "Origin", "Route", "Journal")] for name, row in rows.items()
    }
    assert told == {
        "shop": ["RUNNING", "kuberay", "declarative", "/shop", "-"],
        "search": ["RUNNING", "kuberay", "declarative", "/search", "-"],
        "forecast": ["RUNNING", "dynamic", "declarative", "/forecast", "written"],
        "sentiment": ["DEPLOY_FAILED", "dynamic", "declarative", "/sentiment", "written"],
        "notebook": ["RUNNING", "dynamic", "imperative", "/notebook", "none"],
        "translate": ["RUNNING", "dynamic", "declarative", "/translate", "written"],
        "speech": ["DEPLOYING, arriving", "dynamic", "declarative", "/speech", "written"],
        "vision": ["not carried over", "dynamic", "declarative", "/shop", "written"],
        "scratch": ["not carried over", "dynamic", "imperative", "-", "none"],
    }
    carried = {name for name, row in rows.items() if row["Carried over"].startswith(f"from {OLD}, ")}
    assert carried == {"translate", "speech"}
    assert "AttributeError" in rows["sentiment"]["Why not"]
    assert rows["scratch"]["Why not"].startswith("made by serve.run: ")


async def test_g5_what_was_not_carried_over_is_said_first_with_the_reason(full, look_at):
    look = await look_at(full.url)
    await look.until_live()

    warnings = (await look.text("#warnings")).splitlines()

    assert warnings[0] == "Not carried over"
    assert sorted(line.partition(":")[0] for line in warnings[1:] if line) == ["scratch", "vision"]
    assert "/shop" in await look.text("#warnings")


async def test_g1_the_last_put_is_told_in_words(full, look_at):
    look = await look_at(full.url)
    await look.until_live()

    last = await look.text("#last-put")

    told = re.fullmatch(r"\d+ s ago by KubeRay: accepted; kept 4: ([a-z, ]+); retired 1: banner", last)
    assert told, last
    assert set(told[1].split(", ")) == {"forecast", "sentiment", "speech", "translate"}


async def test_the_head_of_the_page_says_whose_cluster_this_is_and_how_it_is_with_the_journal(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(scene.url)
    await look.until_live()

    assert await look.text("h1") == "Holdfast team/shop"
    assert await look.text("#raycluster") == "shop-new"
    assert await look.text("#ray") == "2.60.0"
    assert await look.text("#declared") == "1 application"
    await expect(look.page.locator("#kuberay")).to_contain_text(" s ago")
    await expect(look.page.locator("#journal")).to_contain_text("nothing queued; this cluster is to get the traffic")
    await scene.journal.hang_up()
    await expect(look.page.locator("#journal")).to_contain_text("away: ")


async def test_where_nothing_runs_a_sentence_says_what_to_do(scene, look_at):
    look = await look_at(scene.url)
    await look.until_live()

    assert "Ray shows no controller of Serve" in await look.text("#notice")
    assert "holdfast apps apply -f FILE" in await look.text("#notice")
    await scene.kuberay_declares()
    await expect(look.page.locator("#notice")).to_contain_text("No application runs, and none is expected.")
    assert not await look.page.locator("table").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_picture_of_the_page_shows_every_row(full, look_at, pictures, scheme):
    look = await look_at(full.url, color_scheme=scheme, viewport={"width": 1200, "height": HEIGHT})
    await look.until_live()

    picture = await look.page.screenshot(path=pictures / f"page-{scheme}.png")

    seen = await look.page.eval_on_selector_all("tbody tr", BOTTOMS)
    assert {name for name, bottom in seen if bottom <= HEIGHT} == set(EVERY_KIND)
    assert len(picture) < MOST_BYTES

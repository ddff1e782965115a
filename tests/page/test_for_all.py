"""For everybody: by keyboard, by ear, in both schemes, on a small screen, without motion."""

import json

import pytest
from playwright.async_api import expect

from tests.page.scene import EVERY_KIND
from tests.ray.configs import app

CONTROLS = {"button", "link", "searchbox", "textbox", "DisclosureTriangle"}
SMALL = {"width": 320, "height": 640}
LARGE = {"width": 1200, "height": 800}
AA = 4.5
"""WCAG 2.2, 1.4.3: the contrast of text."""

CONTRASTS = """() => {
  const parsed = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [.2126, .7152, .0722][at], 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = parsed(getComputedStyle(element).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    throw new Error("nothing is behind it");
  };
  const texts = [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility() &&
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return texts.map((element) => {
    const [a, b] = [light(parsed(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    return [`${element.tagName} ${element.className} ${element.textContent.slice(0, 20)}`, (a + .05) / (b + .05)];
  });
}"""


async def tree_of(look):
    """The accessibility tree: a list of role and name."""
    devtools = await look.page.context.new_cdp_session(look.page)
    nodes = (await devtools.send("Accessibility.getFullAXTree"))["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]


async def tab_to(look, name):
    """Press Tab until the control of that name has the focus."""
    for _ in range(30):
        await look.page.keyboard.press("Tab")
        focused = await look.page.evaluate("document.activeElement.id || document.activeElement.textContent")
        if focused == name:
            return
    raise AssertionError(f"Tab never leads to {name}")


async def test_by_keyboard_alone_one_filters_and_is_told_how_many_are_left(full, look_at):
    look = await look_at(full.url)
    await look.until_live()

    await tab_to(look, "filter")
    await look.page.keyboard.type("Not Carried")

    await expect(look.page.locator("tbody tr:not([hidden])")).to_have_count(2)
    assert await look.names() == ["scratch", "vision"]
    await expect(look.page.locator("#said")).to_have_text("2 of 9 applications")


async def test_by_keyboard_alone_one_sorts_both_ways_and_hears_which(full, look_at):
    look = await look_at(full.url)
    await look.until_live()
    assert await look.names() == sorted(EVERY_KIND)

    await tab_to(look, "State")
    await look.page.keyboard.press("Enter")

    head = look.page.locator("th", has_text="State").first
    await expect(head).to_have_attribute("aria-sort", "ascending")
    worst_first = ["scratch", "vision", "sentiment", "speech", "forecast", "notebook", "search", "shop", "translate"]
    assert await look.names() == worst_first
    await look.page.keyboard.press("Space")
    await expect(head).to_have_attribute("aria-sort", "descending")
    assert [*await look.names()][-3:] == ["sentiment", "scratch", "vision"]
    assert await look.page.locator("[aria-sort]").count() == 1


async def test_by_keyboard_alone_one_unfolds_a_traceback_and_it_stays_so(scene, look_at):
    await scene.kuberay_declares(app("shop"))
    await scene.puts(app("sentiment", "absent"))
    look = await look_at(scene.url)
    await expect(look.page.locator("summary")).to_be_visible()
    last_line = await look.text("summary")

    await tab_to(look, last_line)
    await look.page.keyboard.press("Enter")

    assert last_line == "AttributeError: no such attribute"
    assert (await look.text("pre")).startswith("Deploying app failed:\nTraceback")
    await scene.puts(app("model"))
    await expect(look.page.locator("tbody tr")).to_have_count(3)
    assert await look.page.locator("pre").is_visible()


@pytest.mark.parametrize("size", [LARGE, SMALL], ids=["large", "small"])
async def test_to_a_screen_reader_the_table_is_a_table_and_every_control_has_a_name(full, look_at, size):
    look = await look_at(full.url, viewport=size)
    await look.until_live()

    tree = await tree_of(look)

    assert [role for role, name in tree if role in CONTROLS and not name] == []
    assert {name for role, name in tree if role == "rowheader"} == set(EVERY_KIND)
    heads = [name for role, name in tree if role == "columnheader"]
    assert heads == ["Name", "State", "Owner", "Origin", "Route", "Journal", "Carried over", "Why not"]
    assert sum(role == "cell" for role, _ in tree) == 7 * len(EVERY_KIND)
    (table,) = [name for role, name in tree if role == "table"]
    assert table.startswith("Every application of this Ray cluster")
    assert ("searchbox", "Filter") in tree
    assert ("heading", "Not carried over") in tree


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [LARGE, SMALL], ids=["large", "small"])
async def test_every_text_has_contrast_in_both_schemes(full, look_at, scheme, size):
    look = await look_at(full.url, color_scheme=scheme, viewport=size, reduced_motion="reduce")
    await look.until_live()
    await look.page.route("**/status", lambda route: route.abort())
    await expect(look.page.get_by_role("alert")).to_be_visible()

    contrasts = await look.page.evaluate(CONTRASTS)

    assert len(contrasts) > 60
    assert [(text, round(ratio, 2)) for text, ratio in contrasts if ratio < AA] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_ground_follows_the_scheme(full, look_at, scheme):
    look = await look_at(full.url, color_scheme=scheme)

    ground = await look.page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert (sum(json.loads(ground.replace("rgb(", "[").replace(")", "]"))) > 380) == (scheme == "light")


async def test_the_focus_is_seen_on_every_control(full, look_at):
    look = await look_at(full.url)
    await look.until_live()

    for _ in range(await look.page.locator("a, button, input, summary").count()):
        await look.page.keyboard.press("Tab")
        ring = "(at => [at.tagName, getComputedStyle(at).outlineStyle])(document.activeElement)"
        assert await look.page.evaluate(ring) == [await look.page.evaluate("document.activeElement.tagName"), "solid"]


async def test_320_pixels_are_enough(full, look_at):
    look = await look_at(full.url, viewport=SMALL)
    await look.until_live()

    assert await look.page.evaluate("document.documentElement.scrollWidth") == 320
    assert await look.page.get_by_role("rowheader", name="vision").is_visible()


@pytest.mark.parametrize(("motion", "moves"), [("reduce", "none"), ("no-preference", "changed")])
async def test_nothing_moves_for_those_who_do_not_want_it(scene, look_at, motion, moves):
    await scene.kuberay_declares(app("shop"))
    look = await look_at(scene.url, reduced_motion=motion)
    await look.until_live()

    await look.page.locator("tbody tr").evaluate("row => row.classList.add('changed')")

    name = "getComputedStyle(document.querySelector('tbody th')).animationName"
    assert await look.page.evaluate(name) == moves

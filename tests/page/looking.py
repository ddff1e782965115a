"""What a browser shows of the page, as plain values; and what it must never do."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

expect.set_options(timeout=20_000)

_RAY_IS_AWAY = "Failed to load resource"
"""What the console of a browser says by itself of every answer that is no success."""


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A headless Chromium, the one that the system has."""
    program = shutil.which("chromium")
    assert program, "there is no chromium: make page installs it"
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=as_root)
        yield browser
        await browser.close()


@dataclass(slots=True)
class Look:
    """A tab that shows the page. ``wrong`` is what it has done that it must not."""

    page: Page
    requests: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @classmethod
    async def at(cls, browser: Browser, url: str, **how: object) -> "Look":
        """Open the page in a context of its own."""
        context = await browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **how})
        look = cls(await context.new_page())
        origin = urlsplit(url).netloc

        def asked(request: Request) -> None:
            look.requests.append(request.url)
            if urlsplit(request.url).netloc != origin and not request.url.startswith("data:"):
                look.wrong.append(f"asked for {request.url}")

        def said(message: ConsoleMessage) -> None:
            if message.type in {"error", "warning"} and not message.text.startswith(_RAY_IS_AWAY):
                look.wrong.append(f"said {message.text}")

        look.page.on("request", asked)
        look.page.on("console", said)
        look.page.on("pageerror", lambda error: look.wrong.append(f"threw {error}"))
        await look.page.goto(url)
        return look

    async def until_live(self) -> None:
        """Wait until it has been told the state."""
        await expect(self.page.locator("#connection")).to_have_text("Live, every 2 s")

    async def rows(self) -> dict[str, dict[str, str]]:
        """The rows that are shown, in their order: name to the texts under each header."""
        heads = await self.page.locator("thead button").all_text_contents()
        cells = await self.page.eval_on_selector_all(
            "tbody tr:not([hidden])", "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
        )
        return {row[0]: dict(zip(heads, row, strict=True)) for row in cells}

    async def names(self) -> list[str]:
        """The applications that are shown, in their order."""
        return list(await self.rows())

    async def text(self, selector: str) -> str:
        return await self.page.locator(selector).inner_text()

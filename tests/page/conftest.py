"""A headless Chromium, the one that the system has, and a scene for it to look at."""

from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from pytest_asyncio import fixture, is_async_test

from serveconfig.journal import Role
from tests.fakes.dashboard import FakeRay
from tests.fakes.journal import journal_of
from tests.page.looking import Look, chromium
from tests.page.scene import NEW, Scene
from tests.ray.sidecar import Sidecar

SESSION = {"loop_scope": "session"}


def pytest_addoption(parser):
    parser.addoption("--pictures", default="", help="where the pictures of the page are put")


def pytest_collection_modifyitems(items):
    """One browser, so one event loop for all."""
    for item in items:
        if is_async_test(item):
            item.add_marker(pytest.mark.asyncio(**SESSION), append=False)


@pytest.fixture(scope="session")
def pictures(request, tmp_path_factory):
    """A folder for them."""
    folder = Path(request.config.getoption("--pictures") or tmp_path_factory.mktemp("pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@fixture(scope="session", **SESSION)
async def browser():
    async with chromium() as browser:
        yield browser


@asynccontextmanager
async def played(folder, token=""):
    """A new cluster that is to get the traffic, with nothing on it."""
    async with journal_of(folder) as journal, FakeRay("2.60.0", token=token) as ray, aiohttp.ClientSession() as http:
        sidecar = Sidecar(ray.url, folder, journal.settings(NEW, Role.PENDING))
        try:
            yield Scene(ray, journal, sidecar, http)
        finally:
            sidecar.kill()


@pytest.fixture
def token():
    """What Ray asks for; a test may ask for another."""
    return ""


@fixture(**SESSION)
async def scene(tmp_path, token):
    """A new cluster with nothing on it."""
    async with played(tmp_path, token) as scene:
        yield scene


@fixture(scope="session", **SESSION)
async def full(tmp_path_factory):
    """One with every kind of application, for tests that only look."""
    async with played(tmp_path_factory.mktemp("full")) as scene:
        await scene.every_kind()
        yield scene


@fixture(**SESSION)
async def look_at(browser):
    """Opens a tab at an address. What a tab must not do it has not done when the test ends."""
    looks = []

    async def look_at(url, **how):
        looks.append(await Look.at(browser, url, **how))
        return looks[-1]

    yield look_at
    for look in looks:
        await look.page.context.close()
    assert [wrong for look in looks for wrong in look.wrong] == []

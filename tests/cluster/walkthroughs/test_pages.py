"""The pages whose readers type along, typed by a test: every command, in one shell, with what the page says it answers.

The operator is there already, and our image bears the name that the pages give it; all else is done as the page says.
"""

import time

import pytest

from tests.cluster import installation
from tests.cluster.faults import on_own_node
from tests.cluster.kubectl import kubectl
from tests.cluster.node import images, parts
from tests.cluster.node.commands import run
from tests.cluster.node.paths import REPOSITORY
from tests.cluster.reader import reader
from tests.docs import reading

BARE = ("docs/tutorial.md", "docs/howto/webhooks-banned.md")
INSTALLED = ("docs/howto/teams.md", "docs/howto/upgrade.md")
NAMESPACES = ("tutorial", "teams", "upgrade", "banned")
THREE_MINUTES_S = 180


@pytest.fixture(scope="module")
def ours():
    """Our image, under the name of the manifests, too."""
    if on_own_node():
        images.load(images.HOLDFAST)
        name = images.HOLDFAST.name
        run(parts.ctr("images", "tag", "--force", name, name.replace(":test", ":0.1.0")))


@pytest.fixture
async def bare(ours):
    """No Holdfast, before and after, and nothing of a page."""
    await kubectl("delete", "namespace", *NAMESPACES, "--ignore-not-found")
    if await installation.is_there():
        await installation.uninstall()
    yield ours
    await kubectl("delete", "namespace", *NAMESPACES, "--ignore-not-found")
    if await installation.is_there():
        await installation.uninstall()


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("page", [*BARE, *INSTALLED])
async def test_what_a_page_says_is_what_happens(page):
    if page in INSTALLED:
        await installation.install()
    began_s, protected_s = None, None
    async with reader() as somebody:
        for step in reading.steps((REPOSITORY / page).read_text()):
            command = step.text if isinstance(step, reading.Command) else ""
            if command.startswith("helm install holdfast"):
                began_s = time.monotonic()
            await somebody.does(step, page)
            if command.startswith("holdfast check -n"):
                protected_s = time.monotonic() - (began_s or 0)
    assert protected_s is None or protected_s < THREE_MINUTES_S
    print(f"\n{page}: from `helm install` to a green check in {protected_s or 0:.0f} s")

"""The pages whose readers type along, typed by a test: every command, in one shell, with what the page says it answers.

The operator is there already, and our image bears the name that the pages give it; all else is done as the page says.
"""

import sys
import time
from pathlib import Path

import pytest

from tests.cluster import installation
from tests.cluster.faults import on_own_node
from tests.cluster.kubectl import kubectl, program
from tests.cluster.node import images, parts, programs
from tests.cluster.node.commands import run
from tests.cluster.node.paths import REPOSITORY
from tests.docs import reading
from tests.docs.shell import shell

BARE = ("docs/tutorial.md", "docs/howto/webhooks-banned.md")
INSTALLED = ("docs/howto/teams.md", "docs/howto/upgrade.md")
NAMESPACES = ("tutorial", "teams", "upgrade", "banned")
THREE_MINUTES_S = 180


@pytest.fixture
def reader(tmp_path):
    """The reader's folder, and what stands in the reader's environment."""
    installed = tmp_path / "bin"
    installed.mkdir()
    programs.build((programs.HELM,))
    (installed / "kubectl").symlink_to(program())
    (installed / "helm").symlink_to(programs.HELM.path)
    (installed / "holdfast").symlink_to(Path(sys.executable).with_name("holdfast"))
    folder = tmp_path / "holdfast"  # the reader's clone
    folder.mkdir()
    (folder / "manifests").symlink_to(REPOSITORY / "manifests")
    return folder, {"PATH": f"{installed}:/usr/local/bin:/usr/bin:/bin"}


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
async def test_what_a_page_says_is_what_happens(page, reader):
    folder, environ = reader
    if page in INSTALLED:
        await installation.install()
    began_s, protected_s = None, None
    async with shell(folder, environ) as typing:
        for step in reading.steps((REPOSITORY / page).read_text()):
            if isinstance(step, reading.File):
                (folder / step.name).write_text(step.text)
                continue
            if step.text.startswith("helm install holdfast"):
                began_s = time.monotonic()
            status, said = await typing.run(step.text)
            where = f"{page}:{step.line}: {step.text}"
            assert status == 0, f"{where}\n{said}"
            assert not step.answers or reading.matches(step.answers, said), f"{where}\n{said}"
            if step.text.startswith("holdfast check -n"):
                protected_s = time.monotonic() - (began_s or 0)
    assert protected_s is None or protected_s < THREE_MINUTES_S
    print(f"\n{page}: from `helm install` to a green check in {protected_s or 0:.0f} s")

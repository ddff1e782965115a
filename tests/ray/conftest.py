"""One suite, many stages: each scenario plays on the fake of several versions and on every real Ray it is given.

`--ray-versions "2.9.3 2.60.0"` names the real ones; `make ray` makes their environments. A scenario that only makes
sense on some versions says so with `@on(...)`, and is not made for the others.
"""

import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.dashboard import FakeRay
from tests.fakes.journal import journal_of
from tests.fakes.kuberay import KubeRay
from tests.fakes.ray_versions import RayVersion
from tests.ray.configs import app
from tests.ray.developer import developer as developer_at
from tests.ray.rayservice import RayService
from tests.ray.sidecar import Sidecar
from tests.ray.stages import FakeStage, RealStage

FAKES = ("2.9.3", "2.12.0", "2.40.0", "2.60.0")
OPERATOR = "1.6.2"
ENDS = ("2.9.3", "2.60.0")
"""The oldest and the newest fake: enough for scenarios that are long and do not depend on what came between."""

CREW = (app("shop"), app("guest"))
NOTEBOOK = "notebook"


@dataclass(frozen=True, slots=True)
class Play:
    """A version, real or not."""

    version: str
    real: bool

    def __str__(self) -> str:
        return f"{'Ray' if self.real else 'fake'} {self.version}"


def pytest_addoption(parser):
    parser.addoption("--ray-versions", default="", help="real Ray versions to play on, separated by blanks")
    parser.addoption(
        "--ray-cache", default=str(Path.home() / ".cache" / "holdfast"), help="where their environments are"
    )
    parser.addoption("--real-only", action="store_true", help="leave out the fakes, which have played already")


def pytest_configure(config):
    config.addinivalue_line("markers", "on(condition): made only for versions and stages of which this is true")


def pytest_generate_tests(metafunc):
    if "play" not in metafunc.fixturenames:
        return
    real = metafunc.config.getoption("--ray-versions").split()
    fakes = () if metafunc.config.getoption("--real-only") else FAKES
    plays = [Play(version, real=False) for version in fakes] + [Play(version, real=True) for version in real]
    conditions: list[Callable] = [mark.args[0] for mark in metafunc.definition.iter_markers("on")]
    wanted = [play for play in plays if all(condition(RayVersion(play.version), play.real) for condition in conditions)]
    metafunc.parametrize("play", wanted, ids=str, scope="session")


def pytest_collection_modifyitems(config, items):
    """A scenario that no stage was chosen for is left out; pytest would report it as skipped."""
    staged = [
        item for item in items if "play" not in item.fixturenames or isinstance(item.callspec.params["play"], Play)
    ]
    config.hook.pytest_deselected(items=[item for item in items if item not in staged])
    items[:] = staged


@pytest.fixture(scope="session")
def real_stage(request):
    """The real head of a version; the one of the version before is stopped first, for want of memory."""
    running: dict[str, RealStage] = {}
    cache = Path(request.config.getoption("--ray-cache"))

    def of(version: str) -> RealStage:
        if version not in running:
            for other in list(running):
                running.pop(other).stop()
            running[version] = RealStage(cache / f"ray-{version}", work_dir_of(version))
        return running[version]

    yield of
    for stage in running.values():
        stage.stop()


def work_dir_of(version: str) -> Path:
    """The same in every run of this checkout: what an interrupted run has left behind is ended by the next one."""
    checkout = zlib.crc32(str(Path(__file__).parents[2]).encode())
    return Path(tempfile.gettempdir()) / f"holdfast-{version}-{checkout:08x}"


@pytest.fixture
async def ray(play, real_stage, request):
    if not play.real:
        async with FakeRay(play.version) as fake:
            yield FakeStage(fake)
        return
    stage = real_stage(play.version)
    await stage.reset(CREW if "dynamic" in request.fixturenames else (), NOTEBOOK)
    yield stage
    await stage.thaw_gcs()


@pytest.fixture
async def journal(tmp_path):
    """The journal of the RayService, which the sidecar is told of. A test may set how it is tuned."""
    async with journal_of(tmp_path) as journal:
        yield journal


@pytest.fixture
def proxy(ray, tmp_path, request):
    journal = request.getfixturevalue("journal") if "journal" in request.fixturenames else None
    sidecar = Sidecar(ray.url, tmp_path, journal.settings("shop-a") if journal else {})
    yield sidecar
    sidecar.kill()


@pytest.fixture
async def developer(proxy):
    async with developer_at(proxy.url) as developer:
        yield developer


@pytest.fixture
def kuberay(proxy, ray):
    """KubeRay, in front of the proxy."""
    service = RayService(KubeRay(OPERATOR, "127.0.0.1", proxy.port), ray)
    yield service
    service.operator.close()


@pytest.fixture
def kuberay_alone(ray):
    """KubeRay without Holdfast: it talks to Ray."""
    service = RayService(KubeRay(OPERATOR, "127.0.0.1", ray.port), ray)
    yield service
    service.operator.close()


@pytest.fixture
async def dynamic(ray, kuberay, developer):
    """A cluster at work: KubeRay declares `shop`, a team has put `guest` over REST, another `notebook` by serve.run.

    Gives the replicas of those that KubeRay does not own. (No `notebook` on Ray before 2.11: it loses them.)
    """
    await kuberay.declares(app("shop"))
    assert (await developer.put_app(app("guest"))).status in {200, 201}
    if ray.keeps_imperative and NOTEBOOK not in await ray.statuses():
        await ray.serve_run(NOTEBOOK)
    await ray.until_running("shop")
    return await ray.until_running("guest", *([NOTEBOOK] if ray.keeps_imperative else []))

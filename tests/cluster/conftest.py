"""What every story is given: a RayService in a fresh namespace, the operator, and a record to write to."""

import secrets
from collections.abc import AsyncIterator

import pytest

from tests.cluster import sidecar
from tests.cluster.api import Api, connected
from tests.cluster.faults import on_own_node
from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import code
from tests.cluster.operators import Operator
from tests.cluster.pairs import Pair
from tests.cluster.rayservice import RayService
from tests.cluster.records import Record


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--pair", default="1.6.2x2.60.0", help="KubeRay x Ray, both as installed by `python -m tests.cluster`"
    )
    parser.addoption("--long", action="store_true", help="also stories that take a quarter of an hour")
    parser.addoption(
        "--seen", action="store_true", help="also what takes a browser and a Prometheus (make cluster-seen)"
    )
    parser.addoption("--holdfast", action="store_true", help="Holdfast is installed: expect what it promises")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "core: told in CI, with the oldest and the newest pair, without Holdfast and with"
    )
    config.addinivalue_line("markers", "core_with_holdfast: told in CI with Holdfast only")
    config.addinivalue_line("markers", "told_with(*kuberay): the KubeRay releases that the story makes sense with")
    config.addinivalue_line("markers", "long: takes a quarter of an hour, and is told on request")
    config.addinivalue_line("markers", "seen: takes a browser and a Prometheus, and is told on request")
    config.addinivalue_line("markers", "own_node: told only on a node of ours, as it reaches behind Kubernetes")
    config.addinivalue_line("markers", "with_holdfast: told only where Holdfast is installed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A story that makes sense with some releases only says so: `@pytest.mark.told_with("1.2.2", "1.4.2")`."""
    kuberay = str(Pair.parse(config.getoption("--pair")).kuberay)
    stock = not config.getoption("--holdfast")
    unasked = [mark for mark in ("long", "seen") if not config.getoption(f"--{mark}")]

    def told(item: pytest.Item) -> bool:
        fits = all(kuberay in mark.args for mark in item.iter_markers("told_with"))
        on_request = any(item.get_closest_marker(mark) for mark in unasked)
        elsewhere = bool(item.get_closest_marker("own_node")) and not on_own_node()
        return fits and not on_request and not elsewhere and not (stock and item.get_closest_marker("with_holdfast"))

    config.hook.pytest_deselected(items=[item for item in items if not told(item)])
    items[:] = [item for item in items if told(item)]


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Pair:
    return Pair.parse(request.config.getoption("--pair"))


@pytest.fixture
def holdfast(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--holdfast"))


@pytest.fixture
def operator(pair: Pair) -> Operator:
    return Operator(pair.kuberay)


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with connected() as api:
        yield api


@pytest.fixture
async def service(api: Api, pair: Pair, holdfast: bool) -> AsyncIterator[RayService]:  # noqa: FBT001 - a fixture's name
    """A RayService not yet applied; its namespace goes, with everything in it, when the story is told."""
    namespace = f"story-{secrets.token_hex(3)}"
    labels = {"holdfast.dev/inject": "enabled"} if holdfast else {}
    await api.create("/api/v1/namespaces", {"metadata": {"name": namespace, "labels": labels}})
    await kubectl("create", f"--namespace={namespace}", "--filename=-", feed=code())
    service = RayService(api, namespace, pair, holdfast=holdfast)
    try:
        yield service
    finally:
        await service.delete()
        await api.delete(f"/api/v1/namespaces/{namespace}")


@pytest.fixture
async def record(request: pytest.FixtureRequest, service: RayService) -> AsyncIterator[Record]:
    """Kept also when the story's assertion fails: what was seen was seen."""
    letter = request.path.stem.removeprefix("test_").split("_")[0]
    sentence, _, told_with = request.node.name.removeprefix("test_").rstrip("]").partition("[")
    story = f"{letter}. {sentence.replace('_', ' ')}" + (f" ({told_with.replace('-', ' ')})" if told_with else "")
    tells, pair = request.module.__doc__.splitlines()[0][3:], service.pair
    record = Record(story, tells, str(pair.kuberay), str(pair.ray), service.holdfast)
    yield record
    try:
        if service.holdfast and not await service.gone():
            head = await service.first_head()
            record.note(sidecar=sidecar.form(await head.pod_object()))
            record.note(puts_that_the_sidecar_saw=sidecar.puts_by_kuberay(await head.sidecar_metrics()))
    finally:
        record.keep()

"""Everything is played once; each test asks Prometheus afterwards."""

import asyncio
import contextlib

import pytest_asyncio

from tests.fakes.dashboard import FakeRay
from tests.fakes.journal import journal_of
from tests.fakes.kuberay import KubeRay
from tests.monitoring import scenario
from tests.monitoring.prometheus import Pod, is_ready, running
from tests.ray.developer import developer
from tests.ray.rayservice import RayService
from tests.ray.sidecar import Sidecar
from tests.ray.stages import FakeStage

_CLUSTER = "shop-raycluster-x7k2p"
HEAD = {"namespace": "team", "pod": f"{_CLUSTER}-head", "__meta_kubernetes_pod_label_ray_io_cluster": _CLUSTER}
WEBHOOK = {"namespace": "holdfast", "pod": "holdfast-webhook-1"}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def prometheus(tmp_path_factory):
    """Prometheus, when the scenario has been played and scraped."""
    folder, at_webhook = tmp_path_factory.mktemp("sidecar"), tmp_path_factory.mktemp("webhook")
    async with FakeRay("2.60.0") as ray, journal_of(folder) as journal:
        settings = journal.settings(_CLUSTER) | {"answer_within_s": "0.3"}
        sidecar = Sidecar(ray.url, folder, settings)
        try:
            with scenario.webhook(at_webhook) as port:
                pods = (Pod("holdfast-sidecars", sidecar.port, HEAD), Pod("holdfast-webhook", port, WEBHOOK))
                with running(tmp_path_factory.mktemp("prometheus"), *pods) as prometheus:
                    await is_ready(prometheus)
                    await prometheus.until("count_over_time(up[30s]) > 2 and up == 1", series=2)
                    await _play(ray, journal, sidecar, port)
                    await asyncio.sleep(2)  # a few scrapes and evaluations more
                    yield prometheus
        finally:
            sidecar.kill()


async def _play(ray, journal, sidecar, port):
    with contextlib.closing(KubeRay("1.6.2", "127.0.0.1", sidecar.port)) as operator:
        kuberay = RayService(operator, FakeStage(ray))
        async with developer(sidecar.url) as team:
            await scenario.a_new_cluster_gets_its_applications(journal, kuberay)
            await scenario.teams_deploy_and_kuberay_puts_again(kuberay, team)
            await scenario.ray_is_late(ray, kuberay)
    await scenario.the_webhook_is_asked(port)

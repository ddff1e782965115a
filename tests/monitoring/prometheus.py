"""A real Prometheus on loopback, which scrapes as the PodMonitors say and has the rules loaded.

Of Prometheus' operator only this is imitated: a PodMonitor's endpoint becomes a scrape of one known address, with the
pod's labels where the operator finds them, and its relabelings are written as Prometheus spells them.
"""

import asyncio
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import yaml

from tests.ray.stages import eventually

MONITORING = Path(__file__).parents[2] / "manifests" / "monitoring"
_STEP = "500ms"


@dataclass(frozen=True, slots=True)
class Pod:
    """What a PodMonitor finds: its address, and the labels that the operator gives it."""

    monitor: str
    port: int
    labels: Mapping[str, str]
    address: str = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Prometheus:
    """One that runs."""

    url: str

    async def ask(self, query: str) -> list[dict]:
        """The series of an instant query. Raises AssertionError with Prometheus' words if it refuses."""
        answer = await self._get("/api/v1/query", query=query)
        assert answer["status"] == "success", f"{query}: {answer.get('error')}"
        result = answer["data"]["result"]
        return result if answer["data"]["resultType"] == "vector" else [{"metric": {}, "value": result}]

    async def rules(self) -> dict[str, dict]:
        """Each alert rule by its name, with its health."""
        groups = (await self._get("/api/v1/rules"))["data"]["groups"]
        return {rule["name"]: rule for group in groups for rule in group["rules"]}

    async def until(self, query: str, series: int = 1) -> None:
        """Wait until a query has that many series."""

        async def so() -> bool:
            return len(await self.ask(query)) >= series

        await eventually(so, within_s=60)

    async def _get(self, path: str, **query: str) -> dict:
        async with aiohttp.ClientSession(self.url) as http, http.get(path, params=query) as answer:
            return await answer.json()


@contextmanager
def running(folder: Path, *pods: Pod) -> Iterator[Prometheus]:
    """Prometheus, until the block ends; configuration, data and log in ``folder``."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration(pods)))
    command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen([*command, f"--web.listen-address={address}"], stdout=log, stderr=log)
    try:
        yield Prometheus(f"http://{address}")
    finally:
        process.terminate()
        process.wait(timeout=60)


async def is_ready(prometheus: Prometheus) -> None:
    """Wait until it answers."""
    async with asyncio.timeout(60), aiohttp.ClientSession(prometheus.url) as http:
        while True:
            try:
                async with http.get("/-/ready") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.1)


def configuration(pods: tuple[Pod, ...]) -> dict:
    """prometheus.yml."""
    return {
        "global": {"scrape_interval": _STEP, "scrape_timeout": _STEP, "evaluation_interval": _STEP},
        "rule_files": [str(MONITORING / "rules.yaml")],
        "scrape_configs": [_scrape(pod) for pod in pods],
    }


def _scrape(pod: Pod) -> dict:
    monitors = yaml.safe_load_all((MONITORING / "monitors.yaml").read_text())
    (endpoint,) = next(each for each in monitors if each["metadata"]["name"] == pod.monitor)["spec"][
        "podMetricsEndpoints"
    ]
    spelled = _as_prometheus_spells({key: value for key, value in endpoint.items() if key not in {"port", "path"}})
    renamed = {{"relabelings": "relabel_configs"}.get(key, key): value for key, value in spelled.items()}
    targets = [{"targets": [f"{pod.address}:{pod.port}"], "labels": dict(pod.labels)}]
    return {"job_name": pod.monitor, "metrics_path": endpoint["path"], "static_configs": targets, **renamed}


def _as_prometheus_spells(value: object) -> object:
    """targetLabel -> target_label, all the way down."""
    if isinstance(value, dict):
        return {
            re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", key): _as_prometheus_spells(each)
            for key, each in value.items()
        }
    return [_as_prometheus_spells(each) for each in value] if isinstance(value, list) else value

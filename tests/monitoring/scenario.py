"""What happens while Prometheus looks on: enough for each question of the dashboard to have an answer.

A sidecar and a webhook as processes of their own. Ray and the journal are the fakes of tests/fakes; the webhook's API
server is away, so that its admissions fail open.
"""

import json
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import aiohttp
import yaml

from certs.authority import first
from certs.renewal import Terms
from tests.fakes.dashboard import FakeRay
from tests.fakes.journal import FakeJournal
from tests.process.test_webhook import IMAGE, environment, until_answered
from tests.ray.configs import app, tuned
from tests.ray.developer import Developer
from tests.ray.rayservice import RayService

GOLDEN = Path(__file__).parents[1] / "golden" / "admission"
POD = "a-head-with-gcs-fault-tolerance-of-kuberay-1-5-1"
RAYSERVICE = "a-finalizer-changes-nothing"


@contextmanager
def webhook(folder: Path) -> Iterator[int]:
    """The webhook with a certificate from a folder; gives its port."""
    bundle = first(("localhost",), Terms(), datetime.now(UTC))
    (folder / "tls.crt").write_bytes(bundle.serving.cert_pem)
    (folder / "tls.key").write_bytes(bundle.serving.key_pem)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    listen = {"HOLDFAST_WEBHOOK_LISTEN": f"127.0.0.1:{port}", "HOLDFAST_CERTIFICATES": str(folder)}
    with (folder / "webhook.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "webhook"], env=environment(folder, **IMAGE, **listen), stdout=log, stderr=log
        )
    try:
        trust = ssl.create_default_context(cadata=bundle.trust_pem().decode())
        assert until_answered(f"https://localhost:{port}/healthz", trust) == 200
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)


async def a_new_cluster_gets_its_applications(journal: FakeJournal, kuberay: RayService) -> None:
    """One of the journal runs, one is refused by Ray."""
    journal.put(app("guest"), by="shop-of-before")
    journal.put({**app("bad"), "import_path": "one:two:three"}, by="shop-of-before")
    await kuberay.declares(app("shop"))
    await kuberay.stage.until({"shop": "RUNNING", "guest": "RUNNING"})


async def teams_deploy_and_kuberay_puts_again(kuberay: RayService, developer: Developer) -> None:
    """What its PUT would have deleted is kept; what nobody may touch is refused; what its owner deletes goes."""
    assert (await developer.put_app(app("model"), wait_s=60)).status == 201
    await kuberay.declares(tuned("shop", 7))
    assert (await developer.put_app(tuned("shop", 8))).status == 409
    assert (await developer.delete_app("model", wait_s=60)).status == 204


async def ray_is_late(ray: FakeRay, kuberay: RayService) -> None:
    """KubeRay gets the last good answer."""
    assert await kuberay.operator.reconcile(), kuberay.operator.error
    ray.faults.get_delay_s = 3
    assert await kuberay.operator.reconcile(), kuberay.operator.error
    ray.faults.get_delay_s = 0


async def the_webhook_is_asked(port: int) -> None:
    """Admissions, which it lets through as they are; and a journal call without a token."""
    unverified = aiohttp.TCPConnector(ssl=False)
    async with aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=unverified) as http:
        for case in (POD, RAYSERVICE):
            (path,) = (GOLDEN / case).glob("review.*")
            review = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
            async with http.post("/mutate", data=json.dumps(review)) as answer:
                assert (await answer.json())["response"]["allowed"]
        async with http.get("/v1/journal/team/shop") as answer:
            assert answer.status == 401

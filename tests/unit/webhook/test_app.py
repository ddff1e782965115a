"""The webhook on a real port: what the API server gets to hear, whatever happens."""

import asyncio
import base64
import io
import json
import logging
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from tests.golden.admission_cases import FOLDER, IMAGE, Case
from tests.unit.webhook.manifests import pod
from webhook.admission import Admission
from webhook.app import Webhook
from webhook.cluster import LookupFailedError
from webhook.events import About
from webhook.heads import RayServiceOwner
from webhook.injection import SidecarForm
from webhook.metrics import Metrics
from webhook.notices import Notice
from webhook.settings import Settings

HEAD = Case.read(FOLDER / "a-plain-head-of-kuberay-1-6-2").review


class Owners:
    """Every RayCluster is the RayService shop's, unless a fault is set."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.pause_s = 0.0

    async def owner(self, namespace: str, raycluster: str) -> RayServiceOwner | None:
        await asyncio.sleep(self.pause_s)
        if self.fault:
            raise self.fault
        return RayServiceOwner("shop", uid="u-1")


class Told(list[tuple[About, Notice]]):
    def tell(self, about: About, notice: Notice) -> None:
        self.append((about, notice))


@pytest.fixture
def owners() -> Owners:
    return Owners()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def webhook(owners: Owners, told: Told) -> Webhook:
    settings = Settings(admit_within_s=0.5)
    return Webhook(settings, Metrics("test"), owners, told.tell, admission=Admission(SidecarForm(IMAGE), (1, 34)))


@pytest.fixture
async def http(webhook: Webhook) -> AsyncIterator[TestClient]:
    async with TestClient(TestServer(webhook.app())) as client:
        yield client


async def admit(http: TestClient, review: object) -> dict:
    answer = await http.post("/mutate", json=review)
    assert answer.status == 200
    read = await answer.json()
    assert (read["apiVersion"], read["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    return read["response"]


def review_of(kind: str, manifest: object, operation: str = "CREATE", **more: object) -> dict:
    request = {
        "uid": "1",
        "kind": {"kind": kind},
        "operation": operation,
        "namespace": "web",
        "object": manifest,
        **more,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


async def test_a_head_gets_its_sidecar(http, told, webhook):
    response = await admit(http, HEAD)

    assert response["uid"] == HEAD["request"]["uid"]
    assert response["allowed"] is True
    assert "/spec/initContainers" in [each["path"] for each in json.loads(base64.b64decode(response["patch"]))]
    assert [(about.name, about.uid, notice.reason) for about, notice in told] == [("shop", "u-1", "InjectedSidecar")]
    assert 'holdfast_admissions_total{outcome="injected",resource="pods"} 1.0' in webhook.metrics.print().decode()


async def test_a_dry_run_is_answered_alike_and_tells_nobody(http, told):
    dry = {**HEAD, "request": {**HEAD["request"], "dryRun": True}}

    assert (await admit(http, dry)) == (await admit(http, HEAD))
    assert len(told) == 1


async def test_g11_without_the_api_servers_word_a_head_is_admitted_as_it_is(http, owners, webhook):
    owners.fault = LookupFailedError("no answer within 1 s")

    response = await admit(http, HEAD)

    assert response["allowed"] is True
    assert "patch" not in response
    assert "to be mended later" in response["warnings"][0]
    assert 'outcome="lookup_failed",resource="pods"} 1.0' in webhook.metrics.print().decode()


@pytest.mark.parametrize("fault", [KeyError("s3cret"), RecursionError("s3cret"), ValueError("s3cret")], ids=repr)
async def test_g11_g12_a_fault_of_ours_stops_nobody_and_quotes_nothing(http, owners, webhook, caplog, fault):
    owners.fault = fault

    with caplog.at_level(logging.INFO):
        response = await admit(http, HEAD)

    assert response["allowed"] is True
    assert "patch" not in response
    assert "a fault of Holdfast" in response["warnings"][0]
    assert 'outcome="failed",resource="pods"} 1.0' in webhook.metrics.print().decode()
    assert "s3cret" not in json.dumps(response) + caplog.text + str([vars(record) for record in caplog.records])


async def test_g11_a_slow_admission_is_answered_before_the_api_server_gives_up(http, owners):
    owners.pause_s = 30

    response = await admit(http, HEAD)

    assert response["allowed"] is True
    assert "TimeoutError" in response["warnings"][0]


async def test_a_broken_pod_is_not_our_fault_to_refuse(http):
    broken = pod()
    broken["spec"] = {"containers": []}

    assert (await admit(http, review_of("Pod", broken)))["allowed"] is True


@pytest.mark.parametrize(
    "review",
    [
        review_of("ConfigMap", {"metadata": {"name": "x"}}),
        review_of("Pod", pod(), "UPDATE"),
        review_of("RayService", {"metadata": {}}, "CONNECT"),
    ],
    ids=["kind", "operation", "connect"],
)
async def test_what_is_not_ours_passes(http, review):
    assert await admit(http, review) == {"uid": "1", "allowed": True}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"{}",
        json.dumps({**review_of("Pod", {}), "apiVersion": "admission.k8s.io/v1beta1"}).encode(),
        json.dumps(review_of("Pod", None, "DELETE")).encode(),
        b'{"apiVersion": "admission.k8s.io/v1", "request": {"uid": 1}}',
        b"\xff\xfe",
    ],
    ids=["empty", "truncated", "deep", "no-review", "v1beta1", "no-object", "wrong-types", "no-utf-8"],
)
async def test_what_is_no_review_is_refused_and_the_next_one_is_fine(http, body):
    refused = await http.post("/mutate", data=body, headers={"Content-Type": "application/json"})

    assert refused.status == 400
    assert await refused.text()
    assert (await admit(http, HEAD))["allowed"] is True


async def test_a_body_beyond_the_limit_is_refused(http):
    refused = await http.post("/mutate", data=io.BytesIO(b"x" * (Settings().max_body_bytes + 1)))

    assert refused.status == 413


async def test_a_rayservice_of_a_megabyte_does_not_make_others_wait(http, webhook):
    """It is read in a thread; a head that comes meanwhile is admitted at once."""
    webhook.settings = Settings(admit_within_s=60)
    annotations = {"holdfast.dev/dynamic-apps": "m-*"}
    text = "applications:\n" + "".join(f"- name: a-{n}\n  import_path: a:b\n" for n in range(10_000))
    old = {
        "metadata": {"annotations": annotations},
        "spec": {"serveConfigV2": text + "- name: m-1\n  route_prefix: /m\n"},
    }
    new = {"metadata": {"annotations": annotations}, "spec": {"serveConfigV2": text}}

    large = asyncio.create_task(admit(http, review_of("RayService", new, "UPDATE", oldObject=old)))
    small = asyncio.create_task(admit(http, HEAD))
    done, _ = await asyncio.wait({large, small}, return_when=asyncio.FIRST_COMPLETED)

    assert done == {small}
    assert "put back m-1" in (await large)["warnings"][0]


async def test_it_is_ready_once_it_knows_the_cluster_and_until_it_drains(http, webhook):
    async def statuses() -> list[int]:
        return [(await http.get(path)).status for path in ("/healthz", "/readyz")]

    assert await statuses() == [200, 200]
    webhook.is_draining = True
    assert await statuses() == [200, 503]
    webhook.is_draining, webhook.admission = False, None
    assert await statuses() == [200, 503]
    assert "not known yet" not in str(await admit(http, HEAD))


async def test_a_draining_webhook_gives_each_connection_back(http, webhook):
    webhook.is_draining = True

    answer = await http.post("/mutate", json=HEAD)

    assert answer.headers["Connection"] == "close"
    assert (await answer.json())["response"]["allowed"] is True


async def test_metrics_exist_at_zero(http):
    page = await (await http.get("/metrics")).text()

    assert 'holdfast_admissions_total{outcome="put_back",resource="rayservices"} 0.0' in page
    assert 'holdfast_service_repairs_total{reason="RestoredService"} 0.0' in page


async def test_no_secret_of_a_rayservice_is_logged_or_told(http, told, caplog):
    """G12: a runtime_env holds credentials."""
    annotations = {"holdfast.dev/dynamic-apps": "m-*"}
    hidden = "  runtime_env: {env_vars: {TOKEN: s3cret}}\n"
    old = {
        "metadata": {"uid": "u", "annotations": annotations},
        "spec": {"serveConfigV2": f"applications:\n- name: m-1\n{hidden}"},
    }
    texts = ["applications: []", f"applications: [\n- x\n{hidden}", f"applications:\n- name: n\n{hidden}"]

    with caplog.at_level(logging.DEBUG):
        for text in texts:
            new = {"metadata": {"uid": "u", "annotations": annotations}, "spec": {"serveConfigV2": text}}
            response = await admit(http, review_of("RayService", new, "UPDATE", oldObject=old))
            assert "s3cret" not in str(response.get("warnings")) + str(response.get("status"))

    assert told or caplog.records
    assert "s3cret" not in str(told) + str([vars(record) for record in caplog.records])


async def test_two_hundred_admissions_at_once_are_all_answered(http):
    answers = await asyncio.gather(*(admit(http, HEAD) for _ in range(200)))

    assert {answer["allowed"] for answer in answers} == {True}
    assert isinstance(http.session, aiohttp.ClientSession)

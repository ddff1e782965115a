"""A real API server calls a webhook with our certificates: it is the only judge of them that counts."""

import asyncio
import contextlib
import datetime as dt

import pytest
from prometheus_client import CollectorRegistry

from certs.metrics import CertificateMetrics
from certs.place import Place
from certs.renewal import Terms
from certs.rotation import Rotation
from certs.store import Store
from certs.tls import LiveContext
from tests.apiserver.webhook_double import CONFIGURATION, MARK, called_by, failure_policy

SECRET = "/api/v1/namespaces/holdfast/secrets/holdfast-webhook-tls"  # noqa: S105 - a path
QUICK = Terms(
    authority_life=dt.timedelta(seconds=24),
    serving_life=dt.timedelta(seconds=9),
    skew=dt.timedelta(seconds=1),
    spread=dt.timedelta(seconds=2),
)


def head(name):
    owner = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "shop", "uid": "1"}
    return {
        "metadata": {"name": name, "labels": {"ray.io/node-type": "head"}, "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "ray", "image": "ray"}]},
    }


async def admitted(api, namespace, name="head"):
    pods = f"/api/v1/namespaces/{namespace}/pods"
    pod = await api.call("POST", pods, body=head(name), query={"dryRun": "All"})
    return MARK in pod["metadata"].get("annotations", {})


def rotation_of(api, live, terms=None):
    metrics = CertificateMetrics(CollectorRegistry())
    return Rotation(Store(api, Place()), live, metrics, names=Place().names(), terms=terms)


@pytest.fixture
async def webhook(api):
    await api.delete(SECRET)
    async with called_by(api) as webhook:
        yield webhook
    await failure_policy(api, "Ignore")


async def until(holds, limit_s=10.0):
    async with asyncio.timeout(limit_s):
        while not await holds():  # noqa: ASYNC110 - what is waited for is the API server's state
            await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def looked_after(rotation):
    task = asyncio.create_task(rotation.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_the_api_server_calls_the_webhook_with_the_rights_of_its_service_account_alone(
    api, webhook_api, webhook, opted_in
):
    assert not await admitted(api, opted_in)  # without a certificate: admitted as it is

    await rotation_of(webhook_api, webhook.live).step()

    await until(lambda: admitted(api, opted_in))


async def test_while_certificates_and_authorities_change_no_admission_is_refused(api, webhook_api, webhook, opted_in):
    """failurePolicy Fail: a single handshake that fails is a refused pod."""
    rotation = rotation_of(webhook_api, webhook.live, QUICK)
    await rotation.step()
    await until(lambda: admitted(api, opted_in))
    await failure_policy(api, "Fail")
    await asyncio.sleep(1)
    refused, answered, seen = [], 0, set()

    async def look():
        end = asyncio.get_running_loop().time() + 24
        while asyncio.get_running_loop().time() < end:
            await rotation.step()
            seen.add((await rotation.step()).authority.cert_pem)
            await asyncio.sleep(0.3)

    looking = asyncio.create_task(look())
    while not looking.done():
        try:
            assert await admitted(api, opted_in)
            answered += 1
        except Exception as error:  # noqa: BLE001 - counted, and the test fails on it
            refused.append(str(error))
        await asyncio.sleep(0.02)
    await looking

    print(f"{answered} admissions, {len(seen)} authorities")
    assert refused == []
    assert answered > 50
    assert len(seen) >= 2


async def test_a_deleted_secret_costs_no_admission(api, webhook_api, webhook, opted_in):
    rotation = rotation_of(webhook_api, webhook.live)
    before = await rotation.step()
    await until(lambda: admitted(api, opted_in))
    await failure_policy(api, "Fail")
    async with looked_after(rotation):
        await api.delete(SECRET)
        for _ in range(20):
            assert await admitted(api, opted_in)
            await asyncio.sleep(0.02)

        async def is_back():
            return await api.find(SECRET) is not None

        await until(is_back)
        assert await admitted(api, opted_in)
    assert before.authority != (await rotation.step()).authority


async def test_a_stripped_ca_bundle_is_back_within_a_second(api, webhook_api, webhook, opted_in):
    rotation = rotation_of(webhook_api, webhook.live)
    await rotation.step()
    async with looked_after(rotation):
        await asyncio.sleep(1)
        configuration = await api.find(CONFIGURATION)
        for each in configuration["webhooks"]:
            each["clientConfig"].pop("caBundle")
        await api.replace(CONFIGURATION, configuration)

        async def is_back():
            stored = await api.find(CONFIGURATION)
            return all("caBundle" in each["clientConfig"] for each in stored["webhooks"])

        await until(is_back, 1)
    await until(lambda: admitted(api, opted_in))


async def test_an_apply_of_the_manifests_leaves_the_ca_bundle_in_place(cluster, api, webhook_api, webhook):
    await rotation_of(webhook_api, webhook.live).step()
    before = (await api.find(CONFIGURATION))["webhooks"][0]["clientConfig"]["caBundle"]

    cluster.kubectl("apply", "--kustomize=manifests/overlays/strict")

    after = await api.find(CONFIGURATION)
    assert after["webhooks"][0]["failurePolicy"] == "Fail"
    assert {each["clientConfig"]["caBundle"] for each in after["webhooks"]} == {before}


async def test_two_replicas_by_two_connections_end_with_one_certificate(webhook_api, webhook):
    others = [LiveContext() for _ in range(3)]

    await asyncio.gather(*(rotation_of(webhook_api, live).step() for live in (webhook.live, *others)))

    assert {webhook.live.loaded} == {live.loaded for live in others}

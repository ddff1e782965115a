"""The whole of Holdfast on a real API server: the webhook as its own process, by its own service account."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from datetime import UTC, datetime

import pytest

from certs.apiserver import MERGE_PATCH, ApiError
from certs.place import Place
from cli.check import rules
from cli.check.findings import Level
from cli.check.seen import look
from cli.uninstall.steps import uninstall
from tests.apiserver.conftest import installed
from tests.apiserver.test_certificates import until
from tests.apiserver.webhook_double import CONFIGURATION, led_to
from webhook.cluster import Watchable
from webhook.injection import has_sidecar
from webhook.services import is_redirected

TEAM = "/api/v1/namespaces/team"
RAY = "/apis/ray.io/v1/namespaces/team"
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.fixture(scope="module")
def cluster():
    """One of its own: it is uninstalled in the end."""
    with installed() as cluster:
        yield cluster


@contextlib.asynccontextmanager
async def webhook_process(cluster, token, folder):
    """`holdfast webhook` with a kubeconfig that holds nothing but the service account's token."""
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    (folder / "kubeconfig").write_text(json.dumps(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {
        **os.environ,
        "KUBECONFIG": str(folder / "kubeconfig"),
        "HOLDFAST_WEBHOOK_LISTEN": f"127.0.0.1:{port}",
        "HOLDFAST_WEBHOOK_SIDECAR_IMAGE": "holdfast/holdfast:0.1.0",
    }
    with (folder / "webhook.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "webhook", env=environ, stderr=log)
    try:
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), 40)
        except TimeoutError:
            process.kill()
            await process.wait()
            pytest.fail("the webhook does not end")


async def rayservice(api, name):
    """A RayService, and what KubeRay makes of it; the uids are the API server's."""
    template = {"spec": {"containers": [{"name": "ray-head", "image": "ray"}]}}
    cluster = {"headGroupSpec": {"rayStartParams": {}, "template": template}}
    made = await api.create(
        f"{RAY}/rayservices",
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayService",
            "metadata": {"name": name},
            "spec": {"serveConfigV2": "applications: []\n", "rayClusterConfig": cluster},
        },
    )
    labels = {"ray.io/originated-from-cr-name": name, "ray.io/originated-from-crd": "RayService"}
    owner = {"apiVersion": "ray.io/v1", "kind": "RayService", "name": name, "uid": made["metadata"]["uid"]}
    return await api.create(
        f"{RAY}/rayclusters",
        {
            "apiVersion": "ray.io/v1",
            "kind": "RayCluster",
            "metadata": {"name": f"{name}-abcde", "labels": labels, "ownerReferences": [owner]},
            "spec": cluster,
        },
    )


def owned(raycluster, name):
    about = raycluster["metadata"]
    owner = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": about["name"], "uid": about["uid"]}
    labels = {"ray.io/node-type": "head", "ray.io/cluster": about["name"]}
    return {"name": name, "labels": labels, "ownerReferences": [owner]}


async def head_service(api, raycluster):
    name = f"{raycluster['metadata']['name']}-head-svc"
    spec = {"clusterIP": "None", "ports": [{"name": "dashboard", "port": 8265}], "selector": {"a": "b"}}
    return await api.create(f"{TEAM}/services", {"metadata": owned(raycluster, name), "spec": spec})


async def head_pod(api, raycluster):
    tags = {"name": "RAY_USAGE_STATS_EXTRA_TAGS", "value": "kuberay_version=v1.6.2;kuberay_crd=RayService"}
    container = {"name": "ray-head", "image": "ray", "env": [tags], "securityContext": RESTRICTED}
    about = owned(raycluster, f"{raycluster['metadata']['name']}-head")
    return await api.create(f"{TEAM}/pods", {"metadata": about, "spec": {"containers": [container]}})


async def events(api, reason):
    return [each for each in (await api.get(f"{TEAM}/events"))["items"] if each["reason"] == reason]


async def test_from_the_first_head_to_the_last_service_put_back(cluster, api, webhook_token, opted_in, tmp_path):
    enforce = {"pod-security.kubernetes.io/enforce": "restricted"}
    await api.patch(f"/api/v1/namespaces/{opted_in}", {"metadata": {"labels": enforce}}, MERGE_PATCH)
    await asyncio.sleep(1)  # creation times are whole seconds: this head is younger than the installation
    before = await rayservice(api, "before")
    old_pod, _ = await head_pod(api, before), await head_service(api, before)
    async with webhook_process(cluster, webhook_token, tmp_path) as port, led_to(api, port):
        await until(lambda: is_asked(api), 30)

        shop = await rayservice(api, "shop")
        service, pod = await head_service(api, shop), await head_pod(api, shop)
        assert (is_redirected(service), has_sidecar(pod), has_sidecar(old_pod)) == (True, True, False)
        assert pod["spec"]["initContainers"][0]["restartPolicy"] == "Always"

        await the_watchdog_mends(api)
        await everything_is_told(api)
        await check_says_so(api)
        assert "forbidden" not in (tmp_path / "webhook.log").read_text()
    await it_is_uninstalled(api)


async def is_asked(api):
    """Has the webhook its certificate, and the API server the caBundle?"""
    pods = f"{TEAM}/pods"
    container = {"name": "ray-head", "image": "ray", "securityContext": RESTRICTED}
    about = {
        "name": "probe",
        "labels": {"ray.io/node-type": "head"},
        "ownerReferences": [{"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "before-abcde", "uid": "1"}],
    }
    body = {"metadata": about, "spec": {"containers": [container]}}
    return has_sidecar(await api.call("POST", pods, body=body, query={"dryRun": "All"}))


async def the_watchdog_mends(api):
    """A Service whose head has no sidecar leads to Ray, whoever has written it; within the 10 s that are promised."""
    path = f"{TEAM}/services/before-abcde-head-svc"
    ports = [{"name": "dashboard", "port": 28265}, {"name": "dashboard-ray", "port": 8265}]
    astray = {"spec": {"ports": ports}}
    await api.patch(path, astray, MERGE_PATCH)

    async def is_mended():
        return not is_redirected(await api.find(path))

    await until(is_mended, 10)


async def everything_is_told(api):
    for reason in ("InjectedSidecar", "RedirectedService", "RestoredService"):

        async def is_told(reason=reason):
            return bool(await events(api, reason))

        await until(is_told)


async def check_says_so(api):
    found = rules.findings(await look(api, Place()), datetime.now(UTC), pre=False, namespace=None)
    # Without nodes: no pod of the webhook, no sidecar that runs, and no Service that could be reached through it.
    said = {each.check: each.level for each in found if each.check != "rayservice"}
    assert said == {
        "kubernetes": Level.OK,
        "rayservice-definition": Level.OK,
        "kuberay": Level.WARNING,
        "clock": Level.OK,
        "webhook-rights": Level.OK,
        "webhook-configuration": Level.OK,
        "webhook": Level.FAILED,
        "reachable": Level.FAILED,
        "ca-bundle": Level.OK,
        "certificate": Level.OK,
        "namespaces": Level.OK,
    }
    assert sorted(each.text for each in found if each.check == "rayservice") == [
        "team/before: head before-abcde-head has no sidecar: the webhook was away, or the namespace took no part yet",
        "team/shop: the sidecar of head shop-abcde-head does not run",
    ]


async def it_is_uninstalled(api):
    lines = [line async for line in uninstall(Watchable(api._through), Place())]

    assert "1 head Services lead to Ray again: team/shop-abcde-head-svc" in lines
    service = await api.find(f"{TEAM}/services/shop-abcde-head-svc")
    assert service["spec"]["ports"] == [{"name": "dashboard", "port": 8265, "protocol": "TCP", "targetPort": 8265}]
    assert await api.find(CONFIGURATION) is None
    with pytest.raises(ApiError, match="not found"):
        await api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/holdfast-webhook")
    again = [line async for line in uninstall(Watchable(api._through), Place())]
    assert again[0] == "the webhook configuration was gone already"

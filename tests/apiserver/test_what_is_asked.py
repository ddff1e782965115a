"""Which writes the API server asks about, and which it lets pass: selectors and conditions, judged by itself."""

import copy

import pytest

from certs.apiserver import MERGE_PATCH
from tests.apiserver.test_certificates import head, rotation_of, until
from tests.apiserver.webhook_double import MARK, called_by

RAYSERVICES = "/apis/ray.io/v1/namespaces/team/rayservices"
SERVICES = "/api/v1/namespaces/team/services"


@pytest.fixture
async def webhook(api, webhook_api, opted_in):
    async with called_by(api) as webhook:
        await rotation_of(webhook_api, webhook.live).step()

        async def is_called():
            return is_marked(await dry(api, f"/api/v1/namespaces/{opted_in}/pods", head("first")))

        await until(is_called)
        webhook.asked.clear()
        yield webhook


async def dry(api, collection, manifest):
    return await api.call("POST", collection, body=manifest, query={"dryRun": "All"})


def is_marked(created):
    return MARK in created["metadata"].get("annotations", {})


def service(owner="RayCluster", labels=None):
    manifest = head("shop-head-svc")
    manifest["metadata"]["ownerReferences"][0]["kind"] = owner
    manifest["metadata"]["labels"] = labels or {"ray.io/node-type": "head"}
    return {**manifest, "spec": {"ports": [{"port": 8265, "name": "dashboard"}], "clusterIP": "None"}}


def without_owner(manifest):
    plain = copy.deepcopy(manifest)
    del plain["metadata"]["ownerReferences"]
    return plain


def labelled(manifest, labels):
    other = copy.deepcopy(manifest)
    other["metadata"]["labels"] = labels
    return other


CASES = {
    "a head pod": ("pods", head("a"), True),
    "a worker": ("pods", labelled(head("a"), {"ray.io/node-type": "worker"}), False),
    "a pod of anybody": ("pods", labelled(head("a"), {}), False),
    "a pod that somebody has labelled like a head": ("pods", without_owner(head("a")), False),
    "a head Service": ("services", service(), True),
    "the RayService's own head Service": ("services", service(owner="RayService"), False),
    "the serve Service": ("services", service(labels={"ray.io/serve": "shop-serve"}), False),
}


@pytest.mark.parametrize(("kind", "manifest", "asked"), CASES.values(), ids=CASES)
async def test_the_webhook_is_asked_about(api, webhook, kind, manifest, asked):
    created = await dry(api, f"/api/v1/namespaces/team/{kind}", manifest)

    assert (is_marked(created), bool(webhook.asked)) == (asked, asked)


@pytest.mark.usefixtures("webhook")
async def test_no_namespace_that_has_not_opted_in(api):
    await api.patch("/api/v1/namespaces/team", {"metadata": {"labels": {"holdfast.dev/inject": None}}}, MERGE_PATCH)

    async def is_left_alone():
        return not is_marked(await dry(api, "/api/v1/namespaces/team/pods", head("a")))

    await until(is_left_alone)


@pytest.fixture
async def rayservice(api, webhook):
    template = {"spec": {"containers": [{"name": "ray", "image": "ray"}]}}
    spec = {
        "serveConfigV2": "applications: []\n",
        "rayClusterConfig": {"headGroupSpec": {"rayStartParams": {}, "template": template}},
    }
    manifest = {"apiVersion": "ray.io/v1", "kind": "RayService", "metadata": {"name": "shop"}, "spec": spec}
    await api.create(RAYSERVICES, manifest)
    assert webhook.asked == [("RayService", "CREATE", "shop")]
    webhook.asked.clear()
    yield manifest
    await api.patch(f"{RAYSERVICES}/shop", {"metadata": {"finalizers": None}}, MERGE_PATCH)
    await api.delete(f"{RAYSERVICES}/shop")


CHANGES = {
    "the config": ({"spec": {"serveConfigV2": "applications: [] # 2\n"}}, True),
    "an annotation": ({"metadata": {"annotations": {"holdfast.dev/dynamic-apps": "a"}}}, True),
    "a finalizer": ({"metadata": {"finalizers": ["ray.io/rayservice"]}}, False),
    "a label": ({"metadata": {"labels": {"team": "a"}}}, False),
}


@pytest.mark.usefixtures("rayservice")
@pytest.mark.parametrize(("change", "asked"), CHANGES.values(), ids=CHANGES)
async def test_of_a_rayservice_the_webhook_is_asked_about_a_change_of(api, webhook, change, asked):
    await api.patch(f"{RAYSERVICES}/shop", change, MERGE_PATCH)

    assert asked == bool(webhook.asked)


async def test_a_rayservice_of_the_old_api_version_is_asked_about_as_well(api, webhook, rayservice):
    """matchPolicy Equivalent: the rule says v1, the request v1alpha1."""
    old = {**rayservice, "apiVersion": "ray.io/v1alpha1", "metadata": {"name": "old"}}

    created = await dry(api, RAYSERVICES.replace("/v1/", "/v1alpha1/"), old)

    assert is_marked(created)
    assert ("RayService", "CREATE", "old") in webhook.asked


@pytest.mark.usefixtures("rayservice")
async def test_a_status_is_not_asked_about(api, webhook):
    await api.patch(f"{RAYSERVICES}/shop/status", {"status": {"serviceStatus": "Running"}}, MERGE_PATCH)

    assert webhook.asked == []

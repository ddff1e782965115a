"""The order of `holdfast uninstall`, on an API server that keeps what it is told."""

import pytest

from certs.apiserver import ApiError
from certs.place import Place
from certs.store import CONFIGURATIONS
from cli import uninstall
from cli.uninstall import CLUSTER_WIDE, steps
from tests.fakes.kubernetes import Kubernetes, connected
from webhook.cluster import Watchable
from webhook.services import redirect

CONFIGURATION = f"{CONFIGURATIONS}/holdfast"
DEPLOYMENT = "/apis/apps/v1/namespaces/holdfast/deployments/holdfast-webhook"
NAMESPACE = "/api/v1/namespaces/holdfast"
SERVICE = "/api/v1/namespaces/team/services/shop-head-svc"
OWNER = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "shop-abcde"}
AS_KUBERAY_MADE_IT = {
    "metadata": {
        "name": "shop-head-svc",
        "namespace": "team",
        "labels": {"ray.io/node-type": "head"},
        "ownerReferences": [OWNER],
    },
    "spec": {"clusterIP": "None", "ports": [{"name": "dashboard", "port": 8265, "targetPort": 8265}]},
}


@pytest.fixture
def kubernetes():
    kubernetes = Kubernetes()
    for path in (CONFIGURATION, DEPLOYMENT, NAMESPACE, *CLUSTER_WIDE):
        kubernetes.put(path, {})
    kubernetes.put(SERVICE, redirect(AS_KUBERAY_MADE_IT))
    return kubernetes


async def said(kubernetes):
    async with connected(kubernetes) as api:
        return [line async for line in steps(Watchable(api._through), Place())]


def writes(kubernetes):
    return [path for method, path in kubernetes.requests if method != "GET"]


async def test_first_nobody_is_asked_then_the_webhook_ends_then_services_lead_to_ray_then_the_rest_goes(kubernetes):
    lines = await said(kubernetes)

    assert writes(kubernetes) == [CONFIGURATION, DEPLOYMENT, SERVICE, *CLUSTER_WIDE, NAMESPACE]
    assert list(kubernetes.objects) == [SERVICE]
    assert kubernetes.objects[SERVICE]["spec"] == AS_KUBERAY_MADE_IT["spec"]
    assert "1 head Services lead to Ray again: team/shop-head-svc" in lines


async def test_services_are_put_back_only_when_the_webhook_has_ended(kubernetes, monkeypatch):
    """Its watchdog would lead them to the sidecars again."""
    monkeypatch.setattr(uninstall, "_PODS_GONE_S", 1)
    labels = {"app.kubernetes.io/name": "holdfast", "app.kubernetes.io/component": "webhook"}
    kubernetes.put(f"{NAMESPACE}/pods/holdfast-webhook-1", {"metadata": {"labels": labels}})

    with pytest.raises(uninstall.StillRunningError, match="delete them"):
        await said(kubernetes)
    assert SERVICE not in writes(kubernetes)


async def test_run_again_it_goes_on_from_what_is_left(kubernetes):
    kubernetes.refuse["DELETE", CLUSTER_WIDE[0]] = 500
    with pytest.raises(ApiError):
        await said(kubernetes)
    kubernetes.refuse.clear()

    lines = await said(kubernetes)

    assert lines[0] == "the webhook configuration was gone already"
    assert "0 head Services lead to Ray again" in lines
    assert list(kubernetes.objects) == [SERVICE]


@pytest.mark.parametrize("answer", ["", "n", "no", "what?"])
def test_without_a_yes_nothing_is_changed(answer, capsys):
    asked = []

    assert uninstall.run(Place(), None, yes=False, ask=lambda question: asked.append(question) or answer) == 2
    assert "removes Holdfast and the namespace holdfast" in asked[0]
    assert capsys.readouterr().err == "holdfast uninstall: nothing was changed.\n"


def test_without_a_terminal_to_ask_nothing_is_changed():
    def ask(_):
        raise EOFError

    assert uninstall.run(Place(), None, yes=False, ask=ask) == 2

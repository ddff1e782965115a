"""The order of `holdfast uninstall`, on an API server that keeps what it is told."""

import pytest

from certs.apiserver import ApiError
from certs.place import Place
from certs.store import CONFIGURATIONS
from cli.uninstall import run, steps, traces
from cli.uninstall.steps import CLUSTER_WIDE
from tests.fakes.kubernetes import Kubernetes, connected
from webhook.cluster import Watchable
from webhook.services import redirect

CONFIGURATION = f"{CONFIGURATIONS}/holdfast"
DEPLOYMENT = "/apis/apps/v1/namespaces/holdfast/deployments/holdfast-webhook"
NAMESPACE = "/api/v1/namespaces/holdfast"
CERTIFICATE = f"{NAMESPACE}/secrets/holdfast-webhook-tls"
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
    for path in (CONFIGURATION, DEPLOYMENT, CERTIFICATE, NAMESPACE, *CLUSTER_WIDE):
        kubernetes.put(path, {})
    kubernetes.put(SERVICE, redirect(AS_KUBERAY_MADE_IT))
    return kubernetes


async def said(kubernetes, do=steps.uninstall):
    async with connected(kubernetes) as api:
        return [line async for line in do(Watchable(api._through), Place())]


def writes(kubernetes):
    return [path for method, path in kubernetes.requests if method != "GET"]


async def test_first_nobody_is_asked_then_the_webhook_ends_then_services_lead_to_ray_then_the_rest_goes(kubernetes):
    lines = await said(kubernetes)

    assert writes(kubernetes) == [CONFIGURATION, DEPLOYMENT, SERVICE, CERTIFICATE, *CLUSTER_WIDE, NAMESPACE]
    assert list(kubernetes.objects) == [SERVICE]
    assert kubernetes.objects[SERVICE]["spec"] == AS_KUBERAY_MADE_IT["spec"]
    assert "1 head Services lead to Ray again: team/shop-head-svc" in lines


async def test_services_are_put_back_only_when_the_webhook_has_ended(kubernetes, monkeypatch):
    """Its watchdog would lead them to the sidecars again."""
    monkeypatch.setattr(steps, "_PODS_GONE_S", 1)
    labels = {"app.kubernetes.io/name": "holdfast", "app.kubernetes.io/component": "webhook"}
    kubernetes.put(f"{NAMESPACE}/pods/holdfast-webhook-1", {"metadata": {"labels": labels}})

    with pytest.raises(steps.StillRunningError, match="delete them"):
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


async def test_stepped_aside_only_what_helm_does_not_know_is_gone(kubernetes):
    await said(kubernetes, steps.step_aside)

    assert writes(kubernetes) == [CONFIGURATION, DEPLOYMENT, SERVICE, CERTIFICATE]
    assert kubernetes.objects.keys() == {SERVICE, NAMESPACE, *CLUSTER_WIDE}


@pytest.mark.parametrize("answer", ["", "n", "no", "what?"])
def test_without_a_yes_nothing_is_changed(answer, capsys):
    asked = []

    assert run.run(Place(), None, yes=False, ask=lambda question: asked.append(question) or answer) == 2
    assert "removes Holdfast and the namespace holdfast" in asked[0]
    assert capsys.readouterr().err == "holdfast uninstall: nothing was changed.\n"


def test_without_a_terminal_to_ask_nothing_is_changed():
    def ask(_):
        raise EOFError

    assert run.run(Place(), None, yes=False, ask=ask) == 2


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "removes Holdfast and the namespace holdfast"),
        ({"step_aside": True}, "stops Holdfast"),
        ({"forget": True}, "what only they have is lost"),
    ],
)
def test_what_is_asked_says_what_is_done(how, words):
    asked = []

    run.run(Place(), None, ask=lambda question: asked.append(question) or "no", **how)

    assert words in asked[0]


JOURNAL = "/api/v1/namespaces/team/secrets/shop-holdfast-journal"
OTHER_SECRET = "/api/v1/namespaces/team/secrets/password"  # noqa: S105 - a path
TRUST = "/api/v1/namespaces/team/configmaps/holdfast-ca"
RAYSERVICE = "/apis/ray.io/v1/namespaces/team/rayservices/shop"
TEAM, PLAIN = "/api/v1/namespaces/team", "/api/v1/namespaces/plain"


@pytest.fixture
def lived_in():
    """A cluster in which Holdfast was, beside what was never its own."""
    kubernetes = Kubernetes()
    for path, labels, annotations in (
        (JOURNAL, {"holdfast.dev/journal": "true"}, {}),
        (OTHER_SECRET, {}, {}),
        (TRUST, {}, {}),
        (RAYSERVICE, {}, {"holdfast.dev/added-by": "{}", "holdfast.dev/dynamic-apps": "model-*", "team": "ours"}),
        (TEAM, {"holdfast.dev/inject": "enabled", "team": "ours"}, {}),
        (PLAIN, {}, {}),
    ):
        about = {"name": path.rpartition("/")[2], "namespace": "team", "labels": labels, "annotations": annotations}
        kubernetes.put(path, {"metadata": about})
    return kubernetes


async def left(kubernetes, *, forget):
    async with connected(kubernetes) as api:
        return [line async for line in run.left(Watchable(api._through), forget=forget)]


async def test_what_is_left_on_purpose_is_named_with_the_command_that_removes_it(lived_in):
    assert await left(lived_in, forget=False) == [
        "Sidecars that still run go with their heads.",
        "Left, for when it is installed again:",
        "  journals: team/shop-holdfast-journal",
        "  ConfigMaps holdfast-ca: team/holdfast-ca",
        "  annotations of RayServices: team/shop (holdfast.dev/added-by, holdfast.dev/dynamic-apps)",
        "  label holdfast.dev/inject of namespaces: team",
        "To remove these, too: holdfast uninstall --forget",
    ]
    assert writes(lived_in) == []


async def test_on_request_it_goes_and_what_is_the_users_own_stays(lived_in):
    lines = await left(lived_in, forget=True)

    assert "Removed, too:" in lines
    assert lived_in.objects.keys() == {OTHER_SECRET, RAYSERVICE, TEAM, PLAIN}
    assert lived_in.objects[RAYSERVICE]["metadata"]["annotations"] == {"team": "ours"}
    assert lived_in.objects[TEAM]["metadata"]["labels"] == {"team": "ours"}
    assert (await left(lived_in, forget=True))[1:] == ["Nothing else is left."]


async def test_what_goes_in_the_meantime_has_gone(lived_in):
    async with connected(lived_in) as api:
        found = await traces.traces(api)
        for path in (JOURNAL, RAYSERVICE):
            lived_in.remove(path)

        await traces.remove(api, found)

    assert TRUST not in lived_in.objects


async def test_without_kuberay_there_are_no_rayservices_to_look_at(lived_in):
    lived_in.refuse["GET", "/apis/ray.io/v1/rayservices"] = 404

    assert "  journals: team/shop-holdfast-journal" in await left(lived_in, forget=False)


@pytest.mark.parametrize("path", ["/apis/ray.io/v1/rayservices", "/api/v1/secrets"])
async def test_who_may_not_list_it_is_told_so_unless_it_was_to_be_removed(lived_in, path):
    lived_in.refuse["GET", path] = 403

    assert (await left(lived_in, forget=False))[-1] == "What is left besides cannot be listed: refused by the test"
    with pytest.raises(ApiError, match="refused by the test"):
        await left(lived_in, forget=True)


async def test_what_cannot_be_removed_is_said(lived_in):
    lived_in.refuse["PATCH", RAYSERVICE] = 403

    with pytest.raises(ApiError, match="refused by the test"):
        await left(lived_in, forget=True)

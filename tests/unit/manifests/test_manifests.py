"""What the manifests have to say, read from the files. What a real API server makes of them: tests/apiserver."""

from pathlib import Path

import pytest
import yaml

from certs.place import Place
from webhook import names
from webhook.settings import Settings

MANIFESTS = Path(__file__).parents[3] / "manifests"
PLACE = Place()


def documents(path):
    return [each for each in yaml.safe_load_all(path.read_text()) if each]


def base(kind, name=None):
    found = [each for path in (MANIFESTS / "base").glob("*.yaml") for each in documents(path) if each["kind"] == kind]
    return next(each for each in found if name in {None, each["metadata"]["name"]})


DEPLOYMENT = base("Deployment")
POD = DEPLOYMENT["spec"]["template"]["spec"]
CONTAINER = POD["containers"][0]
WEBHOOKS = base("MutatingWebhookConfiguration")["webhooks"]
ROLES = [base("ClusterRole", "holdfast-webhook"), base("ClusterRole", "holdfast-certificates"), base("Role")]


def test_the_names_are_those_that_the_code_uses():
    assert base("Service")["metadata"] | {"labels": None} == {
        "name": PLACE.service,
        "namespace": PLACE.namespace,
        "labels": None,
    }
    assert base("MutatingWebhookConfiguration")["metadata"]["name"] == PLACE.configuration
    assert base("Role")["rules"][0]["resourceNames"] == [PLACE.secret]
    assert ROLES[1]["rules"][0]["resourceNames"] == [PLACE.configuration]


def test_every_manifest_of_the_base_is_installed():
    listed = yaml.safe_load((MANIFESTS / "base" / "kustomization.yaml").read_text())["resources"]

    assert sorted(listed) == sorted(
        path.name for path in (MANIFESTS / "base").glob("*.yaml") if path.name != "kustomization.yaml"
    )


@pytest.mark.parametrize("webhook", WEBHOOKS, ids=lambda webhook: webhook["name"])
def test_a_webhook_fails_open_quickly_and_without_side_effects(webhook):
    said = {
        key: webhook[key]
        for key in ("failurePolicy", "timeoutSeconds", "sideEffects", "matchPolicy", "reinvocationPolicy")
    }

    assert said == {
        "failurePolicy": "Ignore",
        "timeoutSeconds": 3,
        "sideEffects": "NoneOnDryRun",
        "matchPolicy": "Equivalent",
        "reinvocationPolicy": "IfNeeded",
    }
    assert Settings().admit_within_s < webhook["timeoutSeconds"]


@pytest.mark.parametrize("webhook", WEBHOOKS, ids=lambda webhook: webhook["name"])
def test_a_webhook_asks_only_where_somebody_has_opted_in_and_never_about_itself(webhook):
    selector = webhook["namespaceSelector"]

    assert selector["matchLabels"] == {names.INJECT: "enabled"}
    assert PLACE.namespace in selector["matchExpressions"][0]["values"]
    assert "caBundle" not in webhook["clientConfig"]


def test_its_pods_are_restricted():
    context = {**POD["securityContext"], **CONTAINER["securityContext"]}

    assert (context["runAsNonRoot"], context["readOnlyRootFilesystem"]) == (True, True)
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert base("Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_there_is_always_a_replica():
    assert DEPLOYMENT["spec"]["replicas"] == 2
    assert DEPLOYMENT["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert base("PodDisruptionBudget")["spec"]["minAvailable"] == 1


def test_the_grace_period_is_long_enough_to_drain():
    assert POD["terminationGracePeriodSeconds"] > 5 + Settings().grace_s


def test_the_port_is_the_one_that_is_listened_on():
    assert [port["containerPort"] for port in CONTAINER["ports"]] == [Settings().listen.port]


def every_rule():
    return [rule for role in ROLES for rule in role["rules"]]


def test_no_right_is_given_with_a_star():
    for rule in every_rule():
        assert "*" not in [*rule["apiGroups"], *rule["resources"], *rule["verbs"]]


def test_g12_no_secret_can_be_found_that_is_not_known_by_its_name():
    """The journal lies in users' namespaces: RBAC cannot name its Secrets, but can keep others from being listed."""
    secrets = [rule for rule in every_rule() if "secrets" in rule["resources"]]

    assert not [rule for rule in secrets if {"list", "watch"} & set(rule["verbs"]) and "resourceNames" not in rule]
    assert [rule["verbs"] for rule in secrets if rule in ROLES[0]["rules"]] == [["get", "create", "update", "delete"]]


def test_only_one_configmap_can_be_changed():
    rules = [rule for rule in every_rule() if "configmaps" in rule["resources"]]

    assert [(rule["verbs"], rule.get("resourceNames")) for rule in rules] == [
        (["create"], None),
        (["get", "patch"], [names.CA_CONFIGMAP]),
    ]


def test_no_workload_and_no_rayservice_can_be_written():
    for rule in every_rule():
        if set(rule["resources"]) & {"pods", "rayservices", "rayclusters", "deployments"}:
            assert set(rule["verbs"]) <= {"get", "list", "watch"}


@pytest.mark.parametrize("file", ["rbac.yaml", "rbac-certificates.yaml"])
def test_every_right_has_its_reason_above_it(file):
    lines = (MANIFESTS / "base" / file).read_text().splitlines()

    for number, line in enumerate(lines):
        if line.startswith("  - apiGroups"):
            assert lines[number - 1].startswith("  # ")


@pytest.mark.parametrize(
    "path", [MANIFESTS / "base" / "deployment.yaml", MANIFESTS / "overlays" / "dev" / "kustomization.yaml"]
)
def test_sidecar_and_webhook_are_one_image(path):
    """Two names for one thing: this keeps them one."""
    found = documents(path)[0]
    container = (yaml.safe_load(found["patches"][0]["patch"]) if "patches" in found else found)["spec"]["template"][
        "spec"
    ]["containers"][0]
    sidecar = next(each["value"] for each in container["env"] if each["name"] == "HOLDFAST_WEBHOOK_SIDECAR_IMAGE")

    assert sidecar == container["image"]


BY_THEMSELVES = sorted({*(MANIFESTS / "examples").glob("*.yaml")} - {MANIFESTS / "examples" / "tutorial.yaml"})


@pytest.mark.parametrize("example", BY_THEMSELVES, ids=lambda path: path.name)
def test_an_example_takes_part(example):
    namespace, *others = documents(example)

    assert namespace["metadata"]["labels"] == {names.INJECT: "enabled"}
    assert {each["metadata"]["namespace"] for each in others} == {namespace["metadata"]["name"]}
    assert others[-1]["kind"] == "RayService"

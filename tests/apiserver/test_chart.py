"""The Helm chart, rendered and installed by the real Helm: what kustomize makes, and nothing left behind."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.apiserver.control_plane import program, running
from tests.cluster.node import programs
from webhook.services import redirect

MANIFESTS = Path(__file__).parents[2] / "manifests"
CHART = MANIFESTS / "chart"


@pytest.fixture(scope="session")
def helm():
    """Runs Helm; what it prints, or what it says is wrong."""
    programs.build((programs.HELM,))

    def run(*arguments, fails=False):
        # Built from its module it takes any cluster that it cannot ask for Kubernetes 1.20.
        asked = ("--kube-version=1.34.4",) if arguments[0] == "template" else ()
        command = [str(programs.HELM.path), *arguments, *asked]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert bool(done.returncode) is fails, done.stderr
        return done.stderr if fails else done.stdout

    return run


@pytest.fixture(scope="session")
def rendered(helm):
    """The chart with these values, as objects by kind and name."""

    def render(*values):
        flags = itertools.chain.from_iterable(("--set", value) for value in values)
        return by_name(helm("template", "holdfast", str(CHART), "--namespace=holdfast", *flags))

    return render


def by_name(stream, *, hooks=False):
    """What is installed; or what Helm makes for a moment, before it removes the rest."""
    objects = [each for each in yaml.safe_load_all(stream) if each and is_hook(each) is hooks]
    for each in objects:
        if each["kind"] == "Deployment":  # of variables the order means nothing here
            each["spec"]["template"]["spec"]["containers"][0]["env"].sort(key=lambda variable: variable["name"])
    return {(each["kind"], each["metadata"]["name"]): each for each in objects}


def is_hook(each):
    return "helm.sh/hook" in each["metadata"].get("annotations", {})


def kustomized(folder):
    command = [str(program("kubectl")), "kustomize", str(folder)]
    objects = by_name(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)
    # The namespace is the user's to make: `helm install --create-namespace`.
    return {key: each for key, each in objects.items() if key[0] != "Namespace"}


@pytest.mark.parametrize(
    ("folder", "values"),
    [
        ("base", ()),
        ("overlays/strict", ("failurePolicy=Fail",)),
        ("overlays/cert-manager", ("certificates=cert-manager",)),
    ],
)
def test_the_chart_makes_what_kustomize_makes(rendered, folder, values):
    wanted = kustomized(MANIFESTS / folder)

    made = rendered(*values)

    assert made.keys() == wanted.keys()
    for key, each in wanted.items():
        assert made[key] == each, key


def test_it_renders_the_same_bytes_each_time(helm):
    """As ArgoCD and Flux render it: without a cluster to look at."""
    once, again = (helm("template", "holdfast", str(CHART), "--namespace=ray", "--set=replicas=3") for _ in range(2))

    assert once == again


def test_another_namespace_is_everybodys_namespace(helm):
    objects = by_name(helm("template", "holdfast", str(CHART), "--namespace=elsewhere"))

    assert {each["metadata"].get("namespace", "elsewhere") for each in objects.values()} == {"elsewhere"}
    webhooks = objects["MutatingWebhookConfiguration", "holdfast"]["webhooks"]
    assert {each["clientConfig"]["service"]["namespace"] for each in webhooks} == {"elsewhere"}
    assert all(each["namespaceSelector"]["matchExpressions"][0]["values"][0] == "elsewhere" for each in webhooks)


def test_what_is_set_arrives(rendered):
    made = rendered(
        "image.repository=mirror/holdfast", "image.pullPolicy=Always", "sidecar.memoryLimit=1Gi", "labels.team=ray"
    )

    container = made["Deployment", "holdfast-webhook"]["spec"]["template"]["spec"]["containers"][0]
    settings = {each["name"]: each.get("value") for each in container["env"]}
    assert container["image"] == settings["HOLDFAST_WEBHOOK_SIDECAR_IMAGE"] == "mirror/holdfast:0.1.0"
    assert settings["HOLDFAST_WEBHOOK_SIDECAR_PULL_POLICY"] == "Always"
    assert settings["HOLDFAST_WEBHOOK_SIDECAR_MEMORY_LIMIT"] == "1Gi"
    assert {each["metadata"]["labels"]["team"] for each in made.values()} == {"ray"}


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("replicas=0", "/replicas"),
        ("failurePolicy=Maybe", "/failurePolicy"),
        ("sidecar.memory=lots", "/sidecar/memory"),
        ("replica=2", "replica"),
        ("certificates=vault", "/certificates"),
        (r"labels.app\.kubernetes\.io/name=mine", "'app.kubernetes.io/name'"),
        (r"labels.app\.kubernetes\.io/component=mine", "'app.kubernetes.io/component'"),
        (r"podAnnotations.kubectl\.kubernetes\.io/default-container=mine", "'kubectl.kubernetes.io/default-container'"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(helm, value, named):
    assert named in helm("template", "holdfast", str(CHART), "--set", value, fails=True)


def test_every_value_is_described():
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    assert values.keys() == schema["properties"].keys() - {"global"}
    for name, each in schema["properties"].items():
        assert each["description"], name
        assert all(inner["description"] for inner in each.get("properties", {}).values()), name
    assert values["sidecar"].keys() == schema["properties"]["sidecar"]["properties"].keys()
    assert values["image"].keys() == schema["properties"]["image"]["properties"].keys()


@pytest.fixture
def bare(tmp_path):
    """An API server on which nothing is installed."""
    with running(tmp_path) as cluster:
        yield cluster


def test_installed_upgraded_rolled_back_and_gone(bare, helm):
    at, ours = ("--namespace=charted", f"--kubeconfig={bare.kubeconfig}"), ("--output=name", f"--selector={OURS}")

    helm("install", "holdfast", str(CHART), *at, "--create-namespace")
    trusted(bare, "Q0E=")
    helm("upgrade", "holdfast", str(CHART), *at, "--set=failurePolicy=Fail")
    assert (policies(bare), bundles(bare)) == ({"Fail"}, ["Q0E="] * 3)
    helm("rollback", "holdfast", "1", *at)
    assert (policies(bare), bundles(bare)) == ({"Ignore"}, ["Q0E="] * 3)
    assert len(bare.kubectl("get", KINDS, "--namespace=charted", *ours).stdout.splitlines()) == 7

    helm("uninstall", "holdfast", *at, "--no-hooks")  # a hook needs a node: the next test, and story v

    assert bare.kubectl("get", KINDS, "--namespace=charted", *ours).stdout == ""
    assert bare.kubectl("get", "clusterroles,clusterrolebindings,mutatingwebhookconfigurations", *ours).stdout == ""


def test_its_hook_may_step_aside_and_nothing_else(bare, helm, tmp_path):
    """By its own rights, on Services as the watchdog has led them to sidecars."""
    at = ("--namespace=charted", f"--kubeconfig={bare.kubeconfig}")
    helm("install", "holdfast", str(CHART), *at, "--create-namespace")
    made = helm("template", "holdfast", str(CHART), "--namespace=charted", "--show-only=templates/step-aside.yaml")
    hooks = by_name(made, hooks=True)
    assert hooks.keys() == {(kind, "holdfast-step-aside") for kind in (*RIGHTS, "Job")}
    applied = bare.kubectl("apply", "--filename=-", feed=made)
    assert applied.returncode == 0, applied.stderr
    redirected = bare.kubectl("create", "--filename=-", feed=json.dumps(redirect(HEAD_SERVICE)))
    assert redirected.returncode == 0, redirected.stderr

    config = json.loads(bare.kubeconfig.read_text())
    token = bare.kubectl("create", "token", "holdfast-step-aside", "--namespace=charted").stdout
    config["users"][0]["user"] = {"token": token.strip()}
    (tmp_path / "hook").write_text(json.dumps(config))
    (container,) = hooks["Job", "holdfast-step-aside"]["spec"]["template"]["spec"]["containers"]
    done = subprocess.run(
        [str(Path(sys.executable).with_name("holdfast")), *container["args"]],
        env={**os.environ, "KUBECONFIG": str(tmp_path / "hook"), "HOLDFAST_NAMESPACE": "charted"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2] == "1 head Services lead to Ray again: default/shop-head-svc"
    left = bare.kubectl(
        "get", f"{KINDS},{CONFIGURATION.partition('/')[0]}", *at[:1], "--output=name", f"--selector={OURS}"
    )
    assert "deployment.apps/holdfast-webhook" not in left.stdout
    assert "mutatingwebhookconfiguration" not in left.stdout
    assert "service/holdfast-webhook" in left.stdout  # Helm's to remove


RIGHTS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
HEAD_SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "shop-head-svc", "namespace": "default", "labels": {"ray.io/node-type": "head"}},
    "spec": {"clusterIP": "None", "ports": [{"name": "dashboard", "port": 8265, "targetPort": 8265}]},
}
OURS = "app.kubernetes.io/name=holdfast"
CONFIGURATION = "mutatingwebhookconfiguration/holdfast"
KINDS = "deployments,services,serviceaccounts,roles,rolebindings,networkpolicies,poddisruptionbudgets"


def webhooks(cluster):
    return json.loads(cluster.kubectl("get", CONFIGURATION, "--output=json").stdout)["webhooks"]


def policies(cluster):
    return {each["failurePolicy"] for each in webhooks(cluster)}


def bundles(cluster):
    return [each["clientConfig"].get("caBundle") for each in webhooks(cluster)]


def trusted(cluster, bundle):
    """What the webhook does: it writes whom the API server is to trust, which no chart knows."""
    places = (f"/webhooks/{n}/clientConfig/caBundle" for n in range(len(webhooks(cluster))))
    patch = json.dumps([{"op": "add", "path": place, "value": bundle} for place in places])
    done = cluster.kubectl("patch", CONFIGURATION, "--type=json", "--field-manager=holdfast", f"--patch={patch}")
    assert done.returncode == 0, done.stderr

"""Verdicts that no recorded head shows, and the forms of the sidecar."""

import pytest

from proxy.settings import Settings
from tests.unit.webhook.manifests import pod
from webhook import injection
from webhook.heads import RayServiceOwner
from webhook.injection import SidecarForm, Verdict
from webhook.raystart import RayStart

OWNER = RayServiceOwner("shop", {"holdfast.dev/allow-loss": "true"})
FORM = SidecarForm("holdfast:1")
NEW, OLD = (1, 34), (1, 28)


def head(**container: object) -> dict:
    made = pod()
    made["spec"]["containers"][0] |= container
    return made


@pytest.mark.parametrize(
    ("made", "owner", "verdict"),
    [
        (pod(), OWNER, Verdict.INJECTED),
        (pod(), None, Verdict.NOT_OF_A_RAYSERVICE),
        (pod(), RayServiceOwner("shop", {"holdfast.dev/inject": "false"}), Verdict.OPTED_OUT),
        (pod(labels={"ray.io/node-type": "worker"}), OWNER, Verdict.NOT_A_HEAD),
        (pod(ownerReferences=[{"apiVersion": "batch/v1", "kind": "Job", "name": "x"}]), OWNER, Verdict.NOT_A_HEAD),
        (pod(sidecar=True), OWNER, Verdict.ALREADY_INJECTED),
        (head(ports=[{"containerPort": 28266}]), OWNER, Verdict.PORT_TAKEN),
        (head(ports=[{"containerPort": 80, "hostPort": 28265}]), OWNER, Verdict.PORT_TAKEN),
        (head(args=["ray start --head --include-dashboard=false"]), OWNER, Verdict.NO_DASHBOARD),
        (head(args=["ray start --head --dashboard-host=10.0.0.7"]), OWNER, Verdict.DASHBOARD_ELSEWHERE),
        (head(args=["ray start --head --dashboard-host ::"]), OWNER, Verdict.INJECTED),
    ],
)
def test_a_verdict_has_a_name(made, owner, verdict):
    assert verdict is injection.verdict(made, owner)


def test_every_refusal_says_what_to_do():
    """A refusal is the only thing that a user of an unprotected head gets to read."""
    refusals = {Verdict.PORT_TAKEN, Verdict.NO_DASHBOARD, Verdict.DASHBOARD_ELSEWHERE}

    assert refusals == set(injection.REFUSED)


def test_a_sidecar_that_lost_its_restart_policy_becomes_a_plain_container():
    """As a mere init container it would hold up Ray for ever."""
    injected = injection.inject(pod(), OWNER, FORM, NEW)
    del injected["spec"]["initContainers"][0]["restartPolicy"]

    verdict, repaired = injection.verdict(injected, OWNER), injection.repair(injected)

    assert verdict is Verdict.REPAIRED
    assert repaired["spec"]["initContainers"] == []
    assert [each["name"] for each in repaired["spec"]["containers"]] == ["ray-head", "holdfast-proxy"]
    assert injection.verdict(repaired, OWNER) is Verdict.ALREADY_INJECTED


@pytest.mark.parametrize(
    ("made", "api_server", "native"),
    [
        (pod(), NEW, True),
        (pod(), (1, 29), True),
        (pod(), OLD, False),
        (head(env=[]), NEW, False),
        (pod(), (2, 0), True),
    ],
    ids=["now", "first", "kubernetes-1.28", "kuberay-1.0", "kubernetes-2.0"],
)
def test_a_native_sidecar_where_it_can_be_one(made, api_server, native):
    spec = injection.inject(made, OWNER, FORM, api_server)["spec"]

    assert native is ("initContainers" in spec)
    assert native is (len(spec["containers"]) == 1)


def test_the_sidecar_reads_what_the_webhook_wrote():
    command = "ray start --head --dashboard-port=8300 --dashboard-agent-listen-port 52370"
    (sidecar,) = injection.inject(head(args=[command]), OWNER, FORM, NEW)["spec"]["initContainers"]

    settings = Settings.from_env({entry["name"]: entry["value"] for entry in sidecar["env"]})

    assert (settings.upstream.port, settings.upstream_agent.port, settings.allow_loss) == (8300, 52370, True)


GENERATED = "ray start --head --dashboard-port=8266"


@pytest.mark.parametrize(
    ("container", "port"),
    [
        ({}, 8265),
        ({"args": [GENERATED]}, 8266),
        ({"args": ["ray start --head --dashboard-port '8267'; sleep inf"]}, 8267),
        (
            {
                "args": ["x; $KUBERAY_GEN_RAY_START_CMD"],
                "env": [{"name": "KUBERAY_GEN_RAY_START_CMD", "value": GENERATED}],
            },
            8266,
        ),
        ({"args": ["ray start --head"], "env": [{"name": "KUBERAY_GEN_RAY_START_CMD", "value": GENERATED}]}, 8265),
        ({"args": ["ray start --dashboard-port=1 --dashboard-port=2"]}, 2),
        ({"args": ["ray start --dashboard-port=$PORT"]}, 8265),
        ({"command": ["ray", "start", "--head", "--dashboard-port", "8268"]}, 8268),
    ],
)
def test_the_dashboards_port_is_read_off_the_command(container, port):
    assert port == RayStart.of(container).dashboard_port

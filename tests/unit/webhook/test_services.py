"""A head Service leads to the sidecar, and back."""

import pytest

from tests.unit.webhook.manifests import service
from webhook import services
from webhook.heads import RayServiceOwner
from webhook.services import Verdict

OWNER = RayServiceOwner("shop")
OPTED_OUT = RayServiceOwner("shop", {"holdfast.dev/inject": "False"})


def with_ports(*ports: tuple[str, int], **form: bool) -> dict:
    made = service(**form)
    made["spec"]["ports"] = [{"name": name, "port": port, "targetPort": port} for name, port in ports]
    return made


@pytest.mark.parametrize(
    ("made", "owner", "verdict"),
    [
        (service(), OWNER, Verdict.REDIRECTED),
        (service(), None, Verdict.NOT_OF_A_RAYSERVICE),
        (service(), OPTED_OUT, Verdict.OPTED_OUT),
        (service(ownerReferences=[]), OWNER, Verdict.NOT_A_HEAD_SERVICE),
        (service(labels={}), OWNER, Verdict.NOT_A_HEAD_SERVICE),
        (services.redirect(service()), OWNER, Verdict.ALREADY_REDIRECTED),
        (services.redirect(service(headless=False)), OWNER, Verdict.ALREADY_REDIRECTED),
        (with_ports(("serve", 8000)), OWNER, Verdict.NO_DASHBOARD_PORT),
        (with_ports(("dashboard", 8265), ("mine", 28265)), OWNER, Verdict.PORT_TAKEN),
        (with_ports(("dashboard", 8265), ("dashboard-ray", 8266)), OWNER, Verdict.PORT_TAKEN),
        (with_ports(("dashboard", 8265), ("mine", 28265), headless=False), OWNER, Verdict.REDIRECTED),
    ],
)
def test_a_verdict_has_a_name(made, owner, verdict):
    assert verdict is services.verdict(made, owner)


SERVICES = {
    "headless": service(),
    "clusterIP": service(headless=False),
    "kuberay-1.0": with_ports(("dashboard", 8265), ("dashboard-agent", 52365), headless=False),
    "headless-agent": with_ports(("dashboard-agent", 52366), ("dashboard", 8266)),
    "annotated": service(annotations={"team": "web"}),
    "named-target": {
        **service(headless=False),
        "spec": {"ports": [{"name": "dashboard", "port": 80, "targetPort": "dash"}]},
    },
}


@pytest.mark.parametrize("made", SERVICES.values(), ids=SERVICES)
def test_restoring_gives_back_what_was_there(made):
    assert made == services.restore(services.redirect(made))


@pytest.mark.parametrize("made", SERVICES.values(), ids=SERVICES)
def test_redirecting_or_restoring_twice_changes_nothing(made):
    once = services.redirect(made)

    assert once == services.redirect(once)
    assert made == services.restore(made)


def test_without_the_annotation_and_the_second_port_a_headless_service_leads_to_rays_own_port():
    made = with_ports(("dashboard", 28265), ("serve", 8000))

    ports = services.restore(made)["spec"]["ports"]

    assert [(port["name"], port["port"], port["targetPort"]) for port in ports] == [
        ("dashboard", 8265, 8265),
        ("serve", 8000, 8000),
    ]
    assert not services.is_redirected(services.restore(made))


@pytest.mark.parametrize("name", ["headless", "clusterIP", "kuberay-1.0", "headless-agent"])
def test_a_lost_annotation_is_no_loss(name):
    """Somebody's tool has stripped what is not its own."""
    made = SERVICES[name]
    stripped = services.redirect(made)
    stripped["metadata"] = {key: value for key, value in stripped["metadata"].items() if key != "annotations"}

    restored = services.restore(stripped)

    assert {p["name"]: p["port"] for p in made["spec"]["ports"]} == {
        p["name"]: p["port"] for p in restored["spec"]["ports"]
    }
    assert not services.is_redirected(restored)

"""AdmissionReviews: what Kubernetes asks for beyond the patch itself."""

import base64
import json

import jsonpatch

from tests.unit.webhook.manifests import pod
from webhook.admission import Admission
from webhook.heads import RayServiceOwner
from webhook.injection import SidecarForm
from webhook.review import Decision, Request, respond
from webhook.writers import Writer


def request(manifest: dict, **more: object) -> Request:
    about = {"uid": "1", "kind": {"kind": "Pod"}, "operation": "CREATE", "object": manifest, **more}
    return Request.parse(json.dumps({"apiVersion": "admission.k8s.io/v1", "request": about}).encode())


def test_where_nothing_changes_no_patch_is_sent():
    asked = request(pod())

    for decision in (Decision("x"), Decision("x", asked.object)):
        assert respond(asked, decision)["response"] == {"uid": "1", "allowed": True}


def test_a_denied_object_is_not_changed():
    response = respond(request(pod()), Decision("x", {"a": 1}, denial="two of one route"))["response"]

    assert response["allowed"] is False
    assert response["status"]["message"] == "holdfast: two of one route"
    assert "patch" not in response


def test_a_long_warning_is_cut_before_the_api_server_does():
    (warning,) = respond(request(pod()), Decision("x", warnings=("w" * 300,)))["response"]["warnings"]

    assert len(warning) == 256


def test_a_pod_has_the_name_that_it_will_get():
    assert request(pod(generateName="shop-head-")).name == "shop-head-"
    assert request({"metadata": {}}).name == ""


def test_a_writer_is_a_user_and_a_field_manager():
    asked = request(pod(), userInfo={"username": "admin"}, options={"fieldManager": "kubectl-edit"})

    assert asked.writer == Writer("admin", "kubectl-edit")
    assert str(asked.writer) == "admin (kubectl-edit)"


def test_another_webhook_that_drops_restart_policy_does_not_hang_a_head():
    admission, owner = Admission(SidecarForm("holdfast:1"), (1, 34)), RayServiceOwner("shop")
    spoilt = dict(admission.decide(request(pod()), owner).changed or {})
    del spoilt["spec"]["initContainers"][0]["restartPolicy"]
    asked = request(spoilt)

    decision = admission.decide(asked, owner)
    operations = json.loads(base64.b64decode(respond(asked, decision)["response"]["patch"]))
    spec = jsonpatch.apply_patch(spoilt, operations)["spec"]

    assert decision.outcome == "repaired"
    assert (
        spec["initContainers"],
        [each["name"] for each in spec["containers"]],
    ) == ([], ["ray-head", "holdfast-proxy"])

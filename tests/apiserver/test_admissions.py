"""A real API server with KubeRay's own definitions admits what the webhook makes of real heads, Services, RayServices.

No node: nothing runs, but everything is validated, defaulted and stored for real.
"""

import copy
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apiserver.alone import INJECTED, install_definitions, webhook, written
from tests.apiserver.plain import ApiServer, api_server
from tests.golden.admission_cases import Case, all_cases

KUBERAY = "1.6.2"
NAMESPACE, RESTRICTED = "web", "strict"
RAYSERVICES = f"/apis/ray.io/v1/namespaces/{NAMESPACE}/rayservices"
# Those that are not of the usual surroundings (another API server, another owner) are told apart by their context.
USUAL = [case for case in all_cases() if not case.context]
RECORDED = [case for case in USUAL if case.review["request"]["kind"]["kind"] != "RayService"]
HEADS = [case for case in RECORDED if case.review["request"]["kind"]["kind"] == "Pod"]
CONTROLLER = "system:serviceaccount:ml:model-controller"


@pytest.fixture(scope="module")
def api() -> Iterator[ApiServer]:
    with api_server() as server:
        install_definitions(server, KUBERAY)
        server.create_namespace(NAMESPACE, INJECTED)
        server.create_namespace(RESTRICTED, INJECTED | {"pod-security.kubernetes.io/enforce": "restricted"})
        yield server


@pytest.fixture(scope="module")
def holdfast(api: ApiServer) -> Iterator[ApiServer]:
    with webhook(api, _free_port()):
        yield api
    assert not [line for line in written(api.folder / "webhook.log") if line["level"] in ("error", "critical")]


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def manifest_of(api: ApiServer, case: Case, namespace: str = NAMESPACE) -> dict[str, Any]:
    """A recorded object, made to belong to a RayCluster that exists, with the service account that it names."""
    made = copy.deepcopy(case.review["request"]["object"])
    about = made["metadata"]
    cluster = about["ownerReferences"][0]["name"]
    made["metadata"] = {key: about[key] for key in ("labels", "annotations", "ownerReferences") if key in about}
    made["metadata"] |= {"namespace": namespace, "name": about.get("name", f"{cluster}-head-0")}
    api.apply(f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters", raycluster(cluster))
    account = made["spec"].get("serviceAccountName", "default")
    api.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": account}})
    return made


def raycluster(name: str) -> dict[str, Any]:
    labels = {"ray.io/originated-from-crd": "RayService", "ray.io/originated-from-cr-name": "shop"}
    template = {"spec": {"containers": [{"name": "ray-head", "image": "rayproject/ray:2.52.1"}]}}
    spec = {"headGroupSpec": {"rayStartParams": {}, "template": template}}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": name, "labels": labels}, "spec": spec}


def rayservice(text: str, **annotations: str) -> dict[str, Any]:
    spec = {"serveConfigV2": text, "rayClusterConfig": raycluster("x")["spec"]}
    about = {
        "name": "shop",
        "annotations": {f"holdfast.dev/{key.replace('_', '-')}": v for key, v in annotations.items()},
    }
    return {"apiVersion": "ray.io/v1", "kind": "RayService", "metadata": about, "spec": spec}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case.name)
def test_what_becomes_of_a_recorded_object_is_admitted(holdfast: ApiServer, case: Case):
    kind = case.review["request"]["kind"]["kind"]
    path = f"/api/v1/namespaces/{NAMESPACE}/{kind.lower()}s?dryRun=All"

    admitted = holdfast.call("POST", path, manifest_of(holdfast, case))

    assert kind == admitted["kind"], admitted
    expected = case.admitted()["spec"]
    if kind == "Service":
        assert [(p["name"], p["port"], p["targetPort"]) for p in expected["ports"]] == [
            (p["name"], p["port"], p["targetPort"]) for p in admitted["spec"]["ports"]
        ]
        return
    for part in ("initContainers", "containers"):
        assert [each["name"] for each in expected.get(part, ())] == [
            each["name"] for each in admitted["spec"].get(part, ())
        ]


def test_pod_security_restricted_admits_the_sidecar(holdfast: ApiServer):
    """A head that keeps to `restricted` still does with its sidecar; one that does not is refused for itself alone."""
    by_name = {case.name: case for case in HEADS}
    fine = by_name["a-head-under-pod-security-restricted-of-kuberay-1-5-1"]
    bad = by_name["a-plain-head-of-kuberay-1-6-2"]
    path = f"/api/v1/namespaces/{RESTRICTED}/pods?dryRun=All"

    admitted = holdfast.call("POST", path, manifest_of(holdfast, fine, RESTRICTED))
    refused = holdfast.call("POST", path, manifest_of(holdfast, bad, RESTRICTED))

    assert [each["name"] for each in admitted["spec"]["initContainers"]] == ["holdfast-proxy"], admitted
    assert refused["code"] == 403
    assert "ray-head" in refused["message"]
    assert "holdfast" not in refused["message"]


STATIC = '# by team web\napplications:\n  - name: router # first\n    route_prefix: /\n    import_path: "shop:router"\n'


def test_g7_a_gitops_config_over_a_patched_one_keeps_the_writers_application_ten_times(holdfast: ApiServer):
    config = rayservice(STATIC, dynamic_writers=CONTROLLER)
    added = '  - {"name": "m-1", "route_prefix": "/m-1", "import_path": "models:build"}\n'
    shop = f"{RAYSERVICES}/shop"
    holdfast.apply(RAYSERVICES, config, "gitops")
    patch = {"spec": {"serveConfigV2": STATIC + added}}
    holdfast.call("PATCH", shop, patch, "application/merge-patch+json", CONTROLLER)

    for _ in range(10):
        applied = holdfast.apply(RAYSERVICES, config, "gitops")
        assert STATIC + added == applied["spec"]["serveConfigV2"]
        assert "put back m-1" in holdfast.warnings[0]

    holdfast.call("PATCH", shop, {"spec": {"serveConfigV2": STATIC}}, "application/merge-patch+json", CONTROLLER)
    last = holdfast.apply(RAYSERVICES, config, "gitops")
    assert last["spec"]["serveConfigV2"] == STATIC
    assert holdfast.warnings == []


def test_g7_a_clash_of_routes_is_denied_with_both_names(holdfast: ApiServer):
    record = {"added-by": json.dumps({"m-1": CONTROLLER})}
    mine = "applications: [{name: m-1, route_prefix: /m-1, import_path: 'a:b'}]\n"
    theirs = "applications: [{name: web, route_prefix: /m-1, import_path: 'a:b'}]\n"
    config = rayservice(mine, dynamic_writers=CONTROLLER, **record)
    config["metadata"]["name"] = "clash"
    holdfast.apply(RAYSERVICES, config, "gitops", CONTROLLER)

    refused = holdfast.apply(RAYSERVICES, {**config, "spec": {**config["spec"], "serveConfigV2": theirs}}, "gitops")

    assert refused["code"] == 409
    assert "'web'" in refused["message"]
    assert "'m-1'" in refused["message"]


def test_g8_the_hash_of_the_static_config_survives_kuberays_definitions(holdfast: ApiServer):
    """The schema keeps annotations of the head template (KubeRay 1.6.2), and a plain apply does not take them away."""
    config = rayservice(STATIC, update_in_place="false")
    config["metadata"]["name"] = "rolling"

    created = holdfast.apply(RAYSERVICES, config, "gitops")
    again = holdfast.apply(RAYSERVICES, config, "gitops")
    changed = holdfast.apply(RAYSERVICES, rolling(config, STATIC.replace("/\n", "/web\n")), "gitops")
    back = holdfast.apply(RAYSERVICES, config, "gitops")

    hashes = [template_hash(each) for each in (created, again, changed, back)]
    assert hashes[0] == hashes[1] == hashes[3]
    assert hashes[2] not in (None, hashes[0])


def rolling(config: dict[str, Any], text: str) -> dict[str, Any]:
    return {**config, "spec": {**config["spec"], "serveConfigV2": text}}


def template_hash(rayservice: dict[str, Any]) -> str | None:
    template = rayservice["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]
    return template.get("metadata", {}).get("annotations", {}).get("holdfast.dev/static-config-hash")


def test_g11_without_the_webhook_all_is_admitted_and_when_it_is_back_the_watchdog_mends_it(api: ApiServer):
    """A head and its Service are created while the webhook is down; afterwards a Service that misleads is put back."""
    case = next(case for case in RECORDED if case.name == "the-service-of-a-plain-head-of-kuberay-1-6-2")
    head = next(case for case in HEADS if case.name == "a-plain-head-of-kuberay-1-6-2")
    services, pods = (f"/api/v1/namespaces/{NAMESPACE}/{kind}" for kind in ("services", "pods"))
    service, pod = manifest_of(api, case), manifest_of(api, head)
    name = service["metadata"]["name"]
    api.apply(RAYSERVICES, rayservice(STATIC))

    with webhook(api, _free_port()):
        redirected = api.call("POST", services, service)
    bare = api.call("POST", pods, pod)
    assert "initContainers" not in bare["spec"]
    assert port(redirected) == 28265

    with webhook(api, _free_port()):
        back_s = time.monotonic()
        while port(api.call("GET", f"{services}/{name}")) != 8265:
            assert time.monotonic() < back_s + 10
            time.sleep(0.2)
        events = until_events(api)

    assert [(each["reason"], each["involvedObject"]["name"]) for each in events] == [("RestoredService", "shop")]


def port(service: dict[str, Any]) -> int:
    return int(next(each["port"] for each in service["spec"]["ports"] if each["name"] == "dashboard"))


def until_events(api: ApiServer) -> list[dict[str, Any]]:
    path, deadline = f"/api/v1/namespaces/{NAMESPACE}/events", time.monotonic() + 20
    while time.monotonic() < deadline:
        found = [each for each in api.call("GET", path)["items"] if each["reason"] == "RestoredService"]
        if found:
            return found
        time.sleep(0.2)
    return []

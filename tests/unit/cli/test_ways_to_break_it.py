"""Whoever breaks it gets from `holdfast check` the cause, in its first line that failed."""

from pathlib import Path

import pytest
import yaml

from cli.check import grants, report, rules
from cli.check.grants import Grant
from cli.check.seen import NotSeenError, look
from tests.fakes.kubernetes import Kubernetes, connected
from tests.unit.cli.cluster_seen import (
    NOW,
    PLACE,
    RUNNING,
    answers,
    deployment,
    head,
    rayservice,
    seen,
    service,
    status,
)
from tests.unit.cli.ways import AGAIN, EARLIER, WAYS

MANIFESTS = Path(__file__).parents[3] / "manifests" / "base"


@pytest.mark.parametrize(("changes", "line"), WAYS.values(), ids=WAYS)
def test_the_first_line_that_failed_is_the_cause(changes, line):
    lines = report.lines(rules.findings(seen(**changes), NOW, pre=False, namespace=None)).splitlines()

    assert next((each for each in lines if each.startswith("FAILED")), lines) == f"FAILED  {line}"


def test_where_nothing_is_broken_no_line_failed_and_it_says_when_kuberay_came():
    lines = report.lines(rules.findings(seen(), NOW, pre=False, namespace=None)).splitlines()

    assert lines[-2:] == [
        "ok      team/shop is protected (head shop-head; KubeRay came 2 s ago)",
        f"All {len(lines) - 1} checks passed.",
    ]


@pytest.mark.parametrize(
    ("namespace", "changes", "line"),
    [
        ("teem", {}, "namespace teem has no RayService; there are some in team -> -n team"),
        ("teem", {"rayservices": []}, "namespace teem has no RayService -> apply one"),
        (
            "team",
            {"namespaces": []},
            "namespace team does not take part -> kubectl label namespace team holdfast.dev/inject=enabled",
        ),
    ],
)
def test_who_asks_about_a_namespace_is_told_of_that_one(namespace, changes, line):
    lines = report.lines(rules.findings(seen(**changes), NOW, pre=False, namespace=namespace)).splitlines()

    assert f"FAILED  {line}" in lines


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"heads": [head(sidecar=False, made=EARLIER)], "services": [service(8265)]},
            f"team/shop: head shop-head is older than Holdfast: not protected{AGAIN}",
        ),
        (
            {"deployment": deployment(image="holdfast:2")},
            (
                "team/shop: the sidecar of head shop-head is holdfast:1, and the webhook gives holdfast:2 by now"
                " -> the next head gets that, at a time that suits: kubectl -n team delete pod shop-head"
            ),
        ),
        (
            {"statuses": {("team", "shop-head"): status(journal=None)}},
            (
                "team/shop: head shop-head has no journal: dynamic applications do not come along to the next head"
                " -> the webhook gives one to heads it injects: docs/journal.md"
            ),
        ),
        (
            {"statuses": {("team", "shop-head"): NotSeenError("forbidden")}},
            (
                "team/shop: the sidecar of head shop-head was not asked: forbidden"
                " -> it takes the right to get pods/proxy, and RAY_AUTH_TOKEN where Ray asks for one"
            ),
        ),
        (
            {"statuses": {}},
            (
                "team/shop: the sidecar of head shop-head was not asked: it was not there a moment ago"
                " -> it takes the right to get pods/proxy, and RAY_AUTH_TOKEN where Ray asks for one"
            ),
        ),
        ({"clock": None}, "the API server does not tell the time -> nothing to do"),
        (
            {"policies": NotSeenError("forbidden")},
            "team/shop: not checked: forbidden -> ask somebody who may look, or for the right to",
        ),
    ],
)
def test_what_is_worth_knowing_and_no_fault_is_a_warning(changes, line):
    lines = report.lines(rules.findings(seen(**changes), NOW, pre=False, namespace=None)).splitlines()

    assert f"WARNING {line}" in lines
    assert not [each for each in lines if each.startswith("FAILED")]


def test_what_the_webhook_needs_is_what_the_manifests_give():
    given = set()
    for file in ("rbac.yaml", "rbac-certificates.yaml"):
        for role in yaml.safe_load_all((MANIFESTS / file).read_text()):
            namespace = role["metadata"].get("namespace", "")
            for rule in role.get("rules", ()):
                given |= {
                    Grant(group, resource, verb, name, namespace)
                    for group in rule["apiGroups"]
                    for resource in rule["resources"]
                    for verb in rule["verbs"]
                    for name in rule.get("resourceNames", [""])
                }

    assert {*grants.EVERYWHERE, *grants.BESIDE_RAYSERVICES, *grants.own_certificates(PLACE)} == given


def test_a_sidecar_without_a_token_or_another_container_beside_it_is_no_fault():
    pod = head(volumes=[{"name": "holdfast-token", "projected": {"sources": [{"configMap": {"name": "holdfast-ca"}}]}}])
    pod["status"] = {"initContainerStatuses": [{"name": "istio-proxy", "state": {}}, *RUNNING["initContainerStatuses"]]}

    lines = report.lines(rules.findings(seen(heads=[pod]), NOW, pre=False, namespace=None)).splitlines()

    assert not [each for each in lines if each.startswith("FAILED")]


def test_who_asks_about_a_namespace_that_takes_part_is_told_so():
    lines = report.lines(rules.findings(seen(), NOW, pre=False, namespace="team")).splitlines()

    assert "ok      namespace team takes part" in lines


def test_with_cert_manager_the_webhook_needs_no_rights_on_certificates():
    needed = list(grants.needed(PLACE, ["a", "b"], keeps_certificates=False))

    assert {each.resource for each in needed if each.namespace == "holdfast"} == set()
    assert {each.namespace for each in needed if each.resource == "secrets"} == {"a", "b"}


def test_it_is_asked_as_the_webhooks_service_account():
    asked = grants.review(Grant("", "configmaps", "get", "holdfast-ca", "team"), "holdfast-webhook", "holdfast")

    assert asked["spec"] == {
        "user": "system:serviceaccount:holdfast:holdfast-webhook",
        "groups": ["system:serviceaccounts", "system:serviceaccounts:holdfast", "system:authenticated"],
        "resourceAttributes": {"resource": "configmaps", "verb": "get", "name": "holdfast-ca", "namespace": "team"},
    }


async def test_sidecars_journals_and_the_webhooks_rights_are_asked_about_over_http():
    kubernetes, well = Kubernetes(), answers()
    reviews = "/apis/authorization.k8s.io/v1/{}subjectaccessreviews"
    for which in ("", "self"):
        kubernetes.raw[reviews.format(which)] = {"status": {"allowed": True}}
    kubernetes.put("/api/v1/namespaces/team", {"metadata": {"labels": {"holdfast.dev/inject": "enabled"}}})
    kubernetes.put("/apis/apps/v1/namespaces/holdfast/deployments/holdfast-webhook", well["deployment"])
    kubernetes.put("/apis/ray.io/v1/namespaces/team/rayservices/shop", rayservice())
    kubernetes.put("/api/v1/namespaces/team/pods/shop-head", head())
    kubernetes.put("/api/v1/namespaces/team/secrets/shop-holdfast-journal", {"metadata": {}})
    kubernetes.raw["/api/v1/namespaces/team/pods/shop-head:28265/proxy/-/status"] = status()
    async with connected(kubernetes) as api:
        found = await look(api, PLACE)

    assert found["statuses"] == {("team", "shop-head"): status()}
    assert found["journals"] == {("team", "shop"): True}
    assert set(found["grants"]) == set(grants.needed(PLACE, ["team"], keeps_certificates=False))
    assert set(found["grants"].values()) == {True}

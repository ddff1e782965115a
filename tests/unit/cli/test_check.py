"""What `holdfast check` says of a cluster, and that it says what to do."""

import datetime as dt
import json

import pytest

from certs import authority
from certs.renewal import Terms
from cli.check import report, rules
from cli.check.findings import Level
from cli.check.seen import INSTALLED_KINDS, NotSeenError, look
from tests.fakes.kubernetes import Kubernetes, connected
from tests.unit.cli.cluster_seen import (
    BUNDLE,
    NOW,
    OTHER,
    PLACE,
    answers,
    head,
    operator,
    policy,
    seen,
    service,
    webhook,
)

DAY = dt.timedelta(days=1)


def judged(cluster, *, now=NOW, pre=False, namespace=None):
    return rules.findings(cluster, now, pre=pre, namespace=namespace)


def wrong(found):
    return {(each.check, each.level) for each in found if each.level is not Level.OK}


def test_where_all_is_well_every_check_says_so_and_nothing_is_to_be_done():
    found = judged(seen())

    assert wrong(found) == set()
    assert {each.fix for each in found} == {""}
    assert found[-1].text == "team/shop is protected (head shop-head; KubeRay came 2 s ago)"


def test_before_the_installation_other_things_are_asked():
    found = judged(seen(configuration=None, deployment=None), pre=True)

    assert wrong(found) == set()
    assert [each.check for each in found] == [
        "kubernetes",
        "rayservice-definition",
        "kuberay",
        "clock",
        "rights",
        "leftovers",
    ]


OLD = {"gitVersion": "v1.27.9", "major": "1", "minor": "27+"}
PLAIN = {"gitVersion": "v1.28.3", "major": "1", "minor": "28"}
KEPT = {"metadata": {"annotations": {"cert-manager.io/inject-ca-from": "holdfast/holdfast-webhook"}}}
NO_CA = webhook(clientConfig={"service": webhook()["clientConfig"]["service"]})
ELSEWHERE = webhook(clientConfig={"service": {"namespace": "x", "name": "y"}})
FAILED, WARNING = Level.FAILED, Level.WARNING

CASES = {
    "Kubernetes too old": ({"version": OLD}, "kubernetes", FAILED, "has no matchConditions"),
    "Kubernetes without native sidecars": ({"version": PLAIN}, "kubernetes", WARNING, "has no native sidecars"),
    "no KubeRay": ({"definition": None}, "rayservice-definition", FAILED, "there are no RayServices"),
    "KubeRay before 1.0": (
        {"definition": {"spec": {"versions": [{"name": "v1alpha1", "served": True}]}}},
        "rayservice-definition",
        FAILED,
        "v1alpha1 only",
    ),
    "no operator to be seen": ({"operators": []}, "kuberay", WARNING, "no KubeRay operator"),
    "an operator of the future": ({"operators": [operator("k:v2.0.0")]}, "kuberay", WARNING, "k:v2.0.0"),
    "an operator of no version": (
        {"operators": [operator("k:nightly")]},
        "kuberay",
        WARNING,
        "does not tell its version",
    ),
    "no configuration": ({"configuration": None}, "webhook-configuration", FAILED, "not told to ask"),
    "a configuration that leads elsewhere": (
        {"configuration": {"metadata": {}, "webhooks": [webhook(), ELSEWHERE]}},
        "webhook-configuration",
        FAILED,
        "leads elsewhere",
    ),
    "not installed": ({"deployment": None}, "webhook", FAILED, "there is no Deployment"),
    "no replica ready": ({"deployment": {"spec": {"replicas": 2}}}, "webhook", FAILED, "0 of 2"),
    "one replica ready": (
        {"deployment": {"spec": {"replicas": 2}, "status": {"readyReplicas": 1}}},
        "webhook",
        WARNING,
        "1 of 2",
    ),
    "not reachable": (
        {"readyz": NotSeenError("no endpoints available")},
        "reachable",
        FAILED,
        "no endpoints available",
    ),
    "no Service": ({"readyz": None}, "reachable", FAILED, "Service is missing"),
    "caBundle stripped": (
        {"configuration": {"metadata": {}, "webhooks": [webhook(), NO_CA]}},
        "ca-bundle",
        FAILED,
        "does not trust",
    ),
    "caBundle of another authority": ({"secret": {"data": OTHER.to_secret()}}, "ca-bundle", FAILED, "does not trust"),
    "cert-manager has not come round yet": (
        {"configuration": {**KEPT, "webhooks": [NO_CA]}},
        "ca-bundle",
        FAILED,
        "not written",
    ),
    "no certificate": ({"secret": None}, "certificate", FAILED, "has no certificate"),
    "nobody takes part": ({"namespaces": [], "rayservices": []}, "namespaces", WARNING, "no namespace takes part"),
    "no head yet": ({"heads": []}, "rayservice", WARNING, "has no head yet"),
    "a head older than Holdfast": (
        {"heads": [head(sidecar=False, made="2026-12-01T09:00:00Z")], "services": [service(8265)]},
        "rayservice",
        WARNING,
        "not protected",
    ),
    "a Service that leads to no sidecar": (
        {"heads": [head(sidecar=False, made="2026-12-01T09:00:00Z")]},
        "rayservice",
        FAILED,
        "leads to one",
    ),
    "a Service that leads past it": ({"services": [service(8265)]}, "rayservice", FAILED, "leads past it"),
    "no head Service": ({"services": []}, "rayservice", FAILED, "leads past it"),
    "a sidecar that does not run": ({"heads": [head(status={})]}, "rayservice", FAILED, "does not run"),
    "a namespace that denies": ({"policies": [policy()]}, "network-policy", FAILED, "lets anybody reach"),
    "Ray's port only": (
        {"policies": [policy(ingress=[{"ports": [{"port": 8265}]}])]},
        "network-policy",
        FAILED,
        "on port 28265",
    ),
}


@pytest.mark.parametrize(("changes", "check", "level", "words"), CASES.values(), ids=CASES)
def test_what_is_wrong_is_found_and_beside_it_stands_what_to_do(changes, check, level, words):
    found = [each for each in judged(seen(**changes)) if each.check == check and each.level is level]

    assert len(found) == 1
    assert words in f"{found[0].text} {found[0].fix}"
    assert found[0].fix


@pytest.mark.parametrize(
    "spec",
    [
        {"ingress": [{}]},
        {"ingress": [{"ports": [{"port": 28265, "protocol": "TCP"}]}]},
        {"ingress": [{"ports": [{"port": 28000, "endPort": 29000}]}]},
        {"ingress": [{"ports": [{"port": "holdfast"}]}]},
        {"ingress": [{"from": [{"namespaceSelector": {}}]}]},
        {"policyTypes": ["Egress"]},
        {"podSelector": {"matchLabels": {"app": "other"}}},
        {"podSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["shop"]}]}},
        {"podSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["other"]}]}},
        {"podSelector": {"matchExpressions": [{"key": "other", "operator": "Exists"}]}},
        {"podSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}},
    ],
    ids=[
        "all",
        "its port",
        "a range",
        "its port by name",
        "from somewhere",
        "egress",
        "others",
        "all but it",
        "in others",
        "those with another label",
        "those without its label",
    ],
)
def test_a_network_policy_that_lets_kuberay_in_or_is_about_others_is_no_fault(spec):
    assert wrong(judged(seen(policies=[policy(**spec)]))) == set()


def test_one_policy_that_lets_it_in_is_enough_beside_one_that_denies():
    assert wrong(judged(seen(policies=[policy(), policy(ingress=[{"ports": [{"port": 28265}]}])]))) == set()


def test_a_rayservice_that_opted_out_is_no_fault():
    mine = {"metadata": {"name": "shop", "namespace": "team", "annotations": {"holdfast.dev/inject": "false"}}}

    assert wrong(judged(seen(rayservices=[mine], heads=[head(sidecar=False)], services=[service(8265)]))) == set()


def test_rayservices_elsewhere_are_not_asked_about():
    assert [each.check for each in judged(seen(), namespace="another")][-1] == "namespaces"
    assert [each.check for each in judged(seen(namespaces=[{"metadata": {"name": "x"}}]))][-1] == "namespaces"


@pytest.mark.parametrize(
    "answer", sorted(set(answers()) - {"rights", "readyz", "grants", "statuses", "journals", "clock"})
)
def test_what_may_not_be_looked_at_is_said_and_not_guessed(answer):
    found = judged(seen(**{answer: NotSeenError("forbidden for you")}))

    assert any("not checked: forbidden for you" in each.text and each.level is Level.WARNING for each in found)


def test_rights_of_the_webhook_that_cannot_be_asked_about_are_said_to_be_unknown():
    unknown = dict.fromkeys(answers()["grants"], NotSeenError("no reviews"))

    assert wrong(judged(seen(grants=unknown))) == {("webhook-rights", Level.WARNING)}


def test_rights_that_cannot_be_asked_about_are_said_to_be_unknown():
    unknown = dict.fromkeys(INSTALLED_KINDS, NotSeenError("no reviews"))

    assert wrong(judged(seen(rights=unknown, configuration=None, deployment=None), pre=True)) == {
        ("rights", Level.WARNING)
    }


def test_where_it_is_installed_already_it_can_be_installed_again():
    assert wrong(judged(seen(), pre=True)) == set()


def test_a_certificate_for_another_service_is_found():
    other = authority.first(("other.svc",), Terms(), NOW)

    assert ("certificate", Level.FAILED) in wrong(judged(seen(secret={"data": other.to_secret()})))


@pytest.mark.parametrize("kind", INSTALLED_KINDS, ids=str)
def test_who_may_not_install_is_told_before(kind):
    cluster = seen(rights={**answers()["rights"], kind: False}, configuration=None, deployment=None)

    assert wrong(judged(cluster, pre=True)) == {("rights", Level.FAILED)}


def test_a_configuration_that_an_old_installation_has_left_is_found_before():
    assert wrong(judged(seen(deployment=None), pre=True)) == {("leftovers", Level.FAILED)}


@pytest.mark.parametrize(
    ("now", "level", "words"),
    [
        (NOW, Level.OK, "30 more days"),
        (NOW + 29 * DAY, Level.OK, "1 more days"),
        (NOW + 40 * DAY, Level.FAILED, "10 days ago"),
    ],
)
def test_the_days_of_the_certificate_are_counted(now, level, words):
    found = next(each for each in judged(seen(clock=now), now=now) if each.check == "certificate")

    assert (found.level, words in found.text) == (level, True)


def test_a_person_gets_a_line_a_check_and_the_sum():
    text = report.lines(judged(seen(definition=None, policies=[policy()], operators=[])))

    lines = text.splitlines()
    assert len(lines) == len(judged(seen())) + 1
    assert lines[-1] == "2 of 12 checks failed."
    assert "FAILED  there are no RayServices in this cluster -> install KubeRay 1.0 or newer" in lines
    assert report.lines(judged(seen(operators=[]))).endswith("All 12 checks passed, 1 with a warning.\n")


def test_a_program_gets_json():
    told = json.loads(report.as_json(judged(seen(readyz=None))))

    assert told["ok"] is False
    assert {
        "check": "reachable",
        "level": "failed",
        "text": "the webhook's Service is missing",
        "fix": "kubectl apply -k manifests/base",
    } in told["findings"]


def test_no_key_of_the_secret_is_in_any_answer():
    told = report.as_json(judged(seen())) + repr(
        judged(seen(secret={"data": {"tls.crt": BUNDLE.to_secret()["tls.key"]}}))
    )

    assert "PRIVATE" not in told
    assert BUNDLE.to_secret()["tls.key"][:40] not in told


async def test_a_cluster_is_read_over_http_and_an_empty_one_fails_what_it_should():
    kubernetes = Kubernetes()
    kubernetes.raw["/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"] = {"status": {"allowed": True}}
    kubernetes.refuse["GET", "/apis/networking.k8s.io/v1/networkpolicies"] = 403
    async with connected(kubernetes) as api:
        found = judged(await look(api, PLACE), now=dt.datetime.now(dt.UTC))

    assert {check for check, level in wrong(found) if level is Level.FAILED} == {
        "rayservice-definition",
        "webhook-configuration",
        "webhook",
        "reachable",
        "certificate",
    }
    assert {method for method, _ in kubernetes.requests} == {"GET", "POST"}
    assert {path for method, path in kubernetes.requests if method == "POST"} == {
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    }

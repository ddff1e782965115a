"""Every manifest is accepted by a real API server, and means there what it is meant to mean."""

import json
from pathlib import Path

import pytest
import yaml

from certs.apiserver import ApiError

MANIFESTS = Path(__file__).parents[2] / "manifests"
OVERLAYS = ["base", "overlays/strict", "overlays/dev", "overlays/cert-manager"]


@pytest.mark.parametrize("kustomization", OVERLAYS)
def test_what_is_installed_is_accepted_without_a_warning(cluster, kustomization):
    applied = cluster.kubectl("apply", "--dry-run=server", f"--kustomize={MANIFESTS / kustomization}")

    assert (applied.returncode, applied.stderr) == (0, "")


@pytest.mark.parametrize("kustomization", OVERLAYS)
def test_it_renders_the_same_twice(cluster, kustomization):
    once, twice = (cluster.kubectl("kustomize", str(MANIFESTS / kustomization)).stdout for _ in range(2))

    assert once
    assert once == twice


def test_installed_again_nothing_changes(cluster):
    """kubectl says "configured" of a budget whatever one does; its version does not change."""
    cluster.kubectl("apply", f"--kustomize={MANIFESTS}/base")  # whatever the tests before have left
    versions = ("get", f"--kustomize={MANIFESTS}/base", "--output=jsonpath={.items[*].metadata.resourceVersion}")
    before = cluster.kubectl(*versions)

    cluster.kubectl("apply", f"--kustomize={MANIFESTS}/base")

    assert len(before.stdout.split()) == 13
    assert cluster.kubectl(*versions).stdout == before.stdout


@pytest.mark.parametrize("example", ["rayservice.yaml", "several-writers.yaml"])
def test_an_example_is_accepted(cluster, example):
    namespace = yaml.safe_load((MANIFESTS / "examples" / example).read_text().split("---")[0])
    cluster.kubectl("apply", "--filename=-", feed=json.dumps(namespace))

    applied = cluster.kubectl("apply", "--dry-run=server", f"--filename={MANIFESTS}/examples/{example}")

    assert (applied.returncode, applied.stderr) == (0, "")


@pytest.mark.parametrize("kustomization", OVERLAYS)
async def test_its_pods_are_admitted_where_only_restricted_pods_are(cluster, api, kustomization):
    rendered = yaml.safe_load_all(cluster.kubectl("kustomize", str(MANIFESTS / kustomization)).stdout)
    template = next(each for each in rendered if each["kind"] == "Deployment")["spec"]["template"]
    pods = "/api/v1/namespaces/holdfast/pods"
    pod = {"metadata": {"generateName": "holdfast-webhook-", **template["metadata"]}, "spec": template["spec"]}

    admitted = await api.call("POST", pods, body=pod, query={"dryRun": "All"})

    assert admitted["metadata"]["namespace"] == "holdfast"
    pod["spec"]["containers"][0].pop("securityContext")
    with pytest.raises(ApiError, match="violates PodSecurity"):
        await api.call("POST", pods, body=pod, query={"dryRun": "All"})


REFUSED = {
    "a ConfigMap that is not its own": ("GET", "/api/v1/namespaces/team/configmaps/other"),
    "all Secrets of its namespace": ("GET", "/api/v1/namespaces/holdfast/secrets"),
    "the Secrets of a user": ("GET", "/api/v1/namespaces/team/secrets"),
    "another webhook's configuration": (
        "PATCH",
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/another",
    ),
    "deleting a pod": ("DELETE", "/api/v1/namespaces/team/pods/any"),
    "writing a RayService": ("PATCH", "/apis/ray.io/v1/namespaces/team/rayservices/any"),
}


@pytest.mark.parametrize(("method", "path"), REFUSED.values(), ids=REFUSED)
async def test_the_webhook_may_not(webhook_api, method, path):
    with pytest.raises(ApiError) as refused:
        await webhook_api.call(
            method, path, body={} if method == "PATCH" else None, content_type="application/merge-patch+json"
        )

    assert refused.value.status == 403

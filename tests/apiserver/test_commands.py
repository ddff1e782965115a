"""The commands as a person runs them, against a real API server."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "manifests" / "examples"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/holdfast"


def holdfast(*arguments, feed=None):
    command = [sys.executable, "-m", "cli.main", *arguments]
    return subprocess.run(command, input=feed, capture_output=True, text=True, timeout=120, check=False)


def test_before_the_installation_a_cluster_is_found_fit(cluster):
    checked = holdfast("check", "--pre", "--kubeconfig", str(cluster.kubeconfig))

    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.endswith("All 6 checks passed, 1 with a warning.\n")  # there is no KubeRay operator


async def test_certificates_are_looked_after_once(cluster, api):
    await api.delete("/api/v1/namespaces/holdfast/secrets/holdfast-webhook-tls")

    made, again = (holdfast("certs", "--kubeconfig", str(cluster.kubeconfig)) for _ in range(2))

    assert (made.returncode, again.stdout) == (0, made.stdout)
    assert made.stdout.startswith("holdfast-webhook.holdfast.svc: certificate in Secret holdfast/holdfast-webhook-tls")
    assert all("caBundle" in each["clientConfig"] for each in (await api.find(CONFIGURATION))["webhooks"])


def test_a_check_that_fails_says_so_to_a_program(cluster):
    checked = holdfast("check", "--output", "json", "--kubeconfig", str(cluster.kubeconfig))

    told = json.loads(checked.stdout)
    assert (checked.returncode, told["ok"]) == (1, False)
    assert {each["check"] for each in told["findings"] if each["level"] == "failed"} == {"webhook", "reachable"}


@pytest.mark.parametrize("options", [[], ["--kuberay", "1.0"]], ids=["native", "plain"])
@pytest.mark.parametrize("example", ["rayservice.yaml", "several-writers.yaml"])
def test_an_injected_manifest_is_accepted_as_it_is(cluster, example, options):
    injected = holdfast("inject", "-f", str(EXAMPLES / example), *options)
    assert (injected.returncode, injected.stderr) == (0, "")
    namespace, *others = injected.stdout.split("---\n")
    cluster.kubectl("create", "--filename=-", feed=namespace)

    applied = cluster.kubectl("apply", "--dry-run=server", "--filename=-", feed="---\n".join(others))

    assert (applied.returncode, applied.stderr) == (0, "")

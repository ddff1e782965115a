"""KubeRay's definitions and the webhook, without anything that the manifests install beside them."""

import base64
import json
import os
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from certs.authority import first
from certs.renewal import Terms
from tests.apiserver.control_plane import process
from tests.apiserver.crds import KUBERAY, definitions
from tests.apiserver.plain import ApiServer

REPOSITORY = Path(__file__).parents[2]
INJECTED = {"holdfast.dev/inject": "enabled"}
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_PATIENCE_S = 60


def install_definitions(api: ApiServer, kuberay: str) -> None:
    """KubeRay's custom resources, from the module that its operator is built from."""
    files = ("ray.io_rayclusters.yaml", "ray.io_rayservices.yaml")
    for definition in yaml.load_all(definitions(KUBERAY, kuberay, *files), Loader=yaml.CSafeLoader):
        answer = api.apply(_DEFINITIONS, definition)
        assert answer["kind"] == "CustomResourceDefinition", answer
    deadline = time.monotonic() + _PATIENCE_S
    while api.call("GET", "/apis/ray.io/v1/rayservices").get("kind") != "RayServiceList":
        assert time.monotonic() < deadline, "the definitions are not served"
        time.sleep(0.5)


@contextmanager
def webhook(api: ApiServer, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The webhook at a port of its own, called by the API server for everything that it should be called for."""
    bundle = first(("localhost",), Terms(), datetime.now(UTC))
    folder = api.folder / "webhook-tls"
    folder.mkdir(exist_ok=True)
    (folder / "tls.crt").write_bytes(bundle.serving.cert_pem)
    (folder / "tls.key").write_bytes(bundle.serving.key_pem)
    environment = os.environ | {
        "KUBECONFIG": str(api.kubeconfig),
        "HOLDFAST_CERTIFICATES": str(folder),
        "HOLDFAST_WEBHOOK_LISTEN": f"127.0.0.1:{port}",
        "HOLDFAST_WEBHOOK_SIDECAR_IMAGE": "holdfast/holdfast:0.1.0",
        "HOLDFAST_WEBHOOK_LOOKUP_WITHIN_S": "5",  # a busy machine
    }
    command = [sys.executable, "-m", "webhook"]
    with process(command, api.folder / "webhook.log", env=environment, cwd=REPOSITORY) as running:
        _wait_until_ready(port, api.folder / "webhook.log")
        configuration = _configuration(port, bundle.trust_pem())
        answer = api.apply(_WEBHOOKS, configuration)
        assert answer["kind"] == "MutatingWebhookConfiguration", answer
        time.sleep(2)  # the API server reads its configurations from a cache
        yield running


def _wait_until_ready(port: int, log: Path) -> None:
    context = ssl._create_unverified_context()  # noqa: S323 - a certificate of the minute, on loopback
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"https://127.0.0.1:{port}/readyz", context=context, timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
        else:
            return
    raise TimeoutError(f"the webhook is not ready after {_PATIENCE_S} s: {log.read_text()[-2000:]}")


def _configuration(port: int, trust: bytes) -> dict[str, Any]:
    rules = {"pods": ("", "CREATE"), "services": ("", "CREATE"), "rayservices": ("ray.io", "CREATE UPDATE")}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "holdfast"},
        "webhooks": [
            {
                "name": f"{resource}.holdfast.dev",
                "clientConfig": {
                    "url": f"https://localhost:{port}/mutate",
                    "caBundle": base64.b64encode(trust).decode(),
                },
                "rules": [
                    {
                        "apiGroups": [group],
                        "apiVersions": ["v1"],
                        "resources": [resource],
                        "operations": operations.split(),
                    }
                ],
                "namespaceSelector": {"matchLabels": INJECTED},
                "admissionReviewVersions": ["v1"],
                "reinvocationPolicy": "IfNeeded",
                "sideEffects": "NoneOnDryRun",
                "failurePolicy": "Ignore",
                "timeoutSeconds": 10,
            }
            for resource, (group, operations) in rules.items()
        ],
    }


def written(log: Path) -> list[dict[str, Any]]:
    """The webhook's log lines."""
    return [json.loads(line) for line in log.read_text().splitlines()]

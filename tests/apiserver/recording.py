"""Records what each KubeRay in the cache sends: real operators, a real API server, no node.

    python -m tests.apiserver.recording FOLDER [VERSION ...]

An operator is given one RayService for every variant below, and makes a RayCluster, a head Service and a head pod of
each. A webhook that changes nothing writes the reviews down: ``FOLDER/<version>/<variant>-<kind>-<operation>.json``.
"""

import base64
import json
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.apiserver.alone import install_definitions
from tests.apiserver.control_plane import PROGRAMS, process
from tests.apiserver.plain import ApiServer, api_server

Manifest = dict[str, Any]
_PATIENCE_S = 120
_PORTS = {"gcs-server": 6379, "dashboard": 8265, "client": 10001, "serve": 8000}


def _ports(**ports: int) -> list[Manifest]:
    return [{"name": name.replace("_", "-"), "containerPort": port} for name, port in ports.items()]


# What differs from a plain head: of its Ray container, its pod, its ray start, its head group, its cluster.
VARIANTS: dict[str, Manifest] = {
    "plain": {},
    "no-ports": {"container": {"ports": None}},
    "dashboard-port": {
        "start": {"dashboard-port": "8266"},
        "container": {"ports": _ports(dashboard=8266, gcs_server=6379, serve=8000)},
    },
    "agent-port": {"start": {"dashboard-agent-listen-port": "52366"}},
    "autoscaler": {"cluster": {"enableInTreeAutoscaling": True}},
    "autoscaler-v2": {"cluster": {"enableInTreeAutoscaling": True, "autoscalerOptions": {"version": "v2"}}},
    "never": {"pod": {"restartPolicy": "Never"}},
    "host-network": {"pod": {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}},
    "beside-our-port": {"more": [{"name": "logs", "image": "fluentbit", "ports": [{"containerPort": 28265}]}]},
    "log-shipper": {"more": [{"name": "fluentbit", "image": "fluent/fluent-bit:1.9.6"}]},
    "init-container": {"pod": {"initContainers": [{"name": "fetch", "image": "busybox", "command": ["true"]}]}},
    "node-port": {"head": {"serviceType": "NodePort"}},
    "load-balancer": {"head": {"serviceType": "LoadBalancer"}},
    "own-script": {
        "meta": {"annotations": {"ray.io/overwrite-container-cmd": "true"}},
        "container": {
            "command": ["/bin/bash", "-c", "--"],
            "args": ['set -e; setup && eval "$KUBERAY_GEN_RAY_START_CMD"'],
        },
    },
    "own-command": {"container": {"command": ["/bin/bash", "-lc"], "args": ["echo hello"]}},
    "head-service-port": {
        "head": {"headService": {"spec": {"ports": [{"name": "extra", "port": 9999, "targetPort": 9999}]}}}
    },
    "head-service-name": {
        "head": {"headService": {"metadata": {"name": "my-own-head"}, "spec": {"type": "ClusterIP"}}}
    },
    "gcs-ft": {
        "annotations": {"ray.io/ft-enabled": "true"},
        "container": {"env": [{"name": "RAY_REDIS_ADDRESS", "value": "redis:6379"}]},
    },
    "restricted": {
        "pod": {"securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}},
        "container": {
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "runAsUser": 1000,
            }
        },
    },
    "guaranteed": {
        "container": {"resources": {kind: {"cpu": "2", "memory": "4Gi"} for kind in ("limits", "requests")}}
    },
    "token": {"cluster": {"authOptions": {"mode": "token"}}},
    "own-tags": {"container": {"env": [{"name": "RAY_USAGE_STATS_EXTRA_TAGS", "value": "team=a"}]}},
}


def rayservice(name: str, variant: Manifest) -> Manifest:
    """A RayService of a head alone."""
    container = {
        "name": "ray-head",
        "image": "rayproject/ray:2.52.1",
        "ports": [{"name": port, "containerPort": number} for port, number in _PORTS.items()],
        "resources": {"limits": {"cpu": "1", "memory": "2Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
    } | variant.get("container", {})
    template = {
        "metadata": variant.get("meta", {}),
        "spec": {"containers": [container, *variant.get("more", ())], **variant.get("pod", {})},
    }
    start = {"dashboard-host": "0.0.0.0", "num-cpus": "1", **variant.get("start", {})}
    head = {"rayStartParams": start, "template": template, **variant.get("head", {})}
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayService",
        "metadata": {"name": name, "annotations": variant.get("annotations", {})},
        "spec": {
            "serveConfigV2": "applications:\n- name: static\n  route_prefix: /static\n  import_path: shop:build\n",
            "rayClusterConfig": {"rayVersion": "2.52.1", "headGroupSpec": head, **variant.get("cluster", {})},
        },
    }


class Recorder:
    """A webhook that admits everything and keeps what it was asked."""

    def __init__(self, api: ApiServer, folder: Path) -> None:
        self.folder = folder
        self._api = api
        key, cert = api.folder / "recorder.key", api.folder / "recorder.crt"
        subject = ["-subj", "/CN=recorder", "-addext", "subjectAltName=IP:127.0.0.1"]
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert]
        subprocess.run([*made, *subject], check=True, capture_output=True, timeout=60)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._trust = base64.b64encode(cert.read_bytes()).decode()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def register(self) -> None:
        """Be asked about every pod, Service and RayService."""
        rule = {
            "apiGroups": ["", "ray.io"],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"],
            "resources": ["pods", "services", "rayservices"],
        }
        webhook = {
            "name": "recorder.holdfast.dev",
            "clientConfig": {"url": f"https://127.0.0.1:{self._server.server_address[1]}/", "caBundle": self._trust},
            "rules": [rule],
            "sideEffects": "NoneOnDryRun",
            "admissionReviewVersions": ["v1"],
        }
        configuration = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "recorder"},
            "webhooks": [webhook],
        }
        self._api.apply("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", configuration)
        time.sleep(2)  # the API server reads its configurations from a cache

    def keep(self, review: Manifest) -> None:
        """Write a review down, without what only a server-side apply needs."""
        request = review["request"]
        for part in filter(None, (request["object"], request.get("oldObject"))):
            part["metadata"].pop("managedFields", None)
        name = request["object"]["metadata"].get("labels", {}).get("ray.io/cluster") or request.get("name", "")
        variant = max((each for each in VARIANTS if name.startswith(each)), key=len, default="")
        if not variant:
            return  # the API server's own Service
        path = self.folder / f"{variant}-{request['kind']['kind']}-{request['operation']}.json"
        path.write_text(json.dumps(review, indent=1) + "\n")


def _handler(recorder: Recorder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            recorder.keep(review)
            answer = {"uid": review["request"]["uid"], "allowed": True}
            about = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}
            body = json.dumps(about).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def record(api: ApiServer, operator: Path, recorder: Recorder) -> None:
    """One operator, every variant."""
    version = operator.name.removeprefix("kuberay-operator-")
    recorder.folder = recorder.folder.parent / version
    recorder.folder.mkdir(parents=True, exist_ok=True)
    install_definitions(api, version)
    namespace = f"v{version.replace('.', '-')}"
    api.create_namespace(namespace)
    flags = ["--enable-leader-election=false", "--metrics-addr=0", "--health-probe-bind-address=0"]
    command = [str(operator), f"--kubeconfig={api.kubeconfig}", *flags, f"--watch-namespace={namespace}"]
    with process(command, recorder.folder / "operator.log"):
        for name, variant in VARIANTS.items():
            api.call("POST", f"/apis/ray.io/v1/namespaces/{namespace}/rayservices", rayservice(name, variant))
        # Not all come: some variants an operator refuses, which its log then says.
        deadline = time.monotonic() + _PATIENCE_S
        while time.monotonic() < deadline and len(list(recorder.folder.glob("*-Pod-CREATE.json"))) < len(VARIANTS):
            time.sleep(1)
    print(f"KubeRay {version}: {len(list(recorder.folder.glob('*.json')))} reviews in {recorder.folder}")


def main(folder: Path, versions: Sequence[str]) -> None:
    """Every operator that the cluster's tests have built, or those of these versions."""
    with api_server() as api:
        recorder = Recorder(api, folder / "none")
        recorder.register()
        for operator in sorted(PROGRAMS.glob("kuberay-operator-*")):
            if not versions or operator.name.rpartition("-")[2] in versions:
                record(api, operator, recorder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

"""An API server alone: etcd and kube-apiserver on free ports, no node. To see what it admits and what KubeRay sends.

The programs come from the cache that the cluster's tests fill (``HOLDFAST_CACHE``, or ``~/.cache/holdfast``).
"""

import json
import os
import secrets
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CACHE = Path(os.environ.get("HOLDFAST_CACHE") or Path.home() / ".cache" / "holdfast")
ACCOUNT_ISSUER = "https://kubernetes.default.svc.cluster.local"
_PATIENCE_S = 120


class ProgramMissingError(Exception):
    """A program is not in the cache."""


def program(name: str) -> Path:
    """The newest build of a program in the cache.

    Raises:
        ProgramMissingError: there is none.
    """
    found = sorted(CACHE.glob(f"programs/{name}-*"))
    if not found:
        raise ProgramMissingError(f"{name} is not in {CACHE}/programs: run the cluster's tests once, they build it.")
    return found[-1]


@dataclass(frozen=True, slots=True)
class ApiServer:
    """A running API server. ``token`` is a cluster administrator's."""

    url: str
    token: str
    folder: Path
    warnings: list[str] = field(default_factory=list)

    def call(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json", user: str = ""
    ) -> Any:
        """One request, as a ``user`` if one is named; the answer's JSON, also where it is a refusal (a ``Status``).

        What the answer warned about is kept in ``warnings``.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, method=method)  # noqa: S310 - a loopback address
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Content-Type", content_type)
        if user:
            request.add_header("Impersonate-User", user)
            request.add_header("Impersonate-Group", "system:masters")
        # The server has signed its certificate itself, a minute ago, for a loopback address.
        context = ssl._create_unverified_context()  # noqa: S323
        try:
            with urllib.request.urlopen(request, context=context, timeout=60) as answer:  # noqa: S310
                self.warnings[:] = answer.headers.get_all("Warning") or []
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read()
            return json.loads(said) if said.startswith(b"{") else {"code": error.code, "message": said.decode()}

    def apply(self, path: str, manifest: dict[str, Any], manager: str = "tests", user: str = "") -> Any:
        """Server-side apply of one object."""
        where = f"{path}/{manifest['metadata']['name']}?fieldManager={manager}&force=true"
        return self.call("PATCH", where, manifest, "application/apply-patch+yaml", user)

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig of the administrator, for programs."""
        path = self.folder / "kubeconfig"
        cluster = {"server": self.url, "insecure-skip-tls-verify": True}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "alone", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": self.token}}],
            "contexts": [{"name": "alone", "context": {"cluster": "alone", "user": "admin"}}],
            "current-context": "alone",
        }
        path.write_text(json.dumps(content))
        return path

    def create_namespace(self, name: str, labels: dict[str, str] | None = None) -> None:
        """A namespace with the service account that a controller would have made."""
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels or {}}})
        self.call("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})


@contextmanager
def api_server() -> Iterator[ApiServer]:
    """Start etcd and kube-apiserver in a temporary folder; both end with the context."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-api-", ignore_cleanup_errors=True))
        )
        etcd, peer, port = _free_ports(3)
        server = ApiServer(f"https://127.0.0.1:{port}", secrets.token_hex(16), folder)
        stack.enter_context(started(_etcd(folder, etcd, peer), folder / "etcd.log"))
        stack.enter_context(started(_kube_apiserver(server, etcd, port), folder / "kube-apiserver.log"))
        _wait_until_ready(server)
        yield server


@contextmanager
def started(command: list[str], log: Path, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the context."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, **how)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


def _etcd(folder: Path, port: int, peer: int) -> list[str]:
    return [
        str(program("etcd")),
        f"--data-dir={folder}/etcd",
        f"--listen-client-urls=http://127.0.0.1:{port}",
        f"--advertise-client-urls=http://127.0.0.1:{port}",
        f"--listen-peer-urls=http://127.0.0.1:{peer}",
        "--unsafe-no-fsync",
    ]


def _kube_apiserver(server: ApiServer, etcd: int, port: int) -> list[str]:
    key = server.folder / "service-accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True, timeout=60)
    tokens = server.folder / "tokens.csv"
    tokens.write_text(f'{server.token},admin,admin,"system:masters"\n')
    return [
        str(program("kube-apiserver")),
        f"--etcd-servers=http://127.0.0.1:{etcd}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={server.folder}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        f"--token-auth-file={tokens}",
        f"--service-account-issuer={ACCOUNT_ISSUER}",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
    ]


def _wait_until_ready(server: ApiServer) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if server.call("GET", "/api/v1/namespaces/default").get("kind") == "Namespace":
                return
        except (OSError, ValueError):
            pass  # not listening yet
        time.sleep(0.5)
    raise TimeoutError(
        f"no API server after {_PATIENCE_S} s: {(server.folder / 'kube-apiserver.log').read_text()[-800:]}"
    )


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]

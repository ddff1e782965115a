"""A real etcd and a real kube-apiserver on loopback ports of their own, and nothing else: no node, no root.

Enough for everything that the API server decides itself: schemas, RBAC, PodSecurity, admission by a webhook, watches.
The programs are those of the node of `make cluster` (`make node-build`), from the cache.
"""

import contextlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(os.environ.get("HOLDFAST_CACHE") or Path.home() / ".cache" / "holdfast") / "programs"
TOKEN = "of-this-test-run-only"  # noqa: S105 - good for nothing else
_START_S = 120


class CannotRunHereError(Exception):
    """What is missing, and how to get it."""


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """An API server that runs."""

    url: str
    kubeconfig: Path

    def kubectl(self, *arguments: str, feed: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run kubectl as an administrator. The caller looks at how it went."""
        command = [str(program("kubectl")), f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(command, input=feed, capture_output=True, text=True, timeout=120, check=False)


def program(name: str) -> Path:
    """The newest ``name`` in the cache.

    Raises: CannotRunHereError if there is none.
    """
    if found := sorted(PROGRAMS.glob(f"{name}-[0-9]*")):
        return found[-1]
    raise CannotRunHereError(f"there is no {name} in {PROGRAMS}: `make node-build` builds it")


@contextlib.contextmanager
def running(folder: Path) -> Iterator[ControlPlane]:
    """Both programs, until the block ends; their logs and data in ``folder``."""
    etcd, peer, secure = _free_ports(3)
    (folder / "tokens.csv").write_text(f"{TOKEN},admin,admin,system:masters\n")
    _openssl("genrsa", "-out", str(folder / "service-accounts.key"), "2048")
    with (
        process(_etcd(folder, etcd, peer), folder / "etcd.log", start_new_session=True),
        process(_kube_apiserver(folder, etcd, secure), folder / "kube-apiserver.log", start_new_session=True) as server,
    ):
        url = f"https://127.0.0.1:{secure}"
        _wait_until_ready(url, server, folder / "kube-apiserver.log")
        yield ControlPlane(url, _kubeconfig(folder, url))


def _etcd(folder: Path, port: int, peer: int) -> list[str]:
    client, between = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
    return [
        str(program("etcd")),
        *(f"--data-dir={folder}/etcd", "--unsafe-no-fsync", "--log-level=error"),
        *(f"--listen-client-urls={client}", f"--advertise-client-urls={client}"),
        *(f"--listen-peer-urls={between}", f"--initial-advertise-peer-urls={between}"),
        f"--initial-cluster=default={between}",
    ]


def _kube_apiserver(folder: Path, etcd: int, port: int) -> list[str]:
    return [
        str(program("kube-apiserver")),
        *(f"--etcd-servers=http://127.0.0.1:{etcd}", "--bind-address=127.0.0.1", f"--secure-port={port}"),
        *(f"--cert-dir={folder}/pki", f"--token-auth-file={folder}/tokens.csv", "--authorization-mode=RBAC"),
        "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={folder}/service-accounts.key",
        f"--service-account-signing-key-file={folder}/service-accounts.key",
        # It writes its own address into the Service `kubernetes`, and takes no loopback one.
        *("--advertise-address=10.96.255.254", "--endpoint-reconciler-type=none"),
    ]


@contextlib.contextmanager
def process(command: list[str], log: Path, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block; what it says goes to ``log``."""
    with log.open("ab") as said:
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **how)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(40)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait(10)


def _wait_until_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    unchecked = ssl._create_unverified_context()  # noqa: S323 - a certificate it has just made for itself
    request = urllib.request.Request(f"{url}/readyz", headers={"Authorization": f"Bearer {TOKEN}"})  # noqa: S310 - ours
    end = time.monotonic() + _START_S
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError, urllib.error.HTTPError):
            urllib.request.urlopen(request, timeout=2, context=unchecked).close()  # noqa: S310 - ours
            return
        time.sleep(0.2)
    raise CannotRunHereError(f"kube-apiserver does not get ready; its last words:\n{log.read_text()[-2000:]}")


def _kubeconfig(folder: Path, url: str) -> Path:
    """A kubeconfig for an administrator (JSON is YAML too)."""
    path = folder / "kubeconfig"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
        "current-context": "test",
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(content))
    return path


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _openssl(*arguments: str) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        raise CannotRunHereError("there is no openssl on the PATH")
    subprocess.run([openssl, *arguments], capture_output=True, timeout=60, check=True)

"""One certificate authority for the node, and a certificate or kubeconfig for each of its parts, by openssl.

They live as long as the node does and are of no use to anyone after it.
"""

import json
from pathlib import Path

from tests.cluster.node.commands import run
from tests.cluster.node.paths import API_PORT, KUBECONFIG, NODE_ADDRESS, NODE_NAME, PKI, STATE

_DAYS = "30"
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
API_NAMES = (
    "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,"
    f"DNS:localhost,IP:127.0.0.1,IP:10.96.0.1,IP:{NODE_ADDRESS}"
)
# Who each part is to the API server: common name, organisation. The names are Kubernetes' own roles.
CLIENTS = {
    "kube-controller-manager": ("system:kube-controller-manager", ""),
    "kube-scheduler": ("system:kube-scheduler", ""),
    "kube-proxy": ("system:kube-proxy", ""),
    "kubelet": (f"system:node:{NODE_NAME}", "system:nodes"),
    "coredns": ("coredns", ""),
    "admin": ("admin", "system:masters"),
    "apiserver-to-kubelet": ("apiserver-to-kubelet", "system:masters"),
}


def issue_all() -> None:
    """Make the authority, every certificate and every kubeconfig, unless they are there."""
    if KUBECONFIG.exists():
        return
    PKI.mkdir(mode=0o700, parents=True, exist_ok=True)
    _authority()
    _openssl("genrsa", "-out", PKI / "service-accounts.key", "2048")
    _issue("kube-apiserver", "kube-apiserver", "", f"serverAuth\nsubjectAltName={API_NAMES}")
    _issue("kubelet-server", NODE_NAME, "", f"serverAuth\nsubjectAltName=DNS:{NODE_NAME},IP:{NODE_ADDRESS}")
    for name, (common_name, organisation) in CLIENTS.items():
        _issue(name, common_name, organisation, "clientAuth")
        _kubeconfig(STATE / f"{name}.kubeconfig", name)


def _authority() -> None:
    _openssl(
        *("req", "-x509", *_NEW_KEY, "-days", _DAYS, "-subj", "/CN=holdfast-node"),
        *("-keyout", PKI / "ca.key", "-out", PKI / "ca.crt"),
    )


def _issue(name: str, common_name: str, organisation: str, usage: str) -> None:
    subject = (f"/O={organisation}" if organisation else "") + f"/CN={common_name}"
    request, extensions = PKI / f"{name}.csr", PKI / f"{name}.ext"
    extensions.write_text(f"extendedKeyUsage={usage}\n")
    _openssl("req", "-new", *_NEW_KEY, "-subj", subject, "-keyout", PKI / f"{name}.key", "-out", request)
    _openssl(
        *("x509", "-req", "-in", request, "-days", _DAYS, "-extfile", extensions),
        *("-CA", PKI / "ca.crt", "-CAkey", PKI / "ca.key", "-CAcreateserial", "-out", PKI / f"{name}.crt"),
    )


def _openssl(*arguments: str | Path) -> None:
    run(["openssl", *map(str, arguments)])


def _kubeconfig(path: Path, name: str) -> None:
    """A kubeconfig that points at the files (JSON is YAML too)."""
    cluster = {"server": f"https://127.0.0.1:{API_PORT}", "certificate-authority": str(PKI / "ca.crt")}
    user = {"client-certificate": str(PKI / f"{name}.crt"), "client-key": str(PKI / f"{name}.key")}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "holdfast", "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": "holdfast", "context": {"cluster": "holdfast", "user": name}}],
        "current-context": "holdfast",
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=2))

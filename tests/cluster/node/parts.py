"""The processes that make a node, in the order they start, with their flags: all that is unusual about it."""

from dataclasses import dataclass
from string import Template

from tests.cluster.node import paths
from tests.cluster.node.paths import API_PORT, CONTAINERD, KUBECONFIG, NODE_ADDRESS, NODE_NAME, PKI, STATE
from tests.cluster.node.programs import BY_NAME

_ETCD = "http://127.0.0.1:2379"


@dataclass(frozen=True, slots=True)
class Part:
    """One process and how to start it."""

    name: str
    flags: tuple[str, ...]

    @property
    def command(self) -> list[str]:
        """A program of ours by its place in the cache, Debian's by its name."""
        program = BY_NAME.get(self.name)
        return [str(program.path) if program else self.name, *self.flags]


def _kubeconfig(name: str) -> str:
    return f"--kubeconfig={STATE}/{name}.kubeconfig"


ETCD = Part(
    "etcd",
    (
        f"--data-dir={STATE}/etcd",
        f"--listen-client-urls={_ETCD}",
        f"--advertise-client-urls={_ETCD}",
        "--listen-peer-urls=http://127.0.0.1:2380",
        # The data is not meant to survive the machine.
        "--unsafe-no-fsync",
    ),
)
API_SERVER = Part(
    "kube-apiserver",
    (
        f"--etcd-servers={_ETCD}",
        "--bind-address=0.0.0.0",
        f"--secure-port={API_PORT}",
        f"--advertise-address={NODE_ADDRESS}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--client-ca-file={PKI}/ca.crt",
        f"--tls-cert-file={PKI}/kube-apiserver.crt",
        f"--tls-private-key-file={PKI}/kube-apiserver.key",
        f"--kubelet-client-certificate={PKI}/apiserver-to-kubelet.crt",
        f"--kubelet-client-key={PKI}/apiserver-to-kubelet.key",
        # The node's host name resolves nowhere; without this, exec and logs fail.
        "--kubelet-preferred-address-types=InternalIP",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={PKI}/service-accounts.key",
        f"--service-account-signing-key-file={PKI}/service-accounts.key",
    ),
)
CONTROLLER_MANAGER = Part(
    "kube-controller-manager",
    (
        _kubeconfig("kube-controller-manager"),
        "--bind-address=127.0.0.1",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={PKI}/service-accounts.key",
        f"--root-ca-file={PKI}/ca.crt",
        "--leader-elect=false",
    ),
)
SCHEDULER = Part("kube-scheduler", (_kubeconfig("kube-scheduler"), "--bind-address=127.0.0.1", "--leader-elect=false"))
CONTAINER_RUNTIME = Part("containerd", (f"--config={STATE}/containerd.toml",))
KUBELET = Part(
    "kubelet",
    (
        f"--config={STATE}/kubelet.yaml",
        _kubeconfig("kubelet"),
        f"--root-dir={STATE}/kubelet",
        f"--cert-dir={STATE}/kubelet/pki",
        f"--hostname-override={NODE_NAME}",
        f"--node-ip={NODE_ADDRESS}",
    ),
)
KUBE_PROXY = Part("kube-proxy", (f"--config={STATE}/kube-proxy.yaml",))
COREDNS = Part("coredns", (f"-conf={STATE}/Corefile",))

ALL = (ETCD, API_SERVER, CONTROLLER_MANAGER, SCHEDULER, CONTAINER_RUNTIME, KUBELET, KUBE_PROXY, COREDNS)


def fill_in(template: str) -> str:
    """A file of ``etc/`` with this node's places and names in it."""
    text = (paths.TEMPLATES / template).read_text()
    return Template(text).substitute(STATE=STATE, NODE_NAME=NODE_NAME, NODE_ADDRESS=NODE_ADDRESS, BRIDGE=paths.BRIDGE)


def kubectl(*arguments: str) -> list[str]:
    """A kubectl command line against this node."""
    return [str(BY_NAME["kubectl"].path), f"--kubeconfig={KUBECONFIG}", *arguments]


def ctr(*arguments: str) -> list[str]:
    """A containerd command line in the namespace that the kubelet uses."""
    return ["ctr", f"--address={CONTAINERD}", "--namespace=k8s.io", *arguments]

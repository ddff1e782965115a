"""What the node needs of the machine, asked before anything is touched. Missing Debian packages are installed."""

import os
import shutil
import socket
import sys
from pathlib import Path

from tests.cluster.node.commands import run, succeeds
from tests.cluster.node.errors import CannotRunHereError
from tests.cluster.node.paths import API_PORT, BRIDGE

# A command (or file) that shows the package is there, and the package's name in Debian.
PACKAGES = {
    "containerd": "containerd",
    "runc": "runc",
    "/usr/lib/cni/bridge": "containernetworking-plugins",
    "iptables": "iptables",
    "ip": "iproute2",
    "conntrack": "conntrack",
    "openssl": "openssl",
    "mmdebstrap": "mmdebstrap",
    "buildah": "buildah",
}
# etcd twice, API server, kubelet, controller-manager, scheduler, kube-proxy twice.
PORTS = (2379, 2380, API_PORT, 10250, 10257, 10259, 10256, 10249)


def install_packages() -> None:
    """Install the Debian packages that are missing.

    Raises: CannotRunHereError naming them where apt-get is not to be had.
    """
    missing = [package for shows, package in PACKAGES.items() if not (shutil.which(shows) or Path(shows).exists())]
    if not missing:
        return
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise CannotRunHereError(f"Install these first (Debian's names): {' '.join(missing)}.")
    print(f"installing from Debian: {' '.join(missing)}", file=sys.stderr, flush=True)
    run(["apt-get", "update", "-qq"], timeout_s=600)
    run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], timeout_s=1200)


def require() -> None:
    """Raises: CannotRunHereError with everything that is wrong, not just the first thing."""
    wrong = [sentence for sentence in (_root(), _overlayfs(), _cgroups(), _bridge(), *map(_port, PORTS)) if sentence]
    if wrong:
        raise CannotRunHereError(
            "\n".join(wrong) + "\n(Any other cluster will do: set KUBECONFIG, and nothing is started here.)"
        )


def _root() -> str:
    return "" if os.geteuid() == 0 else "Only root can run a node: a kubelet mounts, and makes namespaces and cgroups."


def _overlayfs() -> str:
    known = "overlay" in Path("/proc/filesystems").read_text() or succeeds(["modprobe", "overlay"])
    return "" if known else "The kernel has no overlayfs, which containers are mounted with (module `overlay`)."


def _cgroups() -> str:
    memory = Path("/sys/fs/cgroup/memory").is_dir() or Path("/sys/fs/cgroup/cgroup.controllers").exists()
    return "" if memory else "There are no cgroups below /sys/fs/cgroup: mount them, or run on the host itself."


def _bridge() -> str:
    taken = Path("/sys/class/net", BRIDGE).exists()
    return f"There is a network interface {BRIDGE} that this node has not made: remove it." if taken else ""


def _port(port: int) -> str:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError as error:
            return f"Port {port} is taken ({error.strerror}): end what listens there (`ss -ltnp sport = :{port}`)."
    return ""

"""Up, down and status of the node. Up twice is up once; down also tidies after a node that was ended in the middle."""

import sys
import time

from tests.cluster.node import credentials, images, leftovers, machine, network, parts, processes, programs
from tests.cluster.node.commands import run, succeeds
from tests.cluster.node.errors import CannotRunHereError
from tests.cluster.node.paths import KUBECONFIG, LOGS, NODE_NAME, RUN, STATE

_TEMPLATES = {
    "containerd.toml": "containerd.toml",
    "cni.conflist": "cni/10-holdfast.conflist",
    "kubelet.yaml": "kubelet.yaml",
    "kube-proxy.yaml": "kube-proxy.yaml",
    "Corefile": "Corefile",
    "resolv.conf": "resolv.conf",
    "dns.yaml": "dns.yaml",
}
# The first goes first: kubelet before the runtime, so that no pod is started again; the API server before its store.
_STOP_ORDER = [
    "kubelet",
    "kube-proxy",
    "coredns",
    "kube-scheduler",
    "kube-controller-manager",
    "containerd",
    "kube-apiserver",
    "etcd",
]


def up() -> bool:
    """Start the node and wait until pods can run on it; builds what it needs first. False if it was up already.

    Raises: CannotRunHereError if the machine cannot do it, or a part dies or does not come up.
    """
    machine.install_packages()
    programs.build(programs.NODE)
    starts = not _is_up()
    if starts:
        down()
        machine.require()
        _start_or_leave_nothing()
    say(f"export KUBECONFIG={KUBECONFIG}")
    return starts


def down() -> None:
    """Stop every part and leave the machine as it was found."""
    for name in _STOP_ORDER:
        processes.stop(name)
    leftovers.remove()
    if left := leftovers.traces():
        raise CannotRunHereError("The node is down, but this is left:\n" + "\n".join(left))


def status() -> int:
    """Print what runs and what is left. Exit code 0 up, 3 down (as systemctl), 1 neither."""
    running = {process.name: process.pid for process in processes.all_running()}
    for part in parts.ALL:
        say(f"{part.name:24} {running.get(part.name, '-')}")
    if _is_up():
        say(f"up: export KUBECONFIG={KUBECONFIG}")
        return 0
    left = leftovers.traces()
    say("\n".join(["not all of it runs; `make node-down` tidies up", *left]) if left else "down, nothing left")
    return 1 if left else 3


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _is_up() -> bool:
    return len(processes.all_running()) == len(parts.ALL) and succeeds(parts.kubectl("get", "--raw=/readyz"))


def _write_files() -> None:
    for folder in (STATE, RUN, LOGS, STATE / "cni", STATE / "volume-plugins"):
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    for template, target in _TEMPLATES.items():
        (STATE / target).write_text(parts.fill_in(template))
    credentials.issue_all()


def _start_or_leave_nothing() -> None:
    try:
        _write_files()
        network.set_up()
        _start()
    except BaseException:  # Ctrl-C, too: half a node is of no use to anyone
        down()
        raise


def _start() -> None:
    started = time.monotonic()
    processes.start("etcd", parts.ETCD.command)
    processes.start("containerd", parts.CONTAINER_RUNTIME.command)
    processes.start("kube-apiserver", parts.API_SERVER.command)
    _wait("kube-apiserver", "the API server", parts.kubectl("get", "--raw=/readyz"))
    for part in (parts.CONTROLLER_MANAGER, parts.SCHEDULER, parts.KUBE_PROXY, parts.COREDNS):
        processes.start(part.name, part.command)
    _wait("containerd", "containerd", parts.ctr("version"))
    images.load(images.PAUSE)
    processes.start("kubelet", parts.KUBELET.command)
    run(parts.kubectl("apply", f"--filename={STATE / 'dns.yaml'}"))
    _wait("kubelet", "the node", parts.kubectl("wait", "--for=condition=Ready", f"node/{NODE_NAME}", "--timeout=1s"))
    # The first pod of a namespace needs it, and the controller-manager takes a moment.
    _wait("kube-controller-manager", "service accounts", parts.kubectl("get", "serviceaccount", "default"))
    say(f"node up in {time.monotonic() - started:.0f} s")


def _wait(process: str, what: str, asks: list[str], *, patience_s: float = 90) -> None:
    """Ask until the answer is yes.

    Raises: CannotRunHereError if the process dies meanwhile, or time is up.
    """
    deadline = time.monotonic() + patience_s
    while not succeeds(asks):
        processes.require(process)
        if time.monotonic() > deadline:
            words = processes.last_words(process)
            raise CannotRunHereError(
                f"{what} did not become ready in {patience_s:.0f} s. The log of {process}:\n{words}"
            )
        time.sleep(0.3)

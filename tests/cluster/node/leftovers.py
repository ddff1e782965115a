"""What a node leaves on the machine besides its own processes: found and removed, whether it was ended well or not."""

import contextlib
import os
import shutil
import time
from pathlib import Path

from tests.cluster.node import fixed_places, network, processes
from tests.cluster.node.commands import succeeds
from tests.cluster.node.paths import BUILDS, CONTAINERD, STATE

_CGROUPS = Path("/sys/fs/cgroup")
_PODS = "kubepods"
_FOLDERS = (STATE, BUILDS)


def remove() -> None:
    """End what runs in pods, then unmount, disconnect and delete. Call it when nothing can start a pod any more."""
    _end(_in_pods())
    _end(_shims())
    _unmount()
    network.tear_down()
    _remove_cgroups()
    _remove_files()


def traces() -> list[str]:
    """What is left of a node right now, one sentence each; empty on a clean machine."""
    return [
        *(f"process {pid} in a pod" for pid in _in_pods()),
        *(f"process {pid}, a container's keeper" for pid in _shims()),
        *(f"mount {point}" for point in _mounts()),
        *network.traces(),
        *(f"cgroup {path}" for path in _pod_cgroups()),
        *(f"folder {folder}" for folder in _FOLDERS if folder.exists()),
    ]


def _end(pids: list[int]) -> None:
    """Pods are ended without grace: a node that goes away is a power cut to them."""
    processes.end(pids, patience_s=2)


def _in_pods() -> list[int]:
    """The processes of all pods, by the cgroups that only a kubelet makes."""
    found: set[int] = set()
    for folder in _pod_cgroups():
        for members in folder.rglob("cgroup.procs"):
            with contextlib.suppress(FileNotFoundError):  # the pod ended while we read
                found.update(map(int, members.read_text().split()))
    return sorted(found)


def _shims() -> list[int]:
    """containerd's keepers, one a pod: they outlive containerd on purpose. Its socket is on their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended while we read
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if "containerd-shim" in words[0] and str(CONTAINERD) in words:
                found.append(int(process.name))
    return found


def _mounts() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4] for line in lines]
    return [point for point in points if any(Path(point).is_relative_to(folder) for folder in _FOLDERS)]


def _unmount() -> None:
    """The innermost first. A mount that is still busy is detached: its last user has been ended above."""
    for point in reversed(_mounts()):
        if not succeeds(["umount", point]):
            succeeds(["umount", "--lazy", point])


def _pod_cgroups() -> list[Path]:
    """cgroup v1 has one tree a controller, v2 a single one."""
    return [path for path in (_CGROUPS / _PODS, *_CGROUPS.glob(f"*/{_PODS}")) if path.is_dir()]


def _remove_cgroups() -> None:
    """A cgroup is removed by rmdir, children first, and stays busy for a moment after its last process has died."""
    for root in _pod_cgroups():
        for folder, _, _ in os.walk(root, topdown=False):
            _rmdir(Path(folder))


def _rmdir(folder: Path) -> None:
    for _ in range(20):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:  # busy
            time.sleep(0.1)
        else:
            return


def _remove_files() -> None:
    fixed_places.tidy()
    for folder in _FOLDERS:
        if folder.exists():
            shutil.rmtree(folder)

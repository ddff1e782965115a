"""Files that kubelet, containerd and CNI put at places no setting moves, told apart from another runtime's.

A link or note is ours if it names our state folder; a socket is left over if nobody listens on it any more. A folder
goes when it is empty.
"""

import contextlib
import socket
from pathlib import Path

from tests.cluster.node.paths import STATE

_POD_LOG_LINKS = Path("/var/log/containers")
_CNI_NOTES = Path("/var/lib/cni/results")
_SHIM_SOCKETS = Path("/run/containerd/s")
_DEVICE_PLUGINS = Path("/var/lib/kubelet/device-plugins")
_MAY_BE_EMPTY = (
    _POD_LOG_LINKS,
    *(_CNI_NOTES, _CNI_NOTES.parent),
    *(_SHIM_SOCKETS, _SHIM_SOCKETS.parent),
    *(_DEVICE_PLUGINS, _DEVICE_PLUGINS.parent),
)


def tidy() -> None:
    """Remove what is ours at those places."""
    for link in _POD_LOG_LINKS.glob("*"):
        if link.is_symlink() and STATE in link.readlink().parents:
            link.unlink()
    for note in _CNI_NOTES.glob("*"):
        if str(STATE) in note.read_text(errors="replace"):
            note.unlink()
    for path in (*_SHIM_SOCKETS.glob("*"), *_DEVICE_PLUGINS.glob("kubelet.sock")):
        if _is_dead(path):
            path.unlink()
    for folder in _MAY_BE_EMPTY:
        with contextlib.suppress(OSError):  # not there, or not empty: somebody else's
            folder.rmdir()


def _is_dead(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False

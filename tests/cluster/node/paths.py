"""Where the node keeps what it builds (a cache that survives) and what it runs (a state folder that does not)."""

import os
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
GO_MODULES = HERE / "go"
TEMPLATES = HERE / "etc"

CACHE = Path(os.environ.get("HOLDFAST_CACHE") or Path.home() / ".cache" / "holdfast")
PROGRAMS = CACHE / "programs"
IMAGES = CACHE / "images"
BUILDS = IMAGES / "builds"
"""Where an image is being built: nothing of it outlives the build."""

# Not below the cache: a socket's path must stay under 108 characters, and overlayfs wants a disk.
STATE = Path("/var/lib/holdfast-node")
RUN = STATE / "run"
LOGS = STATE / "logs"
PKI = STATE / "pki"
CONTAINERD = RUN / "containerd.sock"
KUBECONFIG = STATE / "admin.kubeconfig"

NODE_NAME = "holdfast"
NODE_ADDRESS = "10.244.0.1"
BRIDGE = "holdfast0"
API_PORT = 6443

"""The programs of a node and of KubeRay, each built once from a go.mod of this tree into the cache.

A program's version is what its go.mod requires, and nothing else: to move, change go.mod and run `go mod tidy` there.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.node.errors import CannotRunHereError
from tests.cluster.node.paths import GO_MODULES, PROGRAMS

_KUBERAY = "github.com/ray-project/kuberay/ray-operator"
_OLDEST_GO = (1, 25)
_REPORT_EVERY_S = 20


@dataclass(frozen=True, slots=True)
class Program:
    """One main package, and the folder of this tree whose go.mod pins it."""

    name: str
    folder: str
    package: str

    @property
    def version(self) -> str:
        """What go.mod requires of the module that holds the package, without the ``v``; "0" for our own source."""
        required = re.findall(r"^(?:require |\t)(\S+) v(\S+)", (self.module / "go.mod").read_text(), re.MULTILINE)
        holding = [version for module, version in required if f"{self.package}/".startswith(f"{module}/")]
        return holding[0] if holding else "0"

    @property
    def module(self) -> Path:
        return GO_MODULES / self.folder

    @property
    def path(self) -> Path:
        """Where the built program lies: the version is in the name, so an old one is never taken for a new one."""
        return PROGRAMS / f"{self.name}-{self.version}"


def _kubernetes(name: str) -> Program:
    return Program(name, "kubernetes", f"k8s.io/kubernetes/cmd/{name}")


OPERATOR_VERSIONS = ("1.0.0", "1.1.1", "1.2.2", "1.3.2", "1.4.2", "1.5.1", "1.6.2")
OPERATORS = {v: Program("kuberay-operator", f"kuberay-{v}", _KUBERAY) for v in OPERATOR_VERSIONS}
NODE = (
    Program("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    Program("pause", "pause", "."),
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    _kubernetes("kube-proxy"),
    _kubernetes("kubelet"),
    _kubernetes("kubectl"),
    Program("coredns", "coredns", "github.com/coredns/coredns"),
)
HELM = Program("helm", "helm", "helm.sh/helm/v3/cmd/helm")
"""No part of a node: the chart's tests build it when they need it."""

BY_NAME = {program.name: program for program in NODE}


def build(programs: tuple[Program, ...]) -> None:
    """Build what is not in the cache yet. Ended in the middle, it goes on with the first that is missing.

    Raises: CannotRunHereError if Go is missing or too old, or a build fails.
    """
    missing = [program for program in programs if not program.path.exists()]
    if missing:
        _require_go()
    PROGRAMS.mkdir(parents=True, exist_ok=True)
    for number, program in enumerate(missing, 1):
        with _Progress(f"[{number}/{len(missing)}] {program.name} {program.version}"):
            _build(program)


def _require_go() -> None:
    if not shutil.which("go"):
        raise CannotRunHereError("The node's programs are built from source: install Go 1.25 or newer (command `go`).")
    said = subprocess.run(["go", "env", "GOVERSION"], check=True, capture_output=True, text=True, timeout=60).stdout
    found = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    if found < _OLDEST_GO:
        raise CannotRunHereError(f"Go 1.25 or newer is needed to build the node's programs; this is {said.strip()}.")


def _build(program: Program) -> None:
    unfinished = program.path.with_suffix(".unfinished")
    command = ["go", "build", "-trimpath", "-ldflags", _link_flags(program), "-o", str(unfinished), program.package]
    environment = os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -p=2", "GOTOOLCHAIN": "local"}
    done = subprocess.run(
        command, cwd=program.module, env=environment, check=False, capture_output=True, text=True, timeout=3600
    )
    if done.returncode:
        raise CannotRunHereError(f"{program.name} {program.version} did not build:\n{done.stderr[-4000:]}")
    unfinished.replace(program.path)


def _link_flags(program: Program) -> str:
    """Kubernetes learns its version from the linker only; without it, it calls itself 0.0.0 and clients refuse it."""
    if program.folder != "kubernetes":
        return "-s -w"
    major, minor, _ = program.version.split(".")
    values = {"gitVersion": f"v{program.version}", "gitMajor": major, "gitMinor": minor}
    return "-s -w " + " ".join(f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items())


class _Progress:
    """Says what is being built, and every 20 seconds that it still is."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._report, daemon=True)

    def __enter__(self) -> None:
        self._started = time.monotonic()
        self._say("building")
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        self._say(f"{time.monotonic() - self._started:.0f} s")

    def _report(self) -> None:
        while not self._done.wait(_REPORT_EVERY_S):
            self._say(f"still building, {time.monotonic() - self._started:.0f} s")

    def _say(self, text: str) -> None:
        print(f"{self._what}: {text}", file=sys.stderr, flush=True)

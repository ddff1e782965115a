"""KubeRay's operator: installed from its own kustomize folder as users do, exchanged in place, restarted, heard."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from tests.cluster.image_names import image
from tests.cluster.kubectl import KubectlError, kubectl
from tests.cluster.node.commands import run
from tests.cluster.node.programs import OPERATORS
from tests.cluster.pairs import Version

UPGRADE_TO = Version((1, 6, 2))
"""Where the story of an operator upgrade leads."""
_ONE_PUT = "MULTI_APP json config"
"""What the operator logs once for every PUT it sends (rayservice_controller.go, updateServeDeployment)."""
_ONE_PUT_BEFORE_1_2 = '"reason": "SubmittedServeDeployment"'
"""Until 1.1 that line does not say for which RayService; the event that follows a PUT does."""

# Its own limit of 0.1 CPU makes every step slow, and a probe that first asks after 10 s every restart.
_FASTER: dict[str, Any] = {
    "name": "kuberay-operator",
    "imagePullPolicy": "IfNotPresent",
    "args": ["--zap-log-level=debug"],
    "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "50m"}},
    "readinessProbe": {"initialDelaySeconds": 1, "periodSeconds": 1},
}


class Operator:
    """The one operator of the cluster, at one version."""

    def __init__(self, version: Version) -> None:
        self.version = version

    @property
    def namespace(self) -> str:
        """Where its kustomize base puts it: ray-system until 1.2, default from 1.3 on."""
        return "default" if self.version >= Version((1, 3, 0)) else "ray-system"

    async def install(self, *, feature_gate: str = "") -> None:
        """Install this version, over another if there is one: custom resources and what they own stay."""
        for namespace in {"default", "ray-system"} - {self.namespace}:
            await kubectl("delete", "deployment/kuberay-operator", f"--namespace={namespace}", "--ignore-not-found")
        await kubectl(
            "apply", "--server-side", "--force-conflicts", f"--kustomize={_folder(self.version)}/config/default"
        )
        container = _FASTER | {"image": image("quay.io/kuberay/operator", f"v{self.version}")}
        container["args"] = [*_FASTER["args"], *([f"--feature-gates={feature_gate}=true"] if feature_gate else [])]
        patch = {"spec": {"template": {"spec": {"containers": [container]}}}}
        await self._kubectl("patch", "deployment/kuberay-operator", f"--patch={json.dumps(patch)}")
        await self._rolled_out()

    async def restart(self) -> None:
        """A restart that nobody needs to notice: same version, same configuration, another pod."""
        await self._kubectl("rollout", "restart", "deployment/kuberay-operator")
        await self._rolled_out()

    async def puts(self, namespace: str) -> int:
        """How many PUTs the running operator pod has sent for the RayServices of a namespace."""
        logged = await self._kubectl("logs", "deployment/kuberay-operator", "--tail=-1")
        sign = _ONE_PUT if self.version >= Version((1, 2, 0)) else _ONE_PUT_BEFORE_1_2
        return sum(sign in line and namespace in line for line in logged.splitlines())

    async def has_put(self, namespace: str, *, patience_s: float = 60) -> None:
        """Wait until the running operator pod has sent its first PUT: after a restart, a leader's lease runs out first.

        Raises: TimeoutError if it does not.
        """
        deadline = time.monotonic() + patience_s
        while not await self._puts_or_none(namespace):
            if time.monotonic() > deadline:
                raise TimeoutError(f"KubeRay {self.version} sent no PUT to {namespace} in {patience_s:.0f} s")
            await asyncio.sleep(1)

    async def _puts_or_none(self, namespace: str) -> int:
        try:
            return await self.puts(namespace)
        except KubectlError:  # the pod has no log yet
            return 0

    async def _rolled_out(self) -> None:
        await self._kubectl("rollout", "status", "deployment/kuberay-operator", "--timeout=120s", timeout_s=130)

    async def _kubectl(self, *arguments: str, timeout_s: float = 120) -> str:
        return await kubectl(*arguments, f"--namespace={self.namespace}", timeout_s=timeout_s)


def _folder(version: Version) -> str:
    """The module that the program was built from also carries the manifests of that release."""
    return str(module_folder(version, OPERATORS[str(version)].package))


def module_folder(version: Version, package: str) -> Path:
    """The source of a Go module as an operator's build has it: the operator itself, or what it needs."""
    at = ["go", "-C", str(OPERATORS[str(version)].module)]
    run([*at, "mod", "download", package])
    return Path(run([*at, "list", "-m", "-f", "{{.Dir}}", package]).strip())

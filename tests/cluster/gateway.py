"""A Gateway that says yes: its CRDs are the real ones, its controller is us, and no traffic goes through it.

KubeRay's incremental upgrade waits until somebody has accepted its Gateway and its HTTPRoute; then it moves capacity
and the route's weights, and looks at nothing else (KubeRay 1.6.2, rayservice_controller.go,
checkIfNeedTargetCapacityUpdate).
"""

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from tests.cluster.api import Api, ApiError
from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import NAME
from tests.cluster.operators import Operator, module_folder
from tests.cluster.rayservice import RayService

FEATURE_GATE = "RayServiceIncrementalUpgrade"
_CRDS = "config/crd/standard"
_KINDS = ("gatewayclasses", "gateways", "httproutes")


async def install(operator: Operator) -> None:
    """The CRDs of the release that the operator was built with, and the operator with its feature gate on."""
    folder = module_folder(operator.version, "sigs.k8s.io/gateway-api") / _CRDS
    files = [f"--filename={folder}/gateway.networking.k8s.io_{kind}.yaml" for kind in _KINDS]
    await kubectl("apply", "--server-side", *files)
    await operator.install(feature_gate=FEATURE_GATE)


async def uninstall(operator: Operator) -> None:
    """The operator without its gate, and no CRD."""
    await operator.install()
    await kubectl("delete", "crd", *(f"{kind}.gateway.networking.k8s.io" for kind in _KINDS), "--ignore-not-found")


async def accept(api: Api, service: RayService) -> None:
    """Say yes to whatever is there of the RayService's Gateway and HTTPRoute."""
    path = f"/apis/gateway.networking.k8s.io/v1/namespaces/{service.namespace}"
    parent = {"name": f"{NAME}-gateway", "namespace": service.namespace}
    route = {
        "parentRef": parent,
        "controllerName": "holdfast.dev/by-hand",
        "conditions": _conditions("Accepted", "ResolvedRefs"),
    }
    await _status(api, f"{path}/gateways/{parent['name']}", {"conditions": _conditions("Accepted", "Programmed")})
    await _status(api, f"{path}/httproutes/{NAME}-httproute", {"parents": [route]})


async def _status(api: Api, path: str, status: dict[str, Any]) -> None:
    try:
        await api.merge(f"{path}/status", {"status": status})
    except ApiError as error:
        if error.status != HTTPStatus.NOT_FOUND:  # KubeRay has not made it yet
            raise


def _conditions(*types: str) -> list[dict[str, str]]:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        {"type": each, "status": "True", "reason": each, "message": "", "lastTransitionTime": now} for each in types
    ]

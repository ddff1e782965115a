"""KubeRay's and cert-manager's own resource definitions, out of their Go modules."""

import json
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.apiserver.control_plane import CannotRunHereError

KUBERAY = ("github.com/ray-project/kuberay/ray-operator", "config/crd/bases")
CERT_MANAGER = ("github.com/cert-manager/cert-manager", "deploy/crds")


def definitions(module: tuple[str, str], version: str, *files: str) -> str:
    """The files as one stream of documents for ``kubectl apply``. Without labels: some are a chart's templates.

    Raises: CannotRunHereError if there is no Go, or it cannot get the module.
    """
    path, folder = module
    try:
        command = ["go", "mod", "download", "-json", f"{path}@v{version}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, cwd="/")
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotRunHereError(f"{path} {version} cannot be had: {error}") from error
    bases = Path(json.loads(done.stdout)["Dir"]) / folder
    return "---\n".join(
        json.dumps(_without_labels(yaml.safe_load((bases / name).read_text()))) + "\n" for name in files
    )


def _without_labels(definition: dict[str, Any]) -> dict[str, Any]:
    definition["metadata"].pop("labels", None)
    return definition

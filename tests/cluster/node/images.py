"""The images a node needs, under the names users' manifests give them, made here and put into containerd.

No registry takes part: with these names and ``imagePullPolicy: IfNotPresent`` a manifest runs unchanged.
"""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.cluster.node import archive, dockerfile, layers, parts, programs
from tests.cluster.node.commands import run
from tests.cluster.node.errors import CannotRunHereError
from tests.cluster.node.paths import IMAGES, REPOSITORY

_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, slots=True)
class Image:
    """A name, its layers (made when first asked for), and how a container of it starts."""

    name: str
    layers: Callable[[], list[Path]]
    config: Mapping[str, Any] = field(default_factory=dict)

    def write(self, out: IO[bytes]) -> None:
        archive.write_archive(out, self.name, self.layers(), self.config)


@dataclass(frozen=True, slots=True)
class HoldfastImage:
    """Our own, from the Dockerfile at the root of this repository, or of another version of it."""

    name: str = "docker.io/holdfast/holdfast:test"
    tree: Path = REPOSITORY

    def write(self, out: IO[bytes]) -> None:
        dockerfile.build(self.name, base=layers.debian(), out=out, tree=self.tree)


def ray(version: str) -> Image:
    """What Ray's own image gives to KubeRay: `ray`, `serve`, Python, wget."""
    return Image(
        f"docker.io/rayproject/ray:{version}",
        lambda: [layers.debian(), layers.ray(version)],
        {"Env": [_PATH, "LANG=C.UTF-8"], "WorkingDir": "/root"},
    )


def operator(version: str) -> Image:
    """KubeRay's operator: the program alone, as user 65532 like the published image."""
    program = programs.OPERATORS[version]

    def only_layer() -> list[Path]:
        programs.build((program,))
        return [layers.program(program, "manager")]

    return Image(f"quay.io/kuberay/operator:v{version}", only_layer, {"User": "65532:65532", "Env": [_PATH]})


REDIS = Image("docker.io/library/redis:7", lambda: [layers.debian()], {"Env": [_PATH], "Entrypoint": ["redis-server"]})
PAUSE = Image(
    "registry.k8s.io/pause:3.10",
    lambda: [layers.program(programs.BY_NAME["pause"], "pause")],
    {"User": "65535:65535", "Entrypoint": ["/pause"]},
)
HOLDFAST = HoldfastImage()


def load(image: Image | HoldfastImage) -> None:
    """Put an image into the node, unless it is there; our own always, as the tree has it now.

    Raises: CannotRunHereError with containerd's words if it is refused.
    """
    IMAGES.mkdir(parents=True, exist_ok=True)
    if isinstance(image, Image) and image.name in run(parts.ctr("images", "list", "--quiet")).split():
        return
    command, pipe = parts.ctr("images", "import", "-"), subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as importing:
        assert importing.stdin is not None
        with importing.stdin:
            image.write(importing.stdin)
        said = importing.stdout.read() if importing.stdout else b""
    if importing.returncode:
        raise CannotRunHereError(f"containerd did not take the image {image.name}:\n{said.decode()[-2000:]}")

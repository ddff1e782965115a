"""The Holdfast before this one: what an upgrade starts from.

It is the commit of the newest release that is not this one. As long as there is none, it is the commit before the one
that last changed what is installed. ``HOLDFAST_PREVIOUS`` names another. Its image is built from its own files.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from release.source import export, version_of
from tests.cluster.node.images import HoldfastImage, load
from tests.cluster.node.paths import REPOSITORY

TAG = "previous"
INSTALLED = (
    "serveconfig",
    "proxy",
    "certs",
    "webhook",
    "cli",
    "Dockerfile",
    "requirements/webhook.txt",
    "manifests/base",
)
"""What an installation is made of: a commit that changes none of it makes no other image."""


@dataclass(frozen=True, slots=True)
class Previous:
    """Its files, and the image that the node has of them."""

    commit: str
    tree: Path
    image: str


@contextmanager
def on_the_node() -> Iterator[Previous]:
    """Its files in a folder, until the block ends; its image in our own node.

    Raises: CannotRunHereError if the image cannot be built or loaded.
    """
    commit = chosen(REPOSITORY)
    with TemporaryDirectory(prefix="holdfast-previous-") as folder:
        tree = export(REPOSITORY, commit, Path(folder))
        image = HoldfastImage(name=f"docker.io/holdfast/holdfast:{TAG}", tree=tree)
        load(image)
        yield Previous(commit, tree, image.name)


def chosen(repository: Path) -> str:
    """Which commit that is."""
    if named := os.environ.get("HOLDFAST_PREVIOUS"):
        return _git(repository, "rev-parse", f"{named}^{{commit}}")
    ours = f"v{version_of(repository)}"
    released = _git(repository, "tag", "--merged=HEAD", "--sort=-version:refname", "--list", "v*").split()
    if older := [tag for tag in released if tag != ours]:
        return _git(repository, "rev-parse", f"{older[0]}^{{commit}}")
    changed = _git(repository, "log", "-1", "--first-parent", "--format=%H", "--", *INSTALLED)
    return _git(repository, "rev-parse", f"{changed}^")


def _git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

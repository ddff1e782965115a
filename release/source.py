"""What a release is made of: one commit, with one version in it.

1. The version stands in pyproject.toml. Everywhere else it is repeated, and ``disagreements`` names who says otherwise.
2. Only what is committed is released: the commit is exported into a folder of its own, with the commit's time on it.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

_PLACES = {
    "manifests/chart/Chart.yaml": r"^(?:version|appVersion): (\S+)$",
    "manifests/base/deployment.yaml": r"holdfast/holdfast:([\w.+-]+)",
    "cli/commands.py": r'^IMAGE = "holdfast/holdfast:([\w.+-]+)"',
    "docs/install.md": r"holdfast:(\d[\w.+-]*)",
}


class ReleaseError(Exception):
    """Why there is no release. The text is one sentence for the maintainer."""


@dataclass(frozen=True, slots=True)
class Commit:
    """What git says of the commit that is checked out. ``time_s`` is in Unix time."""

    id: str
    time_s: int
    changed: tuple[str, ...]
    """Files that are not committed as they are."""
    tags: dict[str, str]
    """Every tag, and the commit that it is at."""


def version_of(tree: Path) -> str:
    """The one version."""
    return str(tomllib.loads((tree / "pyproject.toml").read_text())["project"]["version"])


def disagreements(tree: Path) -> Iterator[str]:
    """Each place that names another version, or none, as a sentence."""
    version = version_of(tree)
    for place, pattern in _PLACES.items():
        said = set(re.findall(pattern, (tree / place).read_text(), re.MULTILINE))
        if said != {version}:
            yield f"{place} says {' and '.join(sorted(said)) or 'nothing'}, pyproject.toml says {version}"


def objection(commit: Commit, version: str) -> str | None:
    """Why this commit must not be released as this version; None if it may. Pure."""
    if commit.changed:
        few = ", ".join(commit.changed[:3]) + (", ..." if len(commit.changed) > len(commit.changed[:3]) else "")
        return f"not everything is committed: {few}. A release is what a commit holds"
    tagged = commit.tags.get(f"v{version}", commit.id)
    if tagged != commit.id:
        return f"v{version} is released already, from {tagged[:12]}: write another version into pyproject.toml"
    return None


def commit_at(tree: Path) -> Commit:
    """Ask git.

    Raises: ReleaseError if it is no repository.
    """
    head, time_s = _git(tree, "log", "-1", "--format=%H %ct").decode().split()
    changed = _git(tree, "status", "--porcelain").decode().splitlines()
    listed = _git(
        tree, "tag", "--format=%(refname:short) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    )
    tags = dict(line.split() for line in listed.decode().splitlines())
    return Commit(head, int(time_s), tuple(line[3:] for line in changed), tags)


def export(tree: Path, commit_id: str, folder: Path) -> Path:
    """The commit's files in ``folder``, whose umask and clock do not show in them."""
    with tarfile.open(fileobj=BytesIO(_git(tree, "-c", "tar.umask=0022", "archive", commit_id))) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _git(tree: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", "-C", str(tree), *arguments], capture_output=True, check=False)
    if done.returncode:
        raise ReleaseError(f"git {arguments[0]}: {done.stderr.decode().strip()}")
    return done.stdout

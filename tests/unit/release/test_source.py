"""A release is one commit with one version in it, or a sentence on why it is none."""

import shutil
import subprocess
from pathlib import Path

import pytest

from release.source import Commit, ReleaseError, commit_at, disagreements, export, objection, version_of

ROOT = Path(__file__).parents[3]
PLACES = (
    "manifests/chart/Chart.yaml",
    "manifests/base/deployment.yaml",
    "cli/commands.py",
    "docs/install.md",
)
HEAD = "a" * 40


def git(folder, *arguments):
    who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """One commit, with one file."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init")
    (folder / "file").write_text("committed")
    git(folder, "add", "file")
    git(folder, "commit", "-m", "One")
    return folder


def test_this_tree_says_one_version_everywhere():
    assert list(disagreements(ROOT)) == []


@pytest.mark.parametrize("place", PLACES)
def test_a_place_with_another_version_is_named(tmp_path, place):
    for each in (*PLACES, "pyproject.toml"):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / each, tmp_path / each)
    version = version_of(ROOT)
    (tmp_path / place).write_text((tmp_path / place).read_text().replace(version, "9.9.9", 1))

    (said,) = disagreements(tmp_path)

    assert said.startswith(f"{place} says ")
    assert "9.9.9" in said
    assert said.endswith(f"pyproject.toml says {version}")


def test_what_is_not_committed_is_not_released():
    said = objection(Commit(HEAD, 0, ("a", "b", "c", "d"), {}), "1.0.0")

    assert said == "not everything is committed: a, b, c, .... A release is what a commit holds"


def test_a_version_is_released_once():
    said = objection(Commit(HEAD, 0, (), {"v1.0.0": "b" * 40}), "1.0.0")

    assert said == "v1.0.0 is released already, from bbbbbbbbbbbb: write another version into pyproject.toml"


@pytest.mark.parametrize("tags", [{}, {"v1.0.0": HEAD}, {"v0.9.0": "b" * 40}], ids=["none", "here", "another"])
def test_a_clean_commit_may_be_released_before_and_after_it_is_tagged(tags):
    assert objection(Commit(HEAD, 0, (), tags), "1.0.0") is None


def test_git_says_what_is_changed_and_which_commit_a_tag_is_at(repository):
    git(repository, "tag", "plain")
    git(repository, "tag", "--annotate", "--message=x", "annotated")
    (repository / "new file").write_text("")

    commit = commit_at(repository)

    assert commit.tags == {"plain": commit.id, "annotated": commit.id}
    assert commit.changed == ('"new file"',)


def test_what_is_exported_is_the_commit_and_has_its_time(repository, tmp_path):
    (repository / "file").write_text("changed since")
    (repository / "new").write_text("")
    commit = commit_at(repository)

    folder = export(repository, commit.id, tmp_path / "export")

    assert [path.name for path in folder.iterdir()] == ["file"]
    assert (folder / "file").read_text() == "committed"
    assert (folder / "file").stat().st_mtime == commit.time_s


def test_a_folder_without_git_is_a_sentence(tmp_path):
    with pytest.raises(ReleaseError, match=r"^git log: fatal: not a git repository"):
        commit_at(tmp_path)

"""Which Holdfast an upgrade starts from is read from the repository's history."""

import subprocess

import pytest

from tests.cluster.node.paths import REPOSITORY
from tests.cluster.previous import INSTALLED, chosen


class Repository:
    """Commits of one file each; the version is 2.0.0."""

    def __init__(self, folder):
        self.folder = folder
        self.git("init")
        self.commit("pyproject.toml", '[project]\nversion = "2.0.0"\n')

    def git(self, *arguments):
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
        command = ["git", *who, "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, file, text=""):
        path = self.folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        self.git("add", file)
        self.git("commit", "--allow-empty", "-m", file)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.delenv("HOLDFAST_PREVIOUS", raising=False)
    return Repository(tmp_path)


def test_before_the_first_release_it_is_what_was_before_the_last_change_of_what_is_installed(repository):
    repository.commit("proxy/app.py", "1")
    before = repository.commit("docs/page.md")
    repository.commit("proxy/app.py", "2")
    repository.commit("tests/test.py")

    assert chosen(repository.folder) == before


def test_it_is_the_newest_release_by_number_and_not_this_one(repository):
    first = repository.commit("proxy/a.py")
    repository.git("tag", "v1.9.0")
    second = repository.commit("proxy/b.py")
    repository.git("tag", "--annotate", "--message=x", "v1.10.0")
    repository.commit("proxy/c.py")
    repository.git("tag", "v2.0.0")

    assert first != second
    assert chosen(repository.folder) == second


def test_another_one_may_be_named(repository, monkeypatch):
    first = repository.commit("proxy/a.py")
    repository.git("tag", "--annotate", "--message=x", "old")
    repository.commit("proxy/b.py")
    monkeypatch.setenv("HOLDFAST_PREVIOUS", "old")

    assert chosen(repository.folder) == first


@pytest.mark.parametrize("path", INSTALLED)
def test_what_an_installation_is_made_of_is_there(path):
    assert (REPOSITORY / path).exists()

"""What is wrong with a release is found, and named."""

import json
import subprocess

import pytest

from release import checks
from release.image import objection
from release.parts import helm, run
from release.source import ReleaseError

LOCK = """\
aiohttp==3.14.5 \\
    --hash=sha256:00
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:11
    # via x
"""
COMPONENTS = [{"name": "aiohttp", "version": "3.14.5"}, {"name": "colorama", "version": "0.4.6"}]


@pytest.fixture
def two(tmp_path):
    """Two folders with the same two files."""
    for name in ("once", "again"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("a")
        (tmp_path / name / "b").write_text("b")
    return tmp_path / "once", tmp_path / "again"


def test_what_was_built_twice_is_the_same(two):
    checks.same_bytes(*two)


@pytest.mark.parametrize("content", ["other", None], ids=["differs", "missing"])
def test_what_differs_between_two_builds_is_named(two, content):
    changed = two[1] / "b"
    changed.unlink() if content is None else changed.write_text(content)

    with pytest.raises(ReleaseError, match=r"^built twice, and not the same: b$"):
        checks.same_bytes(*two)


def test_the_sums_are_those_that_sha256sum_checks(two):
    checks.write_sums(two[0])

    done = subprocess.run(
        ["sha256sum", "--check", "--strict", checks.SUMS], cwd=two[0], capture_output=True, text=True, check=True
    )
    assert done.stdout == "a: OK\nb: OK\n"


def test_a_lock_is_read_with_its_markers_and_continued_lines():
    assert checks.locked(LOCK) == {("aiohttp", "3.14.5"), ("colorama", "0.4.6")}


def bills(folder, components):
    (folder / "requirements").mkdir()
    for lock in ("runtime", "webhook"):
        (folder / "requirements" / f"{lock}.txt").write_text(LOCK)
        (folder / f"holdfast-1-{lock}.cdx.json").write_text(json.dumps({"components": components}))


def test_a_bill_that_names_what_is_locked_passes(tmp_path):
    bills(tmp_path, COMPONENTS)

    checks.bills_name_what_is_locked(tmp_path, tmp_path)


@pytest.mark.parametrize(
    "components",
    [COMPONENTS[:1], [*COMPONENTS, {"name": "colorama", "version": "9"}]],
    ids=["one-less", "one-more"],
)
def test_a_bill_that_names_less_or_more_is_refused(tmp_path, components):
    bills(tmp_path, components)

    with pytest.raises(ReleaseError, match=r"^holdfast-1-runtime\.cdx\.json and the lock differ in .*colorama"):
        checks.bills_name_what_is_locked(tmp_path, tmp_path)


def test_a_base_image_without_a_digest_is_refused():
    assert objection("python:3.11").startswith("the base image python:3.11 has no digest")


def test_without_buildah_the_rest_can_be_made(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    assert objection("python@sha256:00") == (
        "there is no buildah: install it, or make the rest of the release with IMAGE_BASE="
    )


def test_without_helm_there_is_no_chart(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("HELM", raising=False)

    with pytest.raises(ReleaseError, match=r"^there is no helm: install it, name it in \$HELM"):
        helm(tmp_path)


def test_a_program_that_fails_says_why():
    with pytest.raises(ReleaseError, match=r"`false` failed"):
        run(["false"])

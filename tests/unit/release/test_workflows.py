"""The workflows do what anyone can do by hand, with as few rights and as little of others' code as they can."""

import re
from pathlib import Path

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).parents[3] / ".github" / "workflows").glob("*.yml"))


def steps(workflow):
    return [step for job in yaml.safe_load(workflow.read_text())["jobs"].values() for step in job["steps"]]


def test_there_is_one_for_a_change_and_one_for_a_tag():
    triggers = {path.stem: yaml.safe_load(path.read_text())[True] for path in WORKFLOWS}  # YAML 1.1: `on` is true

    assert triggers == {
        "ci": {"push": {"branches": ["main"]}, "pull_request": None},
        "release": {"push": {"tags": ["v*"]}},
    }


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_an_action_is_a_commit_with_its_version_beside_it(workflow):
    used = [step["uses"] for step in steps(workflow) if "uses" in step]

    assert used
    assert len(used) == len(re.findall(r"uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n", workflow.read_text()))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_only_the_job_that_drafts_a_release_may_write(workflow):
    parsed = yaml.safe_load(workflow.read_text())
    more = {name: job["permissions"] for name, job in parsed["jobs"].items() if "permissions" in job}

    assert parsed["permissions"] == {"contents": "read"}
    assert more == ({"draft": {"contents": "write"}} if workflow.stem == "release" else {})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_nothing_of_an_event_is_pasted_into_a_script(workflow):
    for step in steps(workflow):
        assert "${{" not in step.get("run", "")


def test_they_run_what_a_contributor_and_a_maintainer_run():
    scripts = {path.stem: " ".join(step.get("run", "") for step in steps(path)) for path in WORKFLOWS}

    assert "bash .ci/run" in scripts["ci"]
    assert "make release" in scripts["release"]

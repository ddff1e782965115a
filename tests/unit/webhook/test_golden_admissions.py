"""Every folder of ``tests/golden/admission`` is a case; most hold what real KubeRay sent to a real API server."""

import json

import msgspec
import pytest

from tests.golden.admission_cases import FOLDER, Case, all_cases
from webhook.review import Request

CASES = all_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_admitted_as_its_folder_says(case: Case):
    expected = json.loads((FOLDER / case.name / "expected.json").read_text())

    assert expected == case.outcome()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_admitting_twice_changes_nothing(case: Case):
    """Kubernetes calls again on our own output (reinvocationPolicy)."""
    once = case.admitted()
    again = Case(case.name, {**case.review, "request": {**case.review["request"], "object": once}}, case.context)

    assert once == again.admitted()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_container_zero_stays_rays_and_nothing_that_was_there_changes(case: Case):
    """KubeRay takes container 0 for Ray's; and nobody but its owner changes a container of a pod."""
    if case.review["request"]["kind"]["kind"] != "Pod":
        return
    before, after = case.review["request"]["object"]["spec"], case.admitted()["spec"]

    for part in ("containers", "volumes"):
        assert before[part] == after[part][: len(before[part])]


def test_the_object_under_review_is_left_as_it_was():
    """A decision makes a new object; the old one is needed for the difference."""
    for case in CASES:
        request = Request.parse(msgspec.json.encode(case.review))
        before = msgspec.json.encode(request.object)
        case.decide(request)

        assert before == msgspec.json.encode(request.object), case.name

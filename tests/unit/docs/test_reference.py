import re
from pathlib import Path

import pytest

from docs.reference import PAGES
from serveconfig.journal import Finding
from webhook.notices import WHAT_TO_DO, Reason

DOCS = Path(__file__).parents[3] / "docs"
PROSE = [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")]


@pytest.mark.parametrize("page", PAGES)
def test_a_reference_page_says_what_the_code_says(page):
    assert PAGES[page]() == (DOCS / page).read_text(), "run: make docs"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_a_link_to_a_file_leads_there(page):
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_event_says_what_has_happened_and_every_warning_what_to_do():
    assert WHAT_TO_DO.keys() == set(Reason)
    for reason, (what, todo) in WHAT_TO_DO.items():
        assert what, reason
        assert bool(todo) is reason.is_warning, reason


def test_what_a_sidecar_finds_out_is_a_reason_of_an_event():
    assert {str(finding) for finding in Finding} <= {str(reason) for reason in Reason}

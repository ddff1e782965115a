import re
from pathlib import Path

import pytest

from docs.reference import PAGES

DOCS = Path(__file__).parents[3] / "docs"
PROSE = [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")]


@pytest.mark.parametrize("page", PAGES)
def test_a_reference_page_says_what_the_code_says(page):
    assert PAGES[page]() == (DOCS / page).read_text(), "run: make docs"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_a_link_to_a_file_leads_there(page):
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())

    assert [target for target in targets if not (page.parent / target).exists()] == []

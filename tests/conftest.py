"""Where a test lies says what it needs: the folder below tests/ is its marker."""

import os
from pathlib import Path

import hypothesis
import pytest

# A whole run of the unit tests stays under 10 s. To search longer: HYPOTHESIS_MAX_EXAMPLES=5000 make unit
hypothesis.settings.register_profile(
    "house", max_examples=int(os.environ.get("HYPOTHESIS_MAX_EXAMPLES", "40")), deadline=None
)
hypothesis.settings.load_profile("house")

TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(getattr(pytest.mark, item.path.relative_to(TESTS).parts[0]))

"""Where a test lies says what it needs: the folder below tests/ is its marker."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(getattr(pytest.mark, item.path.relative_to(TESTS).parts[0]))

"""The same bytes, direct and through the relay: the answer and what the upstream saw are the same."""

import pytest

from tests.differential.cases import CASES
from tests.differential.play import differences


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_g9_through_the_relay_it_is_the_same_as_without(case, relay):
    assert await differences(case, relay.port, relay.upstream_port) == []


def test_the_cases_are_at_least_108():
    assert len(CASES) >= 108

"""Two relays, in processes of their own: one on uvloop, as in production, one on asyncio's own loop."""

import pytest

from tests.differential.proxies import running


@pytest.fixture(scope="session", params=["uvloop", "asyncio"])
def relay(request):
    with running("tests.differential.peers", "--loop", request.param) as proxy:
        yield proxy

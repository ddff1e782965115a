import datetime as dt

import pytest
from prometheus_client import CollectorRegistry

from certs.metrics import CertificateMetrics
from certs.place import Place
from tests.fakes.kubernetes import Kubernetes, connected

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def place():
    return Place()


@pytest.fixture
def metrics():
    return CertificateMetrics(CollectorRegistry())


@pytest.fixture
def kubernetes():
    return Kubernetes()


@pytest.fixture
async def api(kubernetes):
    async with connected(kubernetes) as api:
        yield api

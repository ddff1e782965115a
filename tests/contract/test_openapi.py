"""The REST API does what its OpenAPI document says: schemathesis makes the requests, valid ones and others."""

import asyncio
import threading

import hypothesis
import pytest
import schemathesis
from schemathesis.specs.openapi.checks import positive_data_acceptance

from proxy.openapi import DOCUMENT
from tests.fakes.dashboard import FakeRay
from tests.ray.sidecar import Sidecar

schema = schemathesis.openapi.from_dict(DOCUMENT)
# A precondition that does not hold refuses whatever the body is.
schema.config.checks.negative_data_rejection.expected_statuses.append("412")


@pytest.fixture(scope="module")
def ray():
    """A fake Ray in a thread of its own: schemathesis' requests block the one they are made in."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    fake = FakeRay("2.60.0")
    asyncio.run_coroutine_threadsafe(fake.listen(), loop).result(10)
    yield fake
    asyncio.run_coroutine_threadsafe(fake.hang_up(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def sidecar(ray, tmp_path_factory):
    proxy = Sidecar(ray.url, tmp_path_factory.mktemp("sidecar"))
    yield proxy
    proxy.kill()


@schema.parametrize()
@hypothesis.settings(max_examples=25, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
def test_g10_every_answer_is_one_that_the_document_promises(case, sidecar):
    # what fits the schema may still be refused: by Ray (an import path), by a precondition, by the name in the path
    case.call_and_validate(base_url=sidecar.url, excluded_checks=[positive_data_acceptance])


def test_the_document_is_valid_openapi():
    assert schema.raw_schema == DOCUMENT
    schema.validate()

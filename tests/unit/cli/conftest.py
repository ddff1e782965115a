import pytest

from tests.unit.cli.serve_double import ServeDouble


@pytest.fixture
def serve():
    double = ServeDouble()
    yield double
    double.close()

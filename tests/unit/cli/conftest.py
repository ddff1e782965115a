import pytest

from tests.unit.cli.serve_double import ServeDouble
from tests.unit.cli.sidecar_double import Head


@pytest.fixture
def serve():
    double = ServeDouble()
    yield double
    double.close()


@pytest.fixture
def head(tmp_path, monkeypatch):
    """A head with one application of KubeRay's, one of REST and one of serve.run."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    head = Head(tmp_path)
    head.kuberay_puts({"name": "fruit", "route_prefix": "/fruit", "import_path": "served:echo"})
    yield head
    head.close()

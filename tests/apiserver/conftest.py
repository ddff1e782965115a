"""One API server for all tests of this folder, with Holdfast installed as a user would."""

import contextlib
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from kubernetes_asyncio import client

from certs.apiserver import MERGE_PATCH, ApiError, ApiServer
from tests.apiserver.control_plane import TOKEN, running
from tests.apiserver.crds import CERT_MANAGER, KUBERAY, definitions

MANIFESTS = Path(__file__).parents[2] / "manifests"


def install_definitions(cluster):
    for crds in (
        definitions(KUBERAY, "1.6.2", "ray.io_rayclusters.yaml", "ray.io_rayservices.yaml"),
        definitions(CERT_MANAGER, "1.16.2", "crd-issuers.yaml", "crd-certificates.yaml"),
    ):
        applied = cluster.kubectl("apply", "--server-side", "--filename=-", feed=crds)
        assert applied.returncode == 0, applied.stderr
    kinds = ("rayclusters.ray.io", "rayservices.ray.io", "issuers.cert-manager.io", "certificates.cert-manager.io")
    for _ in range(60):  # kubectl wait gives up on a definition that has no conditions yet
        if all(cluster.kubectl("get", kind).returncode == 0 for kind in kinds):
            return
        time.sleep(1)
    pytest.fail("the resource definitions are not served after a minute")


@contextlib.contextmanager
def installed():
    """An API server with KubeRay's definitions, on which ``kubectl apply -k manifests/base`` has been run."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-apiserver-"))
    try:
        with running(folder) as cluster:
            install_definitions(cluster)
            applied = cluster.kubectl("apply", f"--kustomize={MANIFESTS}/base")
            assert (applied.returncode, applied.stderr) == (0, "")
            yield cluster
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster():
    with installed() as cluster:
        yield cluster


@pytest.fixture
async def as_(cluster):
    """Connections by token: of the administrator, or of a service account."""
    opened = []

    def connect(token):
        settings = client.Configuration(host=cluster.url, api_key={"BearerToken": f"Bearer {token}"})
        settings.verify_ssl = False
        opened.append(client.ApiClient(settings))
        return ApiServer(opened[-1])

    yield connect
    for each in opened:
        await each.close()


@pytest.fixture
async def api(as_):
    return as_(TOKEN)


@pytest.fixture
async def webhook_token(api):
    """Of the service account that the webhook runs as."""
    path = "/api/v1/namespaces/holdfast/serviceaccounts/holdfast-webhook/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    issued = await api.call("POST", path, body=request)
    return issued["status"]["token"]


@pytest.fixture
async def webhook_api(webhook_token, as_):
    """The API server as the webhook sees it: with the rights of its service account and no more."""
    return as_(webhook_token)


@pytest.fixture
async def opted_in(api):
    """A namespace that takes part, with the service account that pods need."""
    labels = {"holdfast.dev/inject": "enabled"}
    for path, manifest in (
        ("/api/v1/namespaces", {"metadata": {"name": "team"}}),
        ("/api/v1/namespaces/team/serviceaccounts", {"metadata": {"name": "default"}}),
    ):
        with contextlib.suppress(ApiError):  # there since the last test
            await api.create(path, manifest)
    await api.patch("/api/v1/namespaces/team", {"metadata": {"labels": labels}}, MERGE_PATCH)
    return "team"

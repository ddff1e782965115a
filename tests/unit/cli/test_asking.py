"""What stands between a dry run and a sidecar that does not know of them; and namespaces as kubectl has them."""

import json

import pytest

from certs.apiserver import Login
from cli.apps import reaching
from cli.apps.asking import Sidecar
from cli.apps.errors import NotReachedError, RefusedError
from cli.apps.reaching import Answer
from serveconfig.document import Application

MODEL = Application.parse(b'{"name": "model"}')


class Played:
    """Answers every request alike, and keeps what was asked."""

    def __init__(self, status=200, body=b"{}"):
        self.answer, self.asked = Answer(status, {}, body), []

    async def ask(self, method, path, _headers, _body=None):
        self.asked.append((method, path))
        return self.answer


async def test_g10_a_sidecar_that_does_not_know_of_dry_runs_is_not_sent_one():
    old = Played(body=json.dumps({"paths": {}}).encode())

    with pytest.raises(RefusedError, match="Nothing was changed"):
        await Sidecar(old, {}).expect_dry_run()
    assert old.asked == [("GET", "/-/openapi.json")]


async def test_what_ray_does_not_show_yet_is_told():
    assert await Sidecar(Played(202), {}).put(MODEL) == "accepted; Ray does not show it yet"
    assert await Sidecar(Played(200), {}).put(MODEL) == "applied"


async def test_gone_at_once_is_deleted():
    assert await Sidecar(Played(204), {}).delete("model") == "deleted"


async def test_only_a_404_means_that_there_is_none():
    assert await Sidecar(Played(404), {}).get("model") is None
    with pytest.raises(RefusedError, match="HTTP 503: busy"):
        await Sidecar(Played(503, b"busy"), {}).get("model")


async def test_an_answer_that_is_no_json_is_no_sidecars():
    with pytest.raises(NotReachedError, match="no sidecar of Holdfast"):
        await Sidecar(Played(200, b"<html>"), {}).list()


def test_in_a_pod_the_namespace_is_the_pods_own(tmp_path, monkeypatch):
    (tmp_path / "namespace").write_text("team\n")
    monkeypatch.setattr(reaching, "_IN_POD_NAMESPACE", tmp_path / "namespace")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.delenv("KUBECONFIG", raising=False)

    assert reaching._namespace(Login()) == "team"
    assert reaching._namespace(Login(kubeconfig=str(tmp_path / "none"))) == "default"

"""The webhook as a process: how it starts, how it says that it cannot, how it goes."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest

from certs.authority import first
from certs.renewal import Terms

COMMAND = [sys.executable, "-m", "webhook"]
IMAGE = {"HOLDFAST_WEBHOOK_SIDECAR_IMAGE": "holdfast:1"}


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Everything it needs, with an API server that is away."""
    kubeconfig = folder / "kubeconfig"
    cluster = {"cluster": {"server": "http://127.0.0.1:9"}, "name": "c"}
    context = {"context": {"cluster": "c", "user": "u"}, "name": "x"}
    users = [{"name": "u", "user": {"token": "t"}}]
    kubeconfig.write_text(
        json.dumps({"clusters": [cluster], "contexts": [context], "users": users, "current-context": "x"})
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST_", "KUBERNETES_"))}
    return kept | {"KUBECONFIG": str(kubeconfig), "HOME": str(folder)} | more


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        ({}, 2, "HOLDFAST_WEBHOOK_SIDECAR_IMAGE is not set"),
        ({**IMAGE, "HOLDFAST_WEBHOOK_LISTEN": "nowhere"}, 2, "HOLDFAST_WEBHOOK_LISTEN: 'nowhere' is not HOST:PORT"),
        ({**IMAGE, "KUBECONFIG": "/nowhere"}, 1, "cannot start"),
    ],
    ids=["no-image", "no-address", "no-cluster"],
)
def test_what_keeps_it_from_starting_is_a_sentence(tmp_path, more, code, said):
    done = subprocess.run(
        COMMAND, env=environment(tmp_path, **more), capture_output=True, text=True, timeout=60, check=False
    )

    assert code == done.returncode
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_a_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = {"HOLDFAST_WEBHOOK_LISTEN": f"127.0.0.1:{taken.getsockname()[1]}"}
        env = environment(tmp_path, **IMAGE, **listen)
        done = subprocess.run(COMMAND, env=env, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 1
    assert "address already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_g11_it_serves_tls_with_the_api_server_away_and_goes_when_told(tmp_path):
    bundle = first(("localhost",), Terms(), datetime.now(UTC))
    (tmp_path / "tls.crt").write_bytes(bundle.serving.cert_pem)
    (tmp_path / "tls.key").write_bytes(bundle.serving.key_pem)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    listen = {"HOLDFAST_WEBHOOK_LISTEN": f"127.0.0.1:{port}", "HOLDFAST_CERTIFICATES": str(tmp_path)}
    trust = ssl.create_default_context(cadata=bundle.trust_pem().decode())

    with subprocess.Popen(COMMAND, env=environment(tmp_path, **IMAGE, **listen), stderr=subprocess.PIPE) as process:
        try:
            assert until_answered(f"https://localhost:{port}/healthz", trust) == 200
            assert until_answered(f"https://localhost:{port}/readyz", trust) == 503
        finally:
            process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1].decode()

    assert process.returncode == 0, said
    assert [
        json.loads(line)["level"] for line in said.splitlines() if '"critical"' in line or '"error":' in line[:40]
    ] == []


def until_answered(url: str, trust: ssl.SSLContext) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, context=trust, timeout=5) as answer:  # noqa: S310 - loopback
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)

import os

import pytest

from cli.demo.sidecar import SidecarError, listening_port, sidecar
from cli.demo.wire import NoAnswerError, exchange, host


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (b"", None),
        (b'{"msg": "starting"}\n', None),
        (b'{"msg": "starting"}\n{"msg": "listening", "port": 4711}\n', 4711),
        (b'{"msg": "liste', None),
        (b"Traceback ...\n\xff\n[1]\n", None),
    ],
)
def test_the_port_is_in_the_log(log, expected):
    assert expected == listening_port(log)


def health(url):
    return exchange(url, "GET", "/-/healthz", headers=(("Host", host(url)),), timeout_s=5).status


def test_a_real_proxy_answers_as_long_as_it_is_wanted(tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_LISTEN", "not an address")
    with sidecar("http://127.0.0.1:9", tmp_path, environ={}) as url:
        assert health(url) == 200

    with pytest.raises(NoAnswerError):
        health(url)


def test_a_proxy_that_does_not_start_says_why_in_its_last_words(tmp_path):
    with (
        pytest.raises(SidecarError, match="HOLDFAST_GRACE_S"),
        sidecar("http://127.0.0.1:9", tmp_path, environ={"HOLDFAST_GRACE_S": "soon"}),
    ):
        os.abort()

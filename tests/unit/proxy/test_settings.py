from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.settings import Address, Settings, SettingsError

addresses = st.builds(Address, st.sampled_from(["127.0.0.1", "::1", "ray-head.ns.svc"]), st.integers(1, 65535))
settings = st.builds(
    Settings,
    listen=addresses,
    listen_agent=st.none() | addresses,
    state_dir=st.text(min_size=1),
    allow_loss=st.booleans(),
    answer_within_s=st.floats(0.1, 100),
    max_config_bytes=st.integers(1, 1 << 40),
)


@given(settings)
def test_what_is_written_to_the_environment_is_read_again(chosen):
    assert chosen == Settings.from_env(chosen.to_env())


def test_defaults_are_not_written():
    assert Settings().to_env() == {}
    assert replace(Settings(), allow_loss=True).to_env() == {"HOLDFAST_ALLOW_LOSS": "true"}


def test_all_faults_are_reported_at_once():
    environ = {
        "HOLDFAST_LISTEN": "nowhere",
        "HOLDFAST_ALLOW_LOSS": "maybe",
        "HOLDFAST_STALE_FOR_S": "-1",
        "HOLDFAST_GRACE_S": "soon",
        "HOLDFAST_UPSTREAM": "https://ray:8265",
    }

    with pytest.raises(SettingsError) as refused:
        Settings.from_env(environ)

    assert len(environ) == len(str(refused.value).splitlines())
    assert all(variable in str(refused.value) for variable in environ)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8265", Address("127.0.0.1", 8265)),
        ("http://127.0.0.1:8265", Address("127.0.0.1", 8265)),
        ("http://ray:8265/", Address("ray", 8265)),
        ("[::1]:8265", Address("::1", 8265)),
    ],
)
def test_an_address_is_read(text, address):
    assert address == Address.parse(text)


@pytest.mark.parametrize("text", ["", "8265", ":8265", "ray", "ray:x", "ray:70000", "http://ray:1/path", "ftp://ray:1"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        Address.parse(text)


def test_kuberays_patience_is_not_used_up():
    """KubeRay gives up after 2 s, and after 10 s through the API server (facts on KubeRay: 1.1)."""
    assert Settings().answer_within_s < 2
    assert Settings().answer_within_proxied_s < 10

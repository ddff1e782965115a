import base64
import datetime as dt

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given
from hypothesis import strategies as st

from certs import authority
from certs.bundle import Bundle, UnreadableBundleError
from certs.renewal import Terms

BUNDLE = authority.first(("a.svc",), Terms(), dt.datetime(2026, 12, 1, tzinfo=dt.UTC))
SECRET = BUNDLE.to_secret()
RSA = rsa.generate_private_key(65537, 2048).private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
)


def test_what_is_written_to_a_secret_is_read_back():
    assert Bundle.from_secret(SECRET) == BUNDLE


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"tls.key": None}, "tls.key is missing"),
        ({"tls.crt": "not base64!"}, "a value is not base64"),
        ({"tls.crt": ""}, "a certificate is not PEM"),
        ({"ca.crt": base64.b64encode(b"x").decode()}, "a certificate is not PEM"),
        ({"ca.key": base64.b64encode(b"x").decode()}, "a private key is not PEM, or has a password"),
        ({"tls.key": base64.b64encode(RSA).decode()}, "a private key is not an elliptic curve key"),
    ],
    ids=str,
)
def test_a_secret_that_holds_no_bundle_is_refused_with_what_is_wrong(change, complaint):
    data = {name: value for name, value in {**SECRET, **change}.items() if value is not None}

    with pytest.raises(UnreadableBundleError, match=complaint):
        Bundle.from_secret(data)


def base64_text(content):
    return base64.b64encode(content).decode()


@given(st.dictionaries(st.sampled_from(sorted(SECRET)), st.binary(max_size=200).map(base64_text), min_size=1))
def test_any_secret_is_a_bundle_or_refused_and_nothing_of_it_is_quoted(change):
    with pytest.raises(UnreadableBundleError) as refused:
        Bundle.from_secret({**SECRET, **change})

    assert refused.value.__cause__ is None
    assert len(str(refused.value)) < 100


def test_no_key_shows_in_what_is_printed():
    printed = repr(BUNDLE) + str(BUNDLE) + f"{BUNDLE.authority}{BUNDLE.serving}"

    assert "PRIVATE KEY" not in printed
    assert "CERTIFICATE" in printed

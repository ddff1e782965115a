import datetime as dt
import subprocess

import pytest
from cryptography import x509

from certs import authority
from certs.renewal import Due, Reason, Terms

NAMES = ("holdfast-webhook.holdfast.svc", "holdfast-webhook.holdfast.svc.cluster.local")
NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
DAY = dt.timedelta(days=1)
TERMS = Terms()
AGING = Due(Reason.AUTHORITY_AGING, authority=True, serving=False)
REPLACED = Due(Reason.AUTHORITY_REPLACED, authority=False, serving=True)


def openssl_verify(folder, trust_pem, cert_pem, *, name=NAMES[0], at=NOW):
    """Someone else's eyes: the openssl program, strict, as a server's certificate, for a name, at a time."""
    (folder / "trust.pem").write_bytes(trust_pem)
    (folder / "cert.pem").write_bytes(cert_pem)
    command = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", name]
    command += ["-attime", str(int(at.timestamp())), "-CAfile", str(folder / "trust.pem"), str(folder / "cert.pem")]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)


def test_openssl_accepts_what_was_made_for_the_names_of_the_service(tmp_path):
    bundle = authority.first(NAMES, TERMS, NOW)

    for name in NAMES:
        verified = openssl_verify(tmp_path, bundle.trust_pem(), bundle.serving.cert_pem, name=name)
        assert (verified.returncode, verified.stderr) == (0, "")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "kubernetes.default.svc"}, "hostname mismatch"),
        ({"at": NOW + 31 * DAY}, "certificate has expired"),
        ({"at": NOW - DAY}, "certificate is not yet valid"),
    ],
    ids=["another name", "too late", "too early"],
)
def test_openssl_refuses_it_elsewhere_and_at_other_times(tmp_path, changes, complaint):
    bundle = authority.first(NAMES, TERMS, NOW)

    assert complaint in openssl_verify(tmp_path, bundle.trust_pem(), bundle.serving.cert_pem, **changes).stderr


def test_during_a_change_openssl_accepts_the_old_certificate_and_the_new_one(tmp_path):
    """Each replica serves its own for a while, and the API server has one caBundle for both."""
    old = authority.first(NAMES, TERMS, NOW)
    between = authority.renew(AGING, old, NAMES, TERMS, NOW + DAY)
    new = authority.renew(REPLACED, between, NAMES, TERMS, NOW + DAY)

    assert old.serving == between.serving
    for bundle in (old, new):
        at = NOW + 2 * DAY
        assert openssl_verify(tmp_path, between.trust_pem(), bundle.serving.cert_pem, at=at).returncode == 0
    assert openssl_verify(tmp_path, old.trust_pem(), new.serving.cert_pem, at=NOW + 2 * DAY).returncode != 0


def test_an_authority_that_is_over_is_trusted_no_longer():
    bundle = authority.first(NAMES, TERMS, NOW)
    late = authority.renew(AGING, bundle, NAMES, TERMS, NOW + 364 * DAY)
    later = authority.renew(AGING, late, NAMES, TERMS, NOW + 366 * DAY)

    assert (bundle.authority.cert_pem,) == late.retired_pem
    assert (late.authority.cert_pem,) == later.retired_pem


def test_a_certificate_never_outlives_its_authority():
    bundle = authority.first(NAMES, TERMS, NOW)
    late = authority.sign(bundle.authority, NAMES, TERMS, NOW + 360 * DAY)

    assert bundle.authority.certificate().not_valid_after_utc == late.certificate().not_valid_after_utc


def test_the_authority_can_sign_certificates_but_no_other_authorities():
    constraints = (
        authority.new_authority(TERMS, NOW).certificate().extensions.get_extension_for_class(x509.BasicConstraints)
    )

    assert (constraints.value.ca, constraints.value.path_length, constraints.critical) == (True, 0, True)


def test_a_long_name_is_no_obstacle(tmp_path):
    """A common name has 64 characters at most, the names of a Service may have 63 + 63 and more."""
    name = f"{'s' * 63}.{'n' * 63}.svc"
    bundle = authority.first((name,), TERMS, NOW)

    assert openssl_verify(tmp_path, bundle.trust_pem(), bundle.serving.cert_pem, name=name).returncode == 0

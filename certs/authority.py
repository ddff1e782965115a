"""Makes an authority, and signs a serving certificate with it. Given the time; no I/O (the keys are random).

What Go, which the API server is written in, asks of a certificate: names in ``subjectAltName`` (the common name is
ignored since Go 1.15), ``serverAuth`` among the extended usages, an authority that may sign. OpenSSL in strict mode
asks for the key identifiers too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from certs.bundle import Bundle, Pair, parse_certificates, print_certificate
from certs.renewal import Due, Terms

_COMMON_NAME_CHARACTERS = 64
"""The longest common name that X.509 allows (RFC 5280, appendix A: ub-common-name)."""


def renew(due: Due, previous: Bundle | None, names: Sequence[str], terms: Terms, now: datetime) -> Bundle:
    """The bundle after ``due``.

    A new authority retires the previous one, which stays trusted as long as it is valid. A serving certificate that
    need not be renewed stays as it is: it was signed by an authority that is still trusted.
    """
    if previous is None:
        return first(names, terms, now)
    authority, retired = previous.authority, previous.retired_pem
    if due.authority:
        authority, retired = new_authority(terms, now), (authority.cert_pem, *retired)
    serving = sign(authority, names, terms, now) if due.serving else previous.serving
    return Bundle(authority, tuple(pem for pem in retired if _outlives(pem, now - terms.skew)), serving)


def first(names: Sequence[str], terms: Terms, now: datetime) -> Bundle:
    """A bundle where there was none."""
    authority = new_authority(terms, now)
    return Bundle(authority, (), sign(authority, names, terms, now))


def new_authority(terms: Terms, now: datetime) -> Pair:
    """An authority of its own, valid from ``terms.skew`` ago for ``terms.authority_life`` from now.

    Its name carries its serial number: two authorities with one name would have to be told apart by their keys, which
    not every verifier does well.
    """
    key, serial = _new_key(), x509.random_serial_number()
    name = _name(f"holdfast-ca-{serial:x}")
    usage = _usage(key_cert_sign=True, crl_sign=True)
    certificate = (
        _unsigned(key.public_key(), name, name, serial)
        .not_valid_before(now - terms.skew)
        .not_valid_after(now + terms.authority_life)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    return _pair(certificate, key)


def sign(authority: Pair, names: Sequence[str], terms: Terms, now: datetime) -> Pair:
    """A certificate for a server with these DNS names; never valid for longer than its authority."""
    issuer, key, serial = authority.certificate(), _new_key(), x509.random_serial_number()
    certificate = (
        _unsigned(key.public_key(), issuer.subject, _name(names[0]), serial)
        .not_valid_before(max(now - terms.skew, issuer.not_valid_before_utc))
        .not_valid_after(min(now + terms.serving_life, issuer.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key().public_key()), critical=False)
        .sign(authority.key(), hashes.SHA256())
    )
    return _pair(certificate, key)


def _outlives(certificate_pem: bytes, moment: datetime) -> bool:
    return parse_certificates(certificate_pem)[0].not_valid_after_utc > moment


def _unsigned(
    key: ec.EllipticCurvePublicKey, issuer: x509.Name, subject: x509.Name, serial: int
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key)
        .serial_number(serial)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        encipher_only=False,
        decipher_only=False,
    )


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name[:_COMMON_NAME_CHARACTERS])])


def _pair(certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Pair:
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return Pair(print_certificate(certificate), pem)

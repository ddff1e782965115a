"""An authority, the certificate that it signed, and the authorities to trust. A value; keys never show in it. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

CERT, KEY = "tls.crt", "tls.key"
"""As in a Secret of type ``kubernetes.io/tls``, and in a folder that cert-manager fills."""

CA_CERT, CA_KEY = "ca.crt", "ca.key"
"""``ca.crt`` is what to trust: the authority that signs first, then those it has replaced."""

_IN_SECRET = (CERT, KEY, CA_CERT, CA_KEY)


class UnreadableBundleError(Exception):
    """What lies in the Secret or folder is no certificate with its key. The text says which part, never its content."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    cert_pem: bytes
    key_pem: bytes = field(repr=False)

    def certificate(self) -> x509.Certificate:
        """The certificate, parsed.

        Raises:
            UnreadableBundleError: it is none.
        """
        return parse_certificates(self.cert_pem)[0]

    def key(self) -> ec.EllipticCurvePrivateKey:
        """The key, parsed.

        Raises:
            UnreadableBundleError: it is none that Holdfast makes (an elliptic curve key without a password).
        """
        try:
            key = serialization.load_pem_private_key(self.key_pem, password=None)
        except (ValueError, TypeError):
            # Without its cause: the parser's message may quote what it could not read.
            raise UnreadableBundleError("a private key is not PEM, or has a password") from None
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise UnreadableBundleError("a private key is not an elliptic curve key")
        return key

    def belongs_together(self) -> bool:
        """Is the key the one that the certificate is about?

        Raises:
            UnreadableBundleError: one of them cannot be read.
        """
        return self.certificate().public_key() == self.key().public_key()


@dataclass(frozen=True, slots=True)
class Bundle:
    """All that the webhook's replicas share."""

    authority: Pair
    """Signs the next serving certificate."""

    retired_pem: tuple[bytes, ...]
    """Certificates of earlier authorities that are still trusted; their keys are gone."""

    serving: Pair

    def trust_pem(self) -> bytes:
        """What a client must trust, now and during a change: the value of ``caBundle``."""
        return b"".join((self.authority.cert_pem, *self.retired_pem))

    def to_secret(self) -> dict[str, str]:
        """The ``data`` of a Secret: base64."""
        values = {
            CERT: self.serving.cert_pem,
            KEY: self.serving.key_pem,
            CA_CERT: self.trust_pem(),
            CA_KEY: self.authority.key_pem,
        }
        return {name: base64.b64encode(value).decode() for name, value in values.items()}

    @classmethod
    def from_secret(cls, data: Mapping[str, str]) -> Bundle:
        """Read the ``data`` of a Secret.

        Raises:
            UnreadableBundleError: a key is missing, or a value is not base64 or not PEM.
        """
        try:
            cert, key, trust, ca_key = (base64.b64decode(data[name], validate=True) for name in _IN_SECRET)
        except KeyError as missing:
            raise UnreadableBundleError(f"{missing.args[0]} is missing") from None
        except binascii.Error:
            raise UnreadableBundleError("a value is not base64") from None
        authority, *retired = (print_certificate(certificate) for certificate in parse_certificates(trust))
        bundle = cls(Pair(authority, ca_key), tuple(retired), Pair(cert, key))
        for pair in (bundle.authority, bundle.serving):
            pair.certificate()
            pair.key()
        return bundle


def parse_certificates(pem: bytes) -> list[x509.Certificate]:
    """One or more certificates, PEM, one after the other.

    Raises:
        UnreadableBundleError: there is none, or one cannot be read.
    """
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise UnreadableBundleError("a certificate is not PEM") from None


def print_certificate(certificate: x509.Certificate) -> bytes:
    """PEM, with a line end."""
    return certificate.public_bytes(serialization.Encoding.PEM)

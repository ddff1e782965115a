"""Must anything be renewed, what, and why? One pure question, asked every minute by every replica.

The rules, in this order; the first that holds is the answer:

===================  ===========================================================  =======================
reason               when                                                         what is made new
===================  ===========================================================  =======================
missing              there is no bundle, or what there is cannot be read          authority, certificate
authority_broken     the authority's key is not its own                           authority, certificate
authority_expired    the authority is past its end                                authority, certificate
authority_future     the authority's beginning is still to come                   authority, certificate
certificate_broken   the serving certificate's key is not its own                 certificate
certificate_foreign  no authority that we trust has signed it                     certificate
wrong_names          it lacks a name that it must have                            certificate
certificate_expired  it is past its end                                           certificate
certificate_future   its beginning is still to come                               certificate
authority_aging      two thirds of the authority's life are over                  authority
certificate_aging    two thirds of its life are over                              certificate, once spread
authority_replaced   it was signed by an authority that has been replaced         certificate, once spread
===================  ===========================================================  =======================

*Once spread*: a new authority is trusted first and used later. The ``caBundle`` reaches each API server by a watch of
its own; a certificate that one of them cannot check yet is a webhook that is not called. So the certificate in use
stays until the new authority is ``Terms.spread`` old. What is broken or expired anyway does not wait.

Clocks differ. What is made is valid from ``Terms.skew`` ago, so that a replica whose clock is behind takes it for
valid. If one is further behind than that, it makes its own, which the others take for valid too: nobody fights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from certs.bundle import Bundle, UnreadableBundleError, parse_certificates


class Reason(StrEnum):
    """Why something is made new. The value is a metric label and a log field: do not rename."""

    MISSING = "missing"
    AUTHORITY_BROKEN = "authority_broken"
    AUTHORITY_EXPIRED = "authority_expired"
    AUTHORITY_FUTURE = "authority_future"
    CERTIFICATE_BROKEN = "certificate_broken"
    CERTIFICATE_FOREIGN = "certificate_foreign"
    WRONG_NAMES = "wrong_names"
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_FUTURE = "certificate_future"
    AUTHORITY_AGING = "authority_aging"
    CERTIFICATE_AGING = "certificate_aging"
    AUTHORITY_REPLACED = "authority_replaced"


@dataclass(frozen=True, slots=True)
class Terms:
    """For how long things are valid."""

    authority_life: timedelta = timedelta(days=365)

    serving_life: timedelta = timedelta(days=30)
    """Short, so that a renewal that does not work is noticed in the first months and not after years."""

    skew: timedelta = timedelta(hours=1)
    """How far clocks may be apart. Kubernetes' own signer allows five minutes, so an hour is plenty."""

    spread: timedelta = timedelta(minutes=5)
    """How long a new authority is only trusted, before it signs what is served."""


@dataclass(frozen=True, slots=True)
class Due:
    """What must be made new, and why."""

    reason: Reason
    authority: bool
    serving: bool


def due(bundle: Bundle | None, names: Sequence[str], terms: Terms, now: datetime) -> Due | None:
    """What must be renewed of ``bundle``, or None. ``names`` are the DNS names that clients use."""
    if bundle is None:
        return Due(Reason.MISSING, authority=True, serving=True)
    try:
        return _due(bundle, names, terms, now)
    except UnreadableBundleError:
        return Due(Reason.MISSING, authority=True, serving=True)


def _due(bundle: Bundle, names: Sequence[str], terms: Terms, now: datetime) -> Due | None:
    if broken := _broken_authority(bundle, now):
        return Due(broken, authority=True, serving=True)
    if broken := _broken_certificate(bundle, names, now):
        return Due(broken, authority=False, serving=True)
    return _aging(bundle, terms, now)


def _aging(bundle: Bundle, terms: Terms, now: datetime) -> Due | None:
    authority, serving = bundle.authority.certificate(), bundle.serving.certificate()
    if now >= renew_at(authority, terms):
        return Due(Reason.AUTHORITY_AGING, authority=True, serving=False)
    if bundle.retired_pem and now < _made_at(authority, terms) + terms.spread:
        return None
    if now >= renew_at(serving, terms):
        return Due(Reason.CERTIFICATE_AGING, authority=False, serving=True)
    if not signed_by(serving, authority):
        return Due(Reason.AUTHORITY_REPLACED, authority=False, serving=True)
    return None


def renew_at(certificate: x509.Certificate, terms: Terms) -> datetime:
    """After two thirds of the life: a renewal that fails has the last third to succeed."""
    end = certificate.not_valid_after_utc
    return end - (end - _made_at(certificate, terms)) / 3


def _made_at(certificate: x509.Certificate, terms: Terms) -> datetime:
    return certificate.not_valid_before_utc + terms.skew


def signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """Did this authority sign it? The validity of either is not looked at."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _broken_authority(bundle: Bundle, now: datetime) -> Reason | None:
    authority = bundle.authority.certificate()
    if not bundle.authority.belongs_together():
        return Reason.AUTHORITY_BROKEN
    if now >= authority.not_valid_after_utc:
        return Reason.AUTHORITY_EXPIRED
    return Reason.AUTHORITY_FUTURE if now < authority.not_valid_before_utc else None


def _broken_certificate(bundle: Bundle, names: Sequence[str], now: datetime) -> Reason | None:
    serving = bundle.serving.certificate()
    if not bundle.serving.belongs_together():
        return Reason.CERTIFICATE_BROKEN
    if not any(signed_by(serving, authority) for authority in parse_certificates(bundle.trust_pem())):
        return Reason.CERTIFICATE_FOREIGN
    if not set(names) <= names_of(serving):
        return Reason.WRONG_NAMES
    if now >= serving.not_valid_after_utc:
        return Reason.CERTIFICATE_EXPIRED
    return Reason.CERTIFICATE_FUTURE if now < serving.not_valid_before_utc else None


def names_of(certificate: x509.Certificate) -> set[str]:
    """The DNS names it is good for."""
    try:
        extension = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return set()
    return set(extension.value.get_values_for_type(x509.DNSName))

import datetime as dt
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certs import authority
from certs.bundle import Pair
from certs.renewal import Due, Reason, Terms, due, names_of, renew_at

TERMS = Terms()
NAMES = ("holdfast-webhook.holdfast.svc", "holdfast-webhook.holdfast.svc.cluster.local")
MADE = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
DAY, HOUR, MINUTE = dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(minutes=1)

FIRST = authority.first(NAMES, TERMS, MADE)
AGED = MADE + 250 * DAY
REPLACED = authority.renew(Due(Reason.AUTHORITY_AGING, authority=True, serving=False), FIRST, NAMES, TERMS, AGED)
OTHER = authority.first(NAMES, TERMS, MADE)


def served_by(bundle, **changes):
    """The bundle with a serving certificate that differs."""
    names, terms, now = (
        changes.get("names", NAMES),
        replace(TERMS, **changes.get("terms", {})),
        changes.get("now", MADE),
    )
    return replace(bundle, serving=authority.sign(bundle.authority, names, terms, now))


FRESH_AT_250 = served_by(FIRST, now=AGED)
REPLACED_FRESH = replace(REPLACED, serving=FRESH_AT_250.serving)
BOTH, CERTIFICATE, AUTHORITY = (True, True), (False, True), (True, False)

CASES = {
    "nothing there": (None, MADE, Reason.MISSING, BOTH),
    "no PEM": (replace(FIRST, serving=Pair(b"x", b"y")), MADE, Reason.MISSING, BOTH),
    "new": (FIRST, MADE, None, None),
    "a minute before two thirds": (FIRST, MADE + 20 * DAY - MINUTE, None, None),
    "two thirds of the certificate": (FIRST, MADE + 20 * DAY, Reason.CERTIFICATE_AGING, CERTIFICATE),
    "certificate over": (FIRST, MADE + 30 * DAY, Reason.CERTIFICATE_EXPIRED, CERTIFICATE),
    "two thirds of the authority": (FRESH_AT_250, AGED, Reason.AUTHORITY_AGING, AUTHORITY),
    "authority over": (FIRST, MADE + 365 * DAY, Reason.AUTHORITY_EXPIRED, BOTH),
    "clock an hour behind": (FIRST, MADE - HOUR, None, None),
    "clock further behind": (FIRST, MADE - HOUR - MINUTE, Reason.AUTHORITY_FUTURE, BOTH),
    "certificate of the future": (served_by(FIRST, now=MADE + DAY), MADE, Reason.CERTIFICATE_FUTURE, CERTIFICATE),
    "another name": (served_by(FIRST, names=("other.svc",)), MADE, Reason.WRONG_NAMES, CERTIFICATE),
    "a name is missing": (served_by(FIRST, names=NAMES[:1]), MADE, Reason.WRONG_NAMES, CERTIFICATE),
    "more names than needed": (served_by(FIRST, names=(*NAMES, "extra.svc")), MADE, None, None),
    "key of another certificate": (
        replace(FIRST, serving=replace(FIRST.serving, key_pem=OTHER.serving.key_pem)),
        MADE,
        Reason.CERTIFICATE_BROKEN,
        CERTIFICATE,
    ),
    "key of another authority": (
        replace(FIRST, authority=replace(FIRST.authority, key_pem=OTHER.authority.key_pem)),
        MADE,
        Reason.AUTHORITY_BROKEN,
        BOTH,
    ),
    "signed by a stranger": (replace(FIRST, serving=OTHER.serving), MADE, Reason.CERTIFICATE_FOREIGN, CERTIFICATE),
    "authority replaced a minute ago": (REPLACED_FRESH, AGED + MINUTE, None, None),
    "authority replaced, spread": (REPLACED_FRESH, AGED + 5 * MINUTE, Reason.AUTHORITY_REPLACED, CERTIFICATE),
    "authority replaced a minute ago, certificate over": (
        REPLACED,
        AGED + MINUTE,
        Reason.CERTIFICATE_EXPIRED,
        CERTIFICATE,
    ),
}


@pytest.mark.parametrize(("bundle", "now", "reason", "renewed"), CASES.values(), ids=CASES)
def test_what_must_be_renewed_and_why(bundle, now, reason, renewed):
    needed = due(bundle, NAMES, TERMS, now)

    assert needed == (None if reason is None else Due(reason, authority=renewed[0], serving=renewed[1]))


def test_every_reason_has_a_case():
    assert set(Reason) == {reason for _, _, reason, _ in CASES.values() if reason}


@given(hours=st.integers(0, 24 * 365 * 5), life_h=st.integers(1, 10_000), share=st.integers(1, 50))
def test_what_has_just_been_made_is_never_due(hours, life_h, share):
    """Else the loop would make certificates without end, for any term that somebody may set."""
    terms = Terms(authority_life=life_h * share * HOUR, serving_life=life_h * HOUR)
    now = MADE + hours * HOUR

    assert due(authority.first(NAMES, terms, now), NAMES, terms, now) is None


@given(steps=st.lists(st.integers(1, 24 * 60), min_size=1, max_size=30))
def test_looked_after_every_few_days_no_client_ever_sees_a_certificate_it_cannot_check(steps):
    """Whenever the loop looks, what is served is signed by what was trusted the time before."""
    bundle, now = authority.first(NAMES, TERMS, MADE), MADE
    for hours in steps:
        now += hours % 190 * HOUR
        trusted_before = set(bundle.trust_pem().split(b"-----END CERTIFICATE-----"))
        needed = due(bundle, NAMES, TERMS, now)
        if needed:
            bundle = authority.renew(needed, bundle, NAMES, TERMS, now)
        assert due(bundle, NAMES, TERMS, now) in {None, *_may_wait(needed)}
        assert trusted_before & set(bundle.trust_pem().split(b"-----END CERTIFICATE-----"))
        assert bundle.serving.certificate().not_valid_after_utc > now
        assert bundle.serving.certificate().not_valid_after_utc <= max(
            bundle.authority.certificate().not_valid_after_utc, now + TERMS.serving_life
        )


def _may_wait(needed):
    """After a new authority the certificate may be due as well, for a reason of its own."""
    return [Due(reason, authority=False, serving=True) for reason in Reason] if needed and needed.authority else []


def test_a_certificate_of_the_authority_itself_is_for_no_name():
    assert names_of(FIRST.authority.certificate()) == set()


def test_renewal_begins_after_two_thirds_whatever_the_allowance_for_clocks():
    for skew in (dt.timedelta(0), HOUR, 10 * DAY):
        terms = Terms(skew=skew)
        assert renew_at(authority.first(NAMES, terms, MADE).serving.certificate(), terms) == MADE + 20 * DAY

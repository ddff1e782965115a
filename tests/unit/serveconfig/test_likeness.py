import pytest

from serveconfig.likeness import Receipt, fingerprint, is_unchanged, receipts, same_options
from tests.words import app, config, imperative, running, shown


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b'{"a": 1, "b": 2}', b'{"b":2,"a":1}'),
        (b"1e22", b"1E+22"),
        (b"1.0", b"1.00"),
        (b'"\\u00fc"', b'"\xc3\xbc"'),
        (b'{"a": 1, "a": 2}', b'{"a": 2}'),
    ],
)
def test_what_python_reads_alike_is_alike(one, other):
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(b"1", b"1.0"), (b"1", b"true"), (b"[1, 2]", b"[2, 1]"), (b"null", b"{}"), (b'"1"', b"1"), (b"0.0", b"-0.0")],
)
def test_g1_what_would_restart_replicas_is_not_alike(one, other):
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize("raw", [b"[" * 5000 + b"]" * 5000, b"9" * 5000], ids=["too deep", "too long an integer"])
def test_what_python_cannot_read_is_like_itself_only(raw):
    assert fingerprint(raw) == fingerprint(raw)
    assert fingerprint(raw) != fingerprint(raw + b" ")


SENT = config(app("a", ray_actor_options={"num_cpus": 5}))
(application,) = SENT.applications
STORED = app("a", ray_actor_options={"num_cpus": 5.0})


def test_an_application_is_unchanged_if_ray_still_stores_what_it_made_of_the_same():
    now = running(shown(STORED))

    assert is_unchanged(application, now, receipts(SENT, now))


def test_an_application_is_unchanged_if_ray_stores_exactly_it():
    assert is_unchanged(application, running(shown(app("a", ray_actor_options={"num_cpus": 5}))), {})


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(running(), id="it does not run"),
        pytest.param(running(shown(STORED, status="DELETING")), id="it is being deleted"),
        pytest.param(running(shown(STORED, status="DEPLOY_FAILED")), id="it failed, and is to be tried again"),
        pytest.param(running(imperative("a")), id="serve.run has replaced it"),
        pytest.param(running(shown(name="a")), id="Ray does not show its config"),
        pytest.param(running(shown({**STORED, "args": {"x": 1}})), id="somebody else changed it"),
    ],
)
def test_an_application_is_not_unchanged_if(now):
    assert not is_unchanged(application, now, receipts(SENT, running(shown(STORED))))


def test_an_application_is_not_unchanged_if_something_else_was_sent_before():
    now = running(shown(STORED))

    assert not is_unchanged(application, now, {"a": Receipt("other", fingerprint(application.raw))})


def test_what_ray_does_not_show_has_no_receipt():
    assert receipts(SENT, running(shown(name="a"))) == {}


def test_options_are_compared_by_meaning():
    assert same_options({"http_options": b'{"a": 1, "b": 2}'}, {"http_options": b'{"b":2,"a":1}'})
    assert not same_options({"target_capacity": b"50"}, {})

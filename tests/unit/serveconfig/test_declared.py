import pytest
from hypothesis import given
from hypothesis import strategies as st

from serveconfig.declared import Declared, UnreadableRecordError
from serveconfig.likeness import Receipt
from tests.words import app, config

A, B, AB = config(app("a")), config(app("b")), config(app("a"), app("b"), target_capacity=1.0)
receipt = st.builds(Receipt, st.text(), st.text())


@given(
    st.sampled_from([None, A, AB]),
    st.dictionaries(st.text(), receipt, max_size=3),
    st.frozensets(st.text(), max_size=3),
)
def test_what_is_printed_is_read_again(declared, receipts, attempted):
    known = Declared(declared, receipts, attempted)

    assert known == Declared.parse(known.print())


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"", "truncated"),
        (b'{"schema": 1', "truncated"),
        (b"[]", "Expected `object`"),
        (b'{"schema": 1, "config": [], "receipts": {}, "attempted": []}', "Expected `object`"),
        (
            b'{"schema": 2, "config": null, "receipts": {}, "attempted": []}',
            "schema 2, but this version reads schema 1",
        ),
        (b'{"schema": 1, "config": null, "receipts": {}, "attempted": [], "later": 1}', "unknown field"),
    ],
)
def test_a_record_that_cannot_be_read_is_no_record(record, reason):
    with pytest.raises(UnreadableRecordError, match=reason):
        Declared.parse(record)


def test_g3_nothing_is_retirable_while_nothing_is_known():
    assert frozenset() == Declared().retirable


def test_g3_what_was_declared_or_attempted_is_retirable():
    known = Declared().accepting(A, keep_receipts=False).attempting(["b"])

    assert {"a"} == known.names
    assert {"a", "b"} == known.retirable


def test_an_attempt_is_over_when_ray_accepts_or_refuses():
    attempted = Declared().attempting(["a", "b"])

    assert frozenset() == attempted.accepting(A, keep_receipts=False).attempted
    assert {"b"} == attempted.not_creating(["a"]).attempted


def test_an_accepted_put_makes_old_receipts_of_its_applications_worthless():
    known = Declared(A, {"a": Receipt("1", "2"), "dynamic": Receipt("3", "4")})

    assert {"dynamic"} == set(known.accepting(AB, keep_receipts=False).receipts)


def test_a_put_that_changed_nothing_keeps_the_receipts_of_what_it_names():
    known = Declared(AB, {"a": Receipt("1", "2"), "b": Receipt("3", "4")})

    assert {"a"} == set(known.accepting(A, keep_receipts=True).receipts)


def test_new_receipts_replace_old_ones():
    known = Declared(A, {"a": Receipt("1", "2")}).noting({"a": Receipt("5", "6"), "b": Receipt("7", "8")})

    assert {"a": Receipt("5", "6"), "b": Receipt("7", "8")} == known.receipts

"""A patch, applied by somebody else's library, makes the new value of the old one."""

import jsonpatch
from hypothesis import given
from hypothesis import strategies as st

from webhook.difference import difference

leaves = st.none() | st.integers() | st.text(alphabet="ab~/0", max_size=3)
keys = st.text(alphabet="ab~/0", max_size=2)
values = st.recursive(leaves, lambda below: st.lists(below, max_size=3) | st.dictionaries(keys, below, max_size=3))


@given(values, values)
def test_applied_to_the_old_value_it_gives_the_new_one(old, new):
    assert new == jsonpatch.apply_patch(old, list(difference(old, new)))


@given(values)
def test_of_equal_values_there_is_none(value):
    assert list(difference(value, value)) == []


def test_a_list_that_has_grown_is_added_to():
    """What stands in it is not named: another webhook may have changed it."""
    assert list(difference({"a": [1, 2]}, {"a": [1, 2, 3]})) == [{"op": "add", "path": "/a/2", "value": 3}]

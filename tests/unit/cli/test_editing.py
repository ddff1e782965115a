"""A change made in the text it was read from: what can be, and that the outcome always says what was wanted."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cli.inject.editing import rewritten
from webhook.yamlreading import compose, value_of

A, B, C = ({"name": name, "v": 1} for name in "abc")

IN_PLACE = {
    "a word": ("k: 1 # one\n", {"k": 2}, "k: 2 # one\n"),
    "a word in one line": ("k: {name: x, v: 1} # c\n", {"k": {"name": "x", "v": 2}}, "k: {name: x, v: 2} # c\n"),
    "a new key": ("# c\nk: 1\n", {"k": 1, "l": 2}, "# c\nk: 1\nl: 2\n"),
    "a new key, no newline at the end": ("k: 1", {"k": 1, "l": 2}, "k: 1\nl: 2"),
    "a new key, Windows": ("k: 1\r\n", {"k": 1, "l": 2}, "k: 1\r\nl: 2\r\n"),
    "a new key behind a block of text": ("k: |\n  x\n", {"k": "x\n", "l": 2}, "k: |\n  x\nl: 2\n"),
    "a key less": ("k: 1\nl: 2 # two\nm: 3\n", {"k": 1, "m": 3}, "k: 1\nm: 3\n"),
    "an item less": ("k:\n- name: a\n  v: 1\n- name: b\n  v: 1\n", {"k": [A]}, "k:\n- name: a\n  v: 1\n"),
    "an item more": (
        "k:\n  - name: a # c\n    v: 1\n",
        {"k": [A, B]},
        "k:\n  - name: a # c\n    v: 1\n  - name: b\n    v: 1\n",
    ),
    "a list in one line": (
        "k: [{name: a, v: 1}]\n",
        {"k": [A, B]},
        'k: [{"name": "a", "v": 1}, {"name": "b", "v": 1}]\n',
    ),
}


@pytest.mark.parametrize(("text", "wanted", "expected"), IN_PLACE.values(), ids=IN_PLACE)
def test_the_text_stays_but_for_the_change(text, wanted, expected):
    assert rewritten(text, wanted) == (expected, True)


ANEW = {
    "a new first item": ("k:\n- name: b\n  v: 1\n", {"k": [A, B]}),
    "items without names": ("k:\n- 1\n- 2\n", {"k": [1]}),
    "items that change places": ("k:\n- {name: a, v: 1}\n- {name: b, v: 1}\n", {"k": [B, A]}),
    "two dashes in one line": ("k:\n- - name: a\n    v: 1\n  - name: b\n    v: 1\n", {"k": [[A]]}),
    "a comment in a list of several lines in brackets": ("k: [ # why\n  {name: a, v: 1}]\n", {"k": [A, B]}),
    "the last item": ("k:\n- name: a\n  v: 1\n", {"k": []}),
    "an alias": ("k: &x\n- name: a\n  v: 1\nl: *x\n", {"k": [A, B], "l": [A]}),
    "a key that is no word": ("? [a]\v: 1\nk: 1\n", {"k": 2}),
    "nothing": ("", {"k": 1}),
    "JSON of several lines whose words are no JSON": ('{\n# why\n"k": [{name: a, v: 1}]}\n', {"k": [A], "l": 1}),
}


@pytest.mark.parametrize(("text", "wanted"), ANEW.values(), ids=ANEW)
def test_what_cannot_be_put_into_the_text_is_printed_anew(text, wanted):
    new, is_the_text = rewritten(text, wanted)

    assert (yaml.safe_load(new), is_the_text) == (wanted, False)


ODD = ["yes", "y", "1", "1e3", "010", "2001-01-01", "=", "1_0", "", "#", "- x", "x: y", "two\nlines\n", "é"]
WORDS = st.sampled_from(["a", "b", *ODD])
SCALARS = WORDS | st.integers(-3, 30000) | st.booleans() | st.none()
KEYS = st.sampled_from(["a", "b", "on", "containers", "x y"])


def test_a_word_that_kuberay_reads_as_none_is_quoted():
    """`y` is true to goyaml, a word to PyYAML."""
    assert rewritten("k: &a [1]\nl: *a\n", {"k": [1], "l": ["y"]}) == (
        '{\n  "k": [\n    1\n  ],\n  "l": [\n    "y"\n  ]\n}\n',
        False,
    )


def named(values):
    items = st.lists(st.tuples(st.sampled_from("abcd"), values), unique_by=lambda item: item[0], max_size=3)
    return items.map(lambda pairs: [{"name": name, "value": value} for name, value in pairs])


DATA = st.dictionaries(
    KEYS,
    st.recursive(SCALARS, lambda inner: st.dictionaries(KEYS, inner, max_size=3) | named(inner), max_leaves=12),
    max_size=4,
)


@given(before=DATA, after=DATA, flow=st.sampled_from([True, False, None]))
def test_whatever_becomes_of_the_data_the_text_says_it(before, after, flow):
    text = yaml.safe_dump(before, default_flow_style=flow, allow_unicode=True)

    new, _ = rewritten(text, after)

    assert value_of(compose(new)) == after


@given(data=DATA, flow=st.sampled_from([True, False, None]))
def test_what_says_it_already_stays_byte_for_byte(data, flow):
    text = yaml.safe_dump(data, default_flow_style=flow, allow_unicode=True)

    assert rewritten(text, value_of(compose(text))) == (text, True)

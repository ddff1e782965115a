import json

import pytest

from cli.apps import spelling
from cli.apps.errors import UsageError


@pytest.mark.parametrize(
    ("yaml", "json"),
    [
        ("1.0", b"1.0"),
        ("1.50", b"1.50"),
        ("-0", b"-0"),
        ("1e3", b"1e3"),
        ("1E+30", b"1E+30"),
        ("123456789012345678901234567890", b"123456789012345678901234567890"),
        ("!!float 1e3", b"1e3"),
        ("010", b"8"),
        ("0x1F", b"31"),
        ("1_000", b"1000"),
        (".5", b"0.5"),
        ("'1.0'", b'"1.0"'),
        ("!!str 1.0", b'"1.0"'),
        ("true", b"true"),
        ("on", b"true"),
        ("~", b"null"),
        ("'2024-01-01'", b'"2024-01-01"'),
        ("'y'", b'"y"'),
        ("[a, 1, {b: 2.0}]", b'["a",1,{"b":2.0}]'),
        ("{a: &x {b: 1.0}, c: *x}", b'{"a":{"b":1.0},"c":{"b":1.0}}'),
        ("{a: &x {b: 1.0}, c: {<<: *x, d: 2}}", b'{"a":{"b":1.0},"c":{"b":1.0,"d":2}}'),
        ("{a: &x {b: 1}, c: &y {b: 2}, d: {<<: [*x, *y]}}", b'{"a":{"b":1},"c":{"b":2},"d":{"b":1}}'),
        ("{a: 1, a: 2}", b'{"a":2}'),
        ("{<<: {b: 1.0}}", b'{"b":1.0}'),
    ],
)
def test_g1_a_value_of_yaml_goes_as_it_is_spelled(yaml, json):
    assert spelling.as_json(yaml) == json


@pytest.mark.parametrize("text", ["", "# a comment\n", "---\n"])
def test_a_document_with_nothing_in_it_is_none(text):
    assert spelling.as_json(text) is None


@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("a: 2024-01-01", "2024-01-01 in it is a date, which JSON does not have: put it in quotes"),
        ("a: 2024-01-01T10:00:00Z", "a date"),
        ("1: a", "a key '1' in it is no text: put it in quotes"),
        ("no: a", "a key 'no' in it is no text"),
        ("{[a]: b}", "a key in it is neither text nor a number"),
        ("a: .inf", "infinite"),
        ("a: y", "y in it is a text to some and a boolean to others"),
        ("a: [", "line 2"),
        ("{<<: 1}", "a merge key"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_what_to_do(yaml, said):
    with pytest.raises(UsageError, match=said.replace("[", r"\[")):
        spelling.as_json(yaml)


def test_aliases_of_aliases_do_not_fill_the_memory():
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))

    with pytest.raises(UsageError, match="nodes"):
        spelling.as_json(bomb)


@pytest.mark.parametrize("number", ["1.0", "1.50", "1E5", "-0.0", "1e-7", "3"])
def test_g1_what_is_shown_as_yaml_can_be_applied_again_with_the_same_numbers(number):
    answer = b'{"config": {"rate": %s}}' % number.encode()

    assert spelling.as_json(spelling.as_yaml(answer)) == answer.replace(b" ", b"")
    assert number in spelling.indented(answer)
    assert json.loads(spelling.indented(answer)) == json.loads(answer)

"""A text means what it means to KubeRay: ``readings.json`` is what goyaml made of each."""

import json
from pathlib import Path

import pytest

from webhook.yamlnodes import MAX_DEPTH
from webhook.yamlreading import Alias, Mapping, Node, Scalar, Sequence, UnreadableTextError, compose, value_of

READINGS = json.loads((Path(__file__).parents[2] / "golden/yaml/readings.json").read_text())


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: repr(reading["text"])[:40])
def test_a_text_means_what_goyaml_makes_of_it(reading):
    if "error" in reading:
        with pytest.raises(UnreadableTextError):
            value_of(compose(reading["text"]))
        return

    assert as_json_has_it(reading["json"]) == as_json_has_it(value_of(compose(reading["text"])))


def as_json_has_it(value):
    """To JSON 1 and 1.0 are one number, and true is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | list | dict):
        return repr(value)
    if isinstance(value, list):
        return [as_json_has_it(each) for each in value]
    return {key: as_json_has_it(each) for key, each in value.items()} if isinstance(value, dict) else float(value)


@pytest.mark.parametrize(
    "text", [reading["text"] for reading in READINGS if "error" not in reading], ids=lambda t: repr(t)[:40]
)
def test_every_node_lies_where_it_says(text):
    root = compose(text)

    for node in nodes(root) if root else ():
        lies = text[node.start : node.end]
        if isinstance(node, Scalar) and node.is_plain and node.tag is None and "\n" not in lies and "&" not in lies:
            assert node.word == lies
        elif isinstance(node, Alias):
            assert lies.startswith("*")


def nodes(node: Node):
    yield node
    below = node.items if isinstance(node, Sequence) else sum(node.pairs, ()) if isinstance(node, Mapping) else ()
    for each in below:
        yield from nodes(each)


def test_a_text_of_aliases_of_aliases_is_refused_before_it_fills_the_memory():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]

    with pytest.raises(UnreadableTextError, match="nodes"):
        value_of(compose("\n".join(lines)))


@pytest.mark.parametrize(
    "text", ["[" * (MAX_DEPTH + 2), "[" * 200_000, "{a: " * 100_000, "- " * 100_000], ids=lambda t: t[:4]
)
def test_a_text_that_nests_too_deep_is_refused(text):
    with pytest.raises(UnreadableTextError):
        compose(text)


@pytest.mark.parametrize("text", ["a: \x00", "a: \ud800", "\x07"], ids=repr)
def test_characters_that_yaml_does_not_know_are_refused(text):
    with pytest.raises(UnreadableTextError):
        compose(text)

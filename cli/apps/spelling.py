"""YAML to JSON and back, with every number as it was written. Pure.

``1.0`` that became ``1`` in ``args`` restarts replicas (``serveconfig.document``, rule 2). So:

1. A number that JSON can hold is copied letter by letter. One that JSON cannot (``010``, ``0x1F``, ``1_000``, ``.5``)
   gets the value it has in KubeRay.
2. What Ray's own command and KubeRay make different things of, or JSON has no word for, is refused, with what to do: a
   date, a key that is no text, a bare ``y`` or ``n``, infinity.
3. JSON is not read as YAML: it goes as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from cli.apps.errors import UsageError
from serveconfig.document import print_members
from webhook.yamlnodes import Alias, Mapping, Node, Scalar, Sequence, UnreadableTextError, compose
from webhook.yamlreading import value_of

_JSON_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?")
_TWO_MEANINGS = frozenset("yYnN")
"""PyYAML reads them as texts, goyaml as booleans."""

_MERGE = "<<"


class _Spelled(str):
    """A number of JSON, in its letters."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Prints numbers as they are spelled."""


_Dumper.add_representer(
    _Spelled, lambda dumper, number: dumper.represent_scalar("tag:yaml.org,2002:float", str(number))
)


def as_json(text: str) -> bytes | None:
    """The first document of a YAML text as JSON; None where there is nothing in it.

    Raises:
        UsageError: it is no YAML, or has something that JSON cannot hold.
    """
    try:
        node = compose(text)
        value_of(node)  # what no reader should read: aliases of aliases of aliases, a key that is null
    except UnreadableTextError as error:
        raise UsageError(str(error)) from error
    return None if node is None or _is_empty(node) else _printed(node)


def as_yaml(answer: bytes) -> str:
    """JSON as YAML for people, every number in its own letters."""
    value = json.loads(answer, parse_float=_Spelled)
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)


def _printed(node: Node) -> bytes:
    if isinstance(node, Alias):
        return _printed(node.target)
    if isinstance(node, Sequence):
        return b"[" + b",".join(map(_printed, node.items)) + b"]"
    return print_members(dict(_members(node))) if isinstance(node, Mapping) else _word(node)


def _members(node: Mapping) -> Iterator[tuple[str, bytes]]:
    """A merge key counts where it stands, as in KubeRay (``webhook.yamlreading``, rule 2)."""
    for key, value in node.pairs:
        if isinstance(key, Scalar) and key.is_plain and key.word == _MERGE:
            target = value.target if isinstance(value, Alias) else value
            many = reversed(target.items) if isinstance(target, Sequence) else (target,)
            for each in many:
                brought = each.target if isinstance(each, Alias) else each
                yield from _members(brought) if isinstance(brought, Mapping) else ()
        else:
            yield _key(key), _printed(value)


def _key(node: Node) -> str:
    key = value_of(node) if isinstance(node, Scalar) else None
    if not isinstance(node, Scalar) or not isinstance(key, str):
        word = f" {node.word!r}" if isinstance(node, Scalar) else ""
        raise UsageError(f"a key{word} in it is no text: put it in quotes")
    return key


def _word(scalar: Scalar) -> bytes:
    if scalar.is_plain and scalar.tag is None and _DATE.fullmatch(scalar.word):
        raise UsageError(f"{scalar.word} in it is a date, which JSON does not have: put it in quotes")
    if scalar.is_plain and scalar.tag is None and scalar.word in _TWO_MEANINGS:
        raise UsageError(
            f"{scalar.word} in it is a text to some and a boolean to others: put it in quotes, or write true"
        )
    value: Any = value_of(scalar)
    if not isinstance(value, str | bool) and _JSON_NUMBER.fullmatch(scalar.word):
        return scalar.word.encode()
    return json.dumps(value).encode()


def _is_empty(node: Node) -> bool:
    return isinstance(node, Scalar) and node.is_plain and not node.word


def indented(answer: bytes) -> str:
    """JSON for people: indented, every value in its own letters."""
    return msgspec.json.format(answer, indent=2).decode() + "\n"

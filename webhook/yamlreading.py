"""YAML as KubeRay reads it. Pure.

KubeRay turns ``serveConfigV2`` into JSON with goyaml v2 (``sigs.k8s.io/yaml``; KubeRay 1.0-1.7):

1. ``yes``, ``no``, ``on``, ``off``, ``y`` and ``n`` are booleans; ``010`` is eight; a date is a string.
2. Of a key that stands twice the last one counts, silently. A merge key counts where it stands: what it brings
   overrides what stands before it (PyYAML and YAML 1.1 would have it the other way).
3. Only the first document is read.
4. What JSON cannot hold (NaN, a key that is null) cannot be read.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Any

from webhook.yamlnodes import Alias, Mapping, Node, Scalar, Sequence, UnreadableTextError, compose

__all__ = ["Alias", "Mapping", "Node", "Scalar", "Sequence", "UnreadableTextError", "Value", "compose", "value_of"]

MAX_NODES = 1_000_000
"""How many nodes a text may have once its aliases are written out. 1.5 MiB, the most that etcd stores, has half as
many; ten lines of aliases of aliases would have billions."""

Value = Any


def value_of(node: Node | None) -> Value:
    """What KubeRay makes of a node: what JSON has (``dict`` with text keys, ``list``, ``str``, numbers, bool, None).

    Raises:
        UnreadableTextError: KubeRay could not print it as JSON, or its aliases would fill the memory.
    """
    return None if node is None else _Reader().read(node)


@dataclass(slots=True)
class _Reader:
    nodes: int = 0
    _known: dict[int, tuple[Value, int]] = field(default_factory=dict)

    def read(self, node: Node) -> Value:
        before = self.nodes
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise UnreadableTextError(f"with its aliases written out it has more than {MAX_NODES} nodes")
        if isinstance(node, Scalar):
            return _meaning(node)
        if isinstance(node, Alias):
            return self._again(node.target)
        value = [*map(self.read, node.items)] if isinstance(node, Sequence) else self._mapping(node)
        self._known[id(node)] = (value, self.nodes - before)
        return value

    def _again(self, target: Node) -> Value:
        if id(target) not in self._known:
            return self.read(target)
        value, nodes = self._known[id(target)]
        self.nodes += nodes
        return value

    def _mapping(self, node: Mapping) -> dict[str, Value]:
        value: dict[str, Value] = {}
        for key, member in node.pairs:
            if isinstance(key, Scalar) and key.word == "<<" and (key.is_plain or key.tag == _tag("merge")):
                self._merge(member, value)
            else:
                value[_key(self.read(key))] = self.read(member)
        return value

    def _merge(self, node: Node, into: dict[str, Value]) -> None:
        target = node.target if isinstance(node, Alias) else node
        # Of several, the first takes precedence.
        for each in reversed(target.items) if isinstance(target, Sequence) and target is node else (node,):
            brought = self.read(each)
            if not isinstance(brought, dict):
                raise UnreadableTextError("a merge key in it has something else than a mapping")
            into.update(brought)


def _tag(short: str) -> str:
    return f"tag:yaml.org,2002:{short}"


_RESOLVED = frozenset(map(_tag, ("str", "bool", "int", "float", "null", "timestamp")))
_WORDS: dict[str, Value] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NOT_IN_JSON = re.compile(r"\.(nan|NaN|NAN)|[-+]?\.(inf|Inf|INF)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([Tt ]\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?(Z|[-+]\d{2}:\d{2})?)?")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_TYPES: dict[str, type | tuple[type, ...]] = {"bool": bool, "int": int, "float": float, "null": type(None)}


def _meaning(scalar: Scalar) -> Value:
    """A scalar's value (goyaml v2.4, ``decode.go`` and ``resolve.go``)."""
    tag = scalar.tag
    if tag is None:
        return _plain(scalar.word) if scalar.is_plain else scalar.word
    if tag == _tag("binary"):
        return _binary(scalar.word)
    if tag not in _RESOLVED or tag == _tag("str"):
        return scalar.word
    value = _plain(scalar.word)
    kind = tag.removeprefix(_tag(""))
    if kind == "float" and type(value) is int:
        return float(value)
    if kind == "timestamp" and isinstance(value, str) and _DATE.fullmatch(value):
        return value
    if kind not in _TYPES or not isinstance(value, _TYPES[kind]) or (kind == "int" and isinstance(value, bool)):
        raise UnreadableTextError(f"a value in it is not the !!{kind} that its tag says")
    return value


def _plain(word: str) -> Value:
    if word in _WORDS:
        return _WORDS[word]
    if _NOT_IN_JSON.fullmatch(word):
        raise UnreadableTextError("a number in it is infinite or none at all: JSON has no such number")
    if word[0] not in "+-.0123456789" or _DATE.fullmatch(word):
        return word
    digits = word if word[0] == "." else word.replace("_", "")
    number = _integer(digits)
    if number is None and _FLOAT.fullmatch(digits):
        number = float(digits)
    if number is None:
        return word
    if number in (float("inf"), float("-inf")):
        return word  # out of range: goyaml leaves it a string
    return number


def _integer(digits: str) -> int | float | None:
    """A number without a fraction: an integer as far as 64 bits reach, then a float, as goyaml has it."""
    read = _INTEGER.fullmatch(digits)
    if read is None:
        return None
    sign, hexadecimal, binary, octal, decimal = read.groups()
    bases = ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10))
    number = next(int(part, base) for part, base in bases if part is not None)
    number = -number if sign == "-" else number
    fits = -(1 << 63) <= number < (1 << 63) or (not sign and number < (1 << 64))
    return number if fits else float(digits) if decimal else None


def _binary(word: str) -> str:
    try:
        return base64.b64decode(word.replace("\n", "").replace("\r", ""), validate=True).decode("utf-8", "replace")
    except binascii.Error:
        raise UnreadableTextError("a !!binary value in it is no base64") from None


def _key(value: Value) -> str:
    """A key as JSON must have it (``sigs.k8s.io/yaml``, ``convertToJSONableObject``)."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value < (1 << 63):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    raise UnreadableTextError("a key in it is neither text nor a number")

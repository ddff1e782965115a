"""YAML as KubeRay reads it, with the place of every node in the text. Pure.

KubeRay turns ``serveConfigV2`` into JSON with goyaml v2 (``sigs.k8s.io/yaml``; KubeRay 1.0-1.7). Its grammar is that of
libyaml, which reads here, too; what plain words mean is its own, and stands in ``_plain``:

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
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_DEPTH = 128
"""How deep a text may nest: as deep as a Serve config may (``serveconfig.document``)."""

MAX_NODES = 1_000_000
"""How many nodes a text may have once its aliases are written out. 1.5 MiB, the most that etcd stores, has half as
many; ten lines of aliases of aliases would have billions."""

Value = Any


class UnreadableTextError(ValueError):
    """KubeRay cannot read this text, or nobody should. The message says why, and quotes no value."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a node stands: ``text[start:end]`` holds it, anchor and tag included."""

    start: int
    end: int
    column: int


@dataclass(frozen=True, slots=True)
class Scalar(Placed):
    """A word. ``tag`` is None where the text has none; ``is_plain`` where the word itself decides what it means."""

    word: str
    tag: str | None
    is_plain: bool


@dataclass(frozen=True, slots=True)
class Alias(Placed):
    """``*name``, and what it stands for."""

    target: Node


@dataclass(frozen=True, slots=True)
class Sequence(Placed):
    """A list. ``inside`` is where its first item may begin; ``is_flow`` with ``[``."""

    inside: int
    is_flow: bool
    has_properties: bool
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping(Placed):
    """A mapping, its pairs in their order."""

    inside: int
    is_flow: bool
    has_properties: bool
    pairs: tuple[tuple[Node, Node], ...]


Node = Scalar | Alias | Sequence | Mapping


def compose(text: str) -> Node | None:
    """The first document of a text, or None if there is none.

    Raises:
        UnreadableTextError: it is no YAML, or nests too deep, or an alias stands for nothing or for itself.
    """
    try:
        return _Composer(text).document()
    except yaml.YAMLError as error:
        raise UnreadableTextError(_fault(error)) from None
    except UnicodeEncodeError:
        raise UnreadableTextError("half of a surrogate pair stands in it") from None


class _Composer:
    def __init__(self, text: str) -> None:
        # libyaml does not count a byte order mark; Python does.
        self._shift = 1 if text.startswith("\ufeff") else 0
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.CSafeLoader)
        self._anchors: dict[str, Node | None] = {}

    def document(self) -> Node | None:
        next(self._events)  # the stream's start
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            return None
        if getattr(start, "version", None) not in (None, (1, 1)):
            raise UnreadableTextError("its %YAML line asks for another version than 1.1")
        return self._node(next(self._events), 0)

    def _node(self, event: Any, depth: int) -> Node:  # noqa: ANN401 - a parser's event, of whichever class
        if depth > MAX_DEPTH:
            raise UnreadableTextError(f"it nests deeper than {MAX_DEPTH} levels")
        if isinstance(event, yaml.AliasEvent):
            return Alias(*self._place(event), self._target(event.anchor))
        if event.anchor:
            self._anchors[event.anchor] = None  # open: an alias of it in here would stand for itself
        node = self._new_node(event, depth)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _new_node(self, event: Any, depth: int) -> Node:  # noqa: ANN401 - as above
        start, inside, column = self._place(event)
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(start, inside, column, event.value, event.tag, event.implicit[0])
        form = (inside, bool(event.flow_style), bool(event.anchor or event.tag))
        if isinstance(event, yaml.SequenceStartEvent):
            items, end = self._until(yaml.SequenceEndEvent, depth)
            return Sequence(start, end, column, *form, tuple(items))
        nodes, end = self._until(yaml.MappingEndEvent, depth)
        return Mapping(start, end, column, *form, tuple(zip(nodes[::2], nodes[1::2], strict=True)))

    def _until(self, last: type, depth: int) -> tuple[list[Node], int]:
        nodes: list[Node] = []
        while not isinstance(event := next(self._events), last):
            nodes.append(self._node(event, depth + 1))
        return nodes, self._place(event)[1]

    def _target(self, anchor: str | None) -> Node:
        target = self._anchors.get(anchor or "")
        if target is None:
            raise UnreadableTextError("an alias in it stands for nothing, or for itself")
        return target

    def _place(self, event: Any) -> tuple[int, int, int]:  # noqa: ANN401 - as above
        start, end = event.start_mark, event.end_mark
        return start.index + self._shift, end.index + self._shift, start.column


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
        if isinstance(node, Alias):
            return self._again(node.target)
        if isinstance(node, Scalar):
            return _meaning(node)
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


_RESOLVED = frozenset((None, *map(_tag, ("str", "bool", "int", "float", "null", "timestamp"))))
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
    if tag == _tag("binary"):
        return _binary(scalar.word)
    if tag not in _RESOLVED or tag == _tag("str") or (tag is None and not scalar.is_plain):
        return scalar.word
    value = _plain(scalar.word)
    if tag is None:
        return value
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


def _fault(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}: " if mark else ""
    return f"{place}{getattr(error, 'problem', None) or 'it is no YAML'}"

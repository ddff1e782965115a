"""YAML as text: every node with its place. Pure.

KubeRay reads ``serveConfigV2`` with goyaml v2, whose grammar is that of libyaml, which reads here, too. What the words
mean is in ``webhook.yamlreading``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

MAX_DEPTH = 128
"""How deep a text may nest: as deep as a Serve config may (``serveconfig.document``)."""


class UnreadableTextError(ValueError):
    """KubeRay cannot read this text, or nobody should. The message says why, and quotes no value."""


# A megabyte of text has 400,000 nodes. As structs that the garbage collector need not visit (no node can hold itself)
# they cost a third of what dataclasses do.
class Placed(msgspec.Struct, frozen=True, gc=False):
    """Where a node stands: ``text[start:end]`` holds it, anchor and tag included."""

    start: int
    end: int
    column: int


class Scalar(Placed, frozen=True, gc=False):
    """A word. ``tag`` is None where the text has none; ``is_plain`` where the word itself decides what it means."""

    word: str
    tag: str | None
    is_plain: bool


class Alias(Placed, frozen=True, gc=False):
    """``*name``, and what it stands for."""

    target: Node


class Sequence(Placed, frozen=True, gc=False):
    """A list. ``inside`` is where its first item may begin; ``is_flow`` with ``[``."""

    inside: int
    is_flow: bool
    has_properties: bool
    items: tuple[Node, ...]


class Mapping(Placed, frozen=True, gc=False):
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
        if not event.anchor:
            return self._new_node(event, depth)
        self._anchors[event.anchor] = None  # open: an alias of it in here would stand for itself
        node = self._anchors[event.anchor] = self._new_node(event, depth)
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


def _fault(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}: " if mark else ""
    return f"{place}{getattr(error, 'problem', None) or 'it is no YAML'}"

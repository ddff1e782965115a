"""A change of data made in the YAML text that it was read from. Pure.

Everything that the change leaves alone stays byte for byte: comments, order, quoting, line ends. Where the change goes
beyond what can be put into the text (flow style, anchors in its way), the text is printed anew. No edit is trusted:
what comes out is read again, and has to say exactly what was wanted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from webhook.yamlreading import Mapping, Node, Scalar, Sequence, UnreadableTextError, compose, value_of

_LINE_END = re.compile(r"\r\n|\n|\r")


class _CannotEditError(Exception):
    """The text has to be printed anew."""


Edit = tuple[int, int, str]
"""``text[start:end]`` becomes another text."""


def rewritten(text: str, wanted: dict[str, Any]) -> tuple[str, bool]:
    """The text saying ``wanted``; and whether it is the text it was, but for the change."""
    try:
        edited = _apply(text, list(_edits(text, compose(text), wanted)))
        if _says(edited, wanted):
            return edited, True
    except (_CannotEditError, UnreadableTextError):
        pass  # printed anew below
    # PyYAML leaves words bare that are no words to KubeRay and kubectl (`y`, `1e3`). JSON is YAML, too, and quotes all.
    anew = yaml.safe_dump(wanted, sort_keys=False, allow_unicode=True)
    if not text.lstrip().startswith("{") and _says(anew, wanted):
        return anew, False
    return json.dumps(wanted, indent=2) + "\n", False


def _says(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return bool(value_of(compose(text)) == wanted)
    except UnreadableTextError:
        return False


def _apply(text: str, edits: list[Edit]) -> str:
    """From left to right; those for one place in their order, which is from the inside out."""
    parts, at = [], 0
    for start, end, new in sorted(edits, key=lambda edit: edit[0]):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _edits(text: str, node: Node | None, wanted: Any) -> Iterator[Edit]:  # noqa: ANN401 - YAML
    if node is None:
        raise _CannotEditError
    if value_of(node) == wanted:
        return
    if isinstance(node, Mapping) and not node.is_flow and isinstance(wanted, dict):
        yield from _mapping_edits(text, node, wanted)
    elif isinstance(node, Sequence) and not node.is_flow and isinstance(wanted, list) and wanted:
        yield from _sequence_edits(text, node, wanted)
    elif isinstance(node, Scalar) and isinstance(wanted, int | str):
        yield node.start, node.end, json.dumps(wanted)
    else:
        yield from _flow_edits(text, node, wanted)


def _flow_edits(text: str, node: Node, wanted: Any) -> Iterator[Edit]:  # noqa: ANN401 - YAML
    """``{name: dashboard, containerPort: 8265}``: the same keys with other words, or printed anew in one line."""
    if isinstance(node, Mapping) and isinstance(wanted, dict):
        have = {_word(key): value for key, value in node.pairs}
        if have.keys() == wanted.keys():
            for key, value in have.items():
                yield from _edits(text, value, wanted[key])
            return
    if not isinstance(node, Mapping | Sequence) or not node.is_flow:
        raise _CannotEditError
    if "\n" in text[node.start : node.end] and "#" in text[node.start : node.end]:
        raise _CannotEditError  # there may be a comment in it
    yield node.start, node.end, json.dumps(wanted)


def _mapping_edits(text: str, node: Mapping, wanted: dict[str, Any]) -> Iterator[Edit]:
    for place, (key, value) in enumerate(node.pairs):
        if _word(key) in wanted:
            yield from _edits(text, value, wanted[_word(key)])
        else:
            after = node.pairs[place + 1][0].start if place + 1 < len(node.pairs) else None
            yield _removed(text, key.start, value, after)
    have = {_word(key) for key, _ in node.pairs}
    added = {key: value for key, value in wanted.items() if key not in have}
    if added:
        yield _inserted(text, node, _lines(added, node.column))


def _sequence_edits(text: str, node: Sequence, wanted: list[Any]) -> Iterator[Edit]:
    """Items are told apart by their ``name``, as Kubernetes does."""
    have = [_name(value_of(item)) for item in node.items]
    left = [_name(item) for item in wanted]
    kept = [name for name in left if name in have]
    if None in {*have, *left} or kept != [name for name in have if name in left]:
        raise _CannotEditError
    for place, item in enumerate(node.items):
        if have[place] in left:
            yield from _edits(text, item, wanted[left.index(have[place])])
        else:
            after = node.items[place + 1].start if place + 1 < len(node.items) else None
            yield _removed(text, item.start, item, after)
    indentation = _dash_column(text, node)
    anchor: Node | None = None
    for name, item in zip(left, wanted, strict=True):
        if name in have:
            anchor = node.items[have.index(name)]
        else:
            yield _inserted(text, anchor or _refuse(), _lines([item], indentation))


def _refuse() -> Node:
    raise _CannotEditError  # before the first item there is no place that is ours


def _inserted(text: str, after: Node, lines: str) -> Edit:
    """New lines behind the last line that holds something of a node."""
    place = _end_of_line(text, _content_end(after))
    line_end = _line_end(text)
    lines = lines.replace("\n", line_end)
    if place == len(text) and not text.endswith(("\n", "\r")):
        return place, place, line_end + lines.removesuffix(line_end)
    return place, place, lines


def _removed(text: str, start: int, node: Node, after: int | None) -> Edit:
    """The lines of a node, and its comments no more than it has to."""
    begin, end = _start_of_line(text, start), _end_of_line(text, _content_end(node))
    if text[begin:start].strip(" -") or (after is not None and _start_of_line(text, after) < end):
        raise _CannotEditError
    if text[begin:start].count("-") > 1:
        raise _CannotEditError  # the first item of a list that is itself the first item of a list
    return begin, end, ""


def _lines(value: Any, column: int) -> str:  # noqa: ANN401 - YAML
    printed = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
    return "".join(" " * column + line + "\n" for line in printed.splitlines())


def _dash_column(text: str, node: Sequence) -> int:
    first = node.items[0].start
    line = text[_start_of_line(text, first) : first]
    if line.count("-") != 1 or line.strip(" -"):
        raise _CannotEditError
    return line.index("-")


def _content_end(node: Node) -> int:
    """Where the last word of a node ends: a block's own end is where the next thing begins."""
    if isinstance(node, Sequence) and not node.is_flow and node.items:
        return _content_end(node.items[-1])
    if isinstance(node, Mapping) and not node.is_flow and node.pairs:
        return _content_end(node.pairs[-1][1])
    return node.end


def _start_of_line(text: str, place: int) -> int:
    return max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1


def _end_of_line(text: str, place: int) -> int:
    if place and text[place - 1] in "\r\n":
        return place
    found = _LINE_END.search(text, place)
    return found.end() if found else len(text)


def _line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found[0] if found else "\n"


def _word(node: Node) -> str:
    if not isinstance(node, Scalar):
        raise _CannotEditError
    return node.word


def _name(item: Any) -> Any:  # noqa: ANN401 - YAML
    return item.get("name") if isinstance(item, dict) else None

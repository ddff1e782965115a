"""``serveConfigV2`` as its author wrote it, and applications put back into it. Pure.

1. Everything that stands in the text stays byte for byte: comments, order, quoting, line ends, the last newline or its
   absence. What is added is one line of JSON an application, which goyaml v2 and PyYAML read alike.
2. No edit is trusted. Each way to add is tried on the text, the result is read again, and only one that says exactly
   what was there and what was added is taken. The last way, printing everything anew as JSON, always does.
3. An application without a name is ``default``, and one without a route prefix answers at ``/`` (as in
   ``serveconfig.document``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from webhook import yamlnodes
from webhook.yamlnodes import Mapping, Node, Scalar, UnreadableTextError
from webhook.yamlreading import Value, value_of

Application = dict[str, Value]

_LINE_END = re.compile(r"\r\n|\n|\r")
_DASH = re.compile(r"( *)-[ \t]+")
# Line ends to YAML 1.1, and what its readers refuse or drop unescaped.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class ServeText:
    """A text that KubeRay can read. ``options`` are all top-level members but ``applications``."""

    text: str
    root: Node | None
    options: dict[str, Value]
    applications: tuple[Application, ...]

    @classmethod
    def parse(cls, text: str) -> ServeText:
        """Read a text; one that is empty, or null, declares nothing.

        Raises:
            UnreadableTextError: KubeRay could not read it, or it is no mapping with a list of mappings.
        """
        root = yamlnodes.compose(text)
        value = {} if (read := value_of(root)) is None else read
        if not isinstance(value, dict):
            raise UnreadableTextError("it is not a mapping")
        options = {key: member for key, member in value.items() if key != "applications"}
        applications = value.get("applications") or []
        if not isinstance(applications, list) or not all(isinstance(each, dict) for each in applications):
            raise UnreadableTextError("applications is not a list of mappings")
        return cls(text, root, options, tuple(applications))

    def named(self) -> dict[str, Application]:
        """The applications by name; those whose name is no text are left out. Of two with one name, the last."""
        return {name: each for each in self.applications if isinstance(name := each.get("name", "default"), str)}

    def adding(self, added: Sequence[Application]) -> str:
        """The text with these applications in it, too."""
        for way in (_into_the_list_at_its_end, _into_the_list_at_its_start, _instead_of_the_value, _as_a_new_key):
            edited = way(self, added)
            if edited is not None and self._is_with(added, edited):
                return edited
        return print_json({**self.options, "applications": [*self.applications, *added]})

    def _is_with(self, added: Sequence[Application], edited: str) -> bool:
        try:
            after = ServeText.parse(edited)
        except UnreadableTextError:
            return False
        either = ([*self.applications, *added], [*added, *self.applications])
        return canonical(after.options) == canonical(self.options) and canonical(list(after.applications)) in map(
            canonical, either
        )


def route_prefix(application: Application) -> Value:
    """Where an application answers; None where it has no route."""
    return application.get("route_prefix", "/")


def canonical(value: Value) -> str:
    """The same text for the same meaning."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def print_json(value: Value) -> str:
    """One line of JSON that is YAML, too, and that goyaml v2 and PyYAML read as the same value.

    A float always has a point and a signed exponent (to PyYAML ``1e20`` is a word), and characters beyond the basic
    plane stand as they are (to libyaml a surrogate pair is an error).
    """
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", "".join(_printed(value)))


def _printed(value: Value) -> Iterator[str]:
    if isinstance(value, dict):
        members = (f"{_text(key)}: {''.join(_printed(member))}" for key, member in value.items())
        yield "{" + ", ".join(members) + "}"
    elif isinstance(value, list):
        yield "[" + ", ".join("".join(_printed(item)) for item in value) + "]"
    elif isinstance(value, float):
        mantissa, exponent, power = repr(value).partition("e")
        yield mantissa + ("" if "." in mantissa else ".0") + exponent + power
    else:
        yield _text(value)


def _text(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)


def _into_the_list_at_its_end(text: ServeText, added: Sequence[Application]) -> str | None:
    node = _applications(text.root)
    if not isinstance(node, yamlnodes.Sequence):
        return None
    if not node.is_flow:
        return _lines_after(text.text, node, [f"{_indentation(text.text, node)}- {print_json(each)}" for each in added])
    if not node.items:
        return _spliced(text.text, node.inside, node.inside, ", ".join(map(print_json, added)))
    last = node.items[-1]
    before = _line_before(text.text, last.start)
    separator = ", " if before.strip() else "," + _line_end(text.text) + before
    return _spliced(text.text, last.end, last.end, "".join(separator + print_json(each) for each in added))


def _into_the_list_at_its_start(text: ServeText, added: Sequence[Application]) -> str | None:
    """Where the end is no place to add: a block scalar that ends with the text, without a newline."""
    node = _applications(text.root)
    if not isinstance(node, yamlnodes.Sequence) or node.is_flow or node.has_properties:
        return None
    indentation = _indentation(text.text, node)
    lines = [f"{indentation}- {print_json(each)}{_line_end(text.text)}" for each in added]
    start = node.start - len(_line_before(text.text, node.start))
    return _spliced(text.text, start, start, "".join(lines))


def _instead_of_the_value(text: ServeText, added: Sequence[Application]) -> str | None:
    """Where there is no list to add to: ``applications:`` with nothing, a null, or an alias."""
    node = _applications(text.root)
    if node is None or isinstance(node, yamlnodes.Sequence):
        return None
    everything = print_json([*text.applications, *added])
    return _spliced(text.text, node.start, node.end, everything if node.start < node.end else f" {everything}")


def _as_a_new_key(text: ServeText, added: Sequence[Application]) -> str | None:
    root = text.root
    everything = [*text.applications, *added]
    if root is None or (isinstance(root, Scalar) and root.start == root.end):
        end = _line_end(text.text)
        gap = end if text.text and not text.text.endswith(("\n", "\r")) else ""
        return text.text + gap + end.join(["applications:", *(f"- {print_json(each)}" for each in everything), ""])
    if not isinstance(root, Mapping):
        return None
    if not root.is_flow:
        indentation = " " * (0 if root.has_properties else root.column)
        lines = ["applications:", *(f"- {print_json(each)}" for each in everything)]
        return _lines_after(text.text, root, [indentation + line for line in lines])
    member = f'"applications": {print_json(everything)}'
    if not root.pairs:
        return _spliced(text.text, root.inside, root.inside, member)
    return _spliced(text.text, root.pairs[-1][1].end, root.pairs[-1][1].end, f", {member}")


def _applications(root: Node | None) -> Node | None:
    """The node of ``applications`` that counts: the last one."""
    pairs = root.pairs if isinstance(root, Mapping) else ()
    found = [value for key, value in pairs if isinstance(key, Scalar) and key.word == "applications"]
    return found[-1] if found else None


def _indentation(text: str, node: yamlnodes.Sequence) -> str:
    """What stands before the dashes of a list."""
    found = _DASH.fullmatch(_line_before(text, node.items[0].start))
    return found[1] if found else " " * (0 if node.has_properties else node.column)


def _lines_after(text: str, node: Node, lines: Sequence[str]) -> str:
    """The text with these lines after the last line that holds something of a node."""
    end, line_end = _content_end(node), _line_end(text)
    at_line_start = end > 0 and text[end - 1] in "\r\n"
    found = None if at_line_start else _LINE_END.search(text, end)
    place = end if at_line_start else found.end() if found else len(text)
    if place == len(text) and not text.endswith(("\n", "\r")):
        return text + "".join(line_end + line for line in lines)
    return _spliced(text, place, place, "".join(line + line_end for line in lines))


def _content_end(node: Node) -> int:
    """Where the last word of a node ends. (A block's own end is where the next thing begins.)"""
    if isinstance(node, yamlnodes.Sequence) and not node.is_flow and node.items:
        return _content_end(node.items[-1])
    if isinstance(node, Mapping) and not node.is_flow and node.pairs:
        return _content_end(node.pairs[-1][1])
    return node.end


def _line_before(text: str, place: int) -> str:
    return text[max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1 : place]


def _line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found[0] if found else "\n"


def _spliced(text: str, start: int, end: int, added: str) -> str:
    return text[:start] + added + text[end:]

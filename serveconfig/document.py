"""A Serve config, as a PUT carries it: read as far as a decision needs, carried byte for byte.

1. Ray reads with Python's json: of a key that stands twice, the last one counts. So it does here.
2. A value is never printed again: ``1.0`` that became ``1`` in ``args`` would restart replicas (facts: section 3).
3. Unknown members are carried. Ray drops them; a later Ray may not.
4. What Ray might read otherwise than we do is refused: other charsets, NaN, lone surrogates, names that are no text.
5. An application without a name is called ``default``, and one without a route prefix answers at ``/``
   (Ray 2.9-2.60, ``serve/schema.py``: ServeApplicationSchema).
6. Names that are not ASCII are refused: they wedge the controller of Ray 2.60 for good (facts: section 7).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from serveconfig.errors import InvalidServeConfigError

MAX_DEPTH = 128
"""How deep a config may nest. Ray's parser gives up somewhere near 1,000, at a depth that depends on its stack; no
config that people write comes near a tenth of this."""

T = TypeVar("T")

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ALL_SQUARE = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class _Read(msgspec.Struct):
    """What is read of one application."""

    name: str = "default"
    route_prefix: str | None = "/"


_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])
_application = msgspec.json.Decoder(_Read)


class Application(msgspec.Struct, frozen=True, gc=False):
    """One application of a config. ``raw`` is its JSON object, in the bytes it came in."""

    name: str
    route_prefix: str | None
    raw: bytes

    @classmethod
    def parse(cls, raw: bytes) -> Application:
        """Read one application.

        Raises:
            InvalidServeConfigError: it is no JSON object, its name or route prefix is no text, or the name not ASCII.
        """
        application = cls.parse_stored(raw)
        if not application.name.isascii():
            raise InvalidServeConfigError(
                f"the application name {application.name!r} is not ASCII: on Ray 2.60 it would keep the Serve "
                "controller from ever deleting an application again. Use ASCII letters, digits, '-' and '_'."
            )
        return application

    @classmethod
    def parse_stored(cls, raw: bytes) -> Application:
        """Read one that Ray has stored already, whatever its name.

        Raises:
            InvalidServeConfigError: it is no JSON object, or its name or route prefix is no text.
        """
        read = decode(_application, raw, "an application")
        return cls(read.name, read.route_prefix, raw)

    def named(self, name: str) -> Application:
        """The same application with its name written out (one member is added; the others stay as they are).

        Raises:
            InvalidServeConfigError: it has a name already, and another one.
        """
        members = decode(_members, self.raw, "an application")
        if "name" not in members:
            return Application(name, self.route_prefix, print_members({"name": msgspec.json.encode(name), **members}))
        if self.name != name:
            raise InvalidServeConfigError(f"the config is for application {self.name!r}, the path for {name!r}.")
        return self


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """The body of a PUT. ``options`` are all members but ``applications``, each in its bytes, in their order."""

    options: Mapping[str, bytes]
    applications: tuple[Application, ...]
    names: frozenset[str] = field(init=False, repr=False, compare=False)
    """The names of its applications."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", frozenset(application.name for application in self.applications))

    @classmethod
    def parse(cls, body: bytes) -> ServeConfig:
        """Read a body. ``{}`` and ``{"applications": []}`` declare nothing, and are valid.

        Raises:
            InvalidServeConfigError: whatever else may be wrong with it; the message says what.
        """
        check_text(body)
        members = decode(_members, body, "the body")
        applications = decode(_items, members.pop("applications", b"[]"), "applications")
        return cls(
            {key: bytes(value) for key, value in members.items()},
            tuple(Application.parse(bytes(raw)) for raw in applications),
        )

    def print(self) -> bytes:
        """The config as JSON: every value in the bytes it was parsed from."""
        applications = b"[" + b",".join(application.raw for application in self.applications) + b"]"
        return print_members({**self.options, "applications": applications})


def check_text(body: bytes) -> None:
    """Refuse what is not UTF-8 or nests too deep, before any parser sees it.

    Raises:
        InvalidServeConfigError: with the place, or the depth.
    """
    try:
        body.decode()
    except UnicodeDecodeError as error:
        raise InvalidServeConfigError(f"the body is not UTF-8: see byte {error.start}.") from None
    if _nests_deeper_than(MAX_DEPTH, body):
        raise InvalidServeConfigError(f"the body nests deeper than {MAX_DEPTH} levels.")


def decode(decoder: msgspec.json.Decoder[T], raw: bytes | msgspec.Raw, what: str) -> T:
    """Decode, with any fault as a sentence about ``what`` that quotes no value.

    Raises:
        InvalidServeConfigError: the JSON is broken or of another shape.
    """
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise InvalidServeConfigError(f"{what}: {error}.") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidServeConfigError(
            f"{what} is not JSON as RFC 8259 has it (no NaN, no lone surrogates, no comments): {error}."
        ) from None


def print_members(members: Mapping[str, bytes | msgspec.Raw]) -> bytes:
    """A JSON object of these members, each value in its bytes."""
    return b"".join(member_parts(members))


def member_parts(members: Mapping[str, bytes | msgspec.Raw]) -> Iterator[bytes | msgspec.Raw]:
    """The same in parts, for those who put more together: each join copies all it joins."""
    before = b"{"
    for key, value in members.items():
        yield from (before, msgspec.json.encode(key), b":", value)
        before = b","
    yield b"}" if members else b"{}"


def _nests_deeper_than(limit: int, body: bytes) -> bool:
    """Only brackets are looked at, outside of strings: each pass takes the innermost level off."""
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    brackets = _STRING.sub(b"", body).translate(_ALL_SQUARE, _NOT_BRACKETS)
    for _ in range(limit):
        outer = brackets.replace(b"[]", b"")
        if len(outer) == len(brackets):
            return False  # nothing left, or brackets that do not match: the parser will say where
        brackets = outer
    return bool(brackets)

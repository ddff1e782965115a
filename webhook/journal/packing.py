"""How a journal lies in Secrets. Pure.

A Secret holds a megabyte. A journal that is smaller, compressed, is one Secret. One that is not has its applications in
parts, by a hash of their names, so that a change writes one part anew and not all of them: a part that grows too large
is halved, and the others stay. A part is never changed: another content is another Secret, with a name that no other
writer comes upon. The head Secret, written last, names the parts that count.

What is read is limited as well as what is written: all RayServices of a cluster share one webhook and its memory, and
whoever may write Secrets in a namespace could lay down a few KiB that become gigabytes.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from serveconfig.journal import Entry
from webhook.journal.document import Journal

T = TypeVar("T")

PART_BYTES = 700 << 10
"""The most that a Secret of ours holds: a megabyte is the limit, and what is written next may compress less well."""

MOST_PARTS = 256
"""How many parts are written, and read."""

READABLE_BYTES = 16 << 20
"""The most that is read of a journal, counted when it is no longer compressed, and so the most that one may have,
whatever is set."""

_HASH_BITS = 32

_LEVEL = 2
"""zlib's. The usual 6 makes configs a little smaller, and takes several times as long."""


class UnreadableJournalError(Exception):
    """What lies in the Secret is no journal of ours. The text says why, never what."""


class JournalFullError(Exception):
    """The journal would be larger than it may be."""


class _Part(msgspec.Struct, frozen=True):
    """Which Secret holds the applications of one bucket, and a checksum of what it held when it was written."""

    name: str
    checksum: int


class _Head(msgspec.Struct, frozen=True):
    """The journal without its applications, and the parts that have them; none: it has them itself."""

    journal: Journal
    parts: tuple[_Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """``head`` is the head Secret's content, ``parts`` maps the names of all parts that it names to theirs."""

    head: bytes
    parts: dict[str, bytes]


def size_bytes(journal: Journal) -> int:
    """How large a journal is, before it is compressed."""
    return len(msgspec.json.encode(_Head(journal)))


def pack(journal: Journal, name: str, before: Packed | None) -> Packed:
    """A journal as contents of Secrets; parts that are in ``before`` are taken from there as they are.

    Raises:
        JournalFullError: it does not fit, however it is divided.
    """
    whole = _compressed(_Head(journal))
    if len(whole) <= PART_BYTES:
        return Packed(whole, {})
    known = {content: part for part, content in before.parts.items()} if before else {}
    contents = list(_leaves(journal.entries))
    if len(contents) > MOST_PARTS:
        raise JournalFullError(f"it would need more than {MOST_PARTS} Secrets")
    parts = [_Part(known.get(each) or _name(name), zlib.crc32(each)) for each in contents]
    head = _compressed(_Head(msgspec.structs.replace(journal, entries={}), tuple(parts)))
    if len(head) > PART_BYTES:
        raise JournalFullError(f"the names in it alone have more than {PART_BYTES >> 10} KiB, compressed")
    return Packed(head, {part.name: content for part, content in zip(parts, contents, strict=True)})


def parts_of(head: bytes, name: str) -> tuple[str, ...]:
    """The parts that the head Secret of this name names.

    Raises:
        UnreadableJournalError: it is no head, or names what is none of its parts: nobody else's Secret is looked at.
    """
    parts = tuple(part.name for part in _decoded(_inflated(head, READABLE_BYTES), _Head).parts)
    if len(parts) > MOST_PARTS or not all(part.startswith(f"{name}-") for part in parts):
        raise UnreadableJournalError("it names what is no part of it")
    return parts


def unpack(packed: Packed) -> Journal:
    """The journal.

    Raises:
        UnreadableJournalError: a part is missing or is not what was written, or all are too much.
    """
    plain = _inflated(packed.head, READABLE_BYTES)
    head, left = _decoded(plain, _Head), READABLE_BYTES - len(plain)
    entries = dict(head.journal.entries)
    for part in head.parts:
        content = packed.parts.get(part.name)
        if content is None or zlib.crc32(content) != part.checksum:
            raise UnreadableJournalError(f"the part {part.name} is missing or not what was written")
        plain = _inflated(content, left)
        left -= len(plain)
        entries |= _decoded(plain, dict[str, Entry])
    return msgspec.structs.replace(head.journal, entries=entries)


def _leaves(entries: dict[str, Entry], bit: int = 0) -> Iterator[bytes]:
    """The applications as contents none of which is too large: halved by one bit after another of their names' hash.

    Raises:
        JournalFullError: one of them is too large by itself.
    """
    content = _compressed(dict(sorted(entries.items())))
    if len(content) <= PART_BYTES:
        yield content
        return
    if len(entries) == 1 or bit == _HASH_BITS:
        raise JournalFullError(f"application {next(iter(entries))!r} has more than {PART_BYTES >> 10} KiB, compressed")
    halves: tuple[dict[str, Entry], dict[str, Entry]] = ({}, {})
    for name, entry in entries.items():
        halves[zlib.crc32(name.encode()) >> bit & 1][name] = entry
    for half in filter(None, halves):
        yield from _leaves(half, bit + 1)


def _compressed(value: object) -> bytes:
    return zlib.compress(msgspec.json.encode(value), _LEVEL)


def _inflated(content: bytes, most: int) -> bytes:
    inflating = zlib.decompressobj()
    try:
        plain = inflating.decompress(content, most + 1)
    except zlib.error:
        raise UnreadableJournalError("its content cannot be read") from None
    if not inflating.eof or len(plain) > most:
        raise UnreadableJournalError(f"its content is cut off, or more than {READABLE_BYTES >> 20} MiB")
    return plain


def _decoded(plain: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(plain, type=kind)
    except (msgspec.DecodeError, RecursionError):
        raise UnreadableJournalError("its content cannot be read") from None


def _name(journal: str) -> str:
    return f"{journal}-{secrets.token_hex(5)}"

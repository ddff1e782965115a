"""How a journal lies in Secrets. Pure.

A Secret holds a megabyte. A journal that is smaller, compressed, is one Secret. One that is not has its applications in
parts, by a hash of their names, so that a change writes one part anew and not all of them. A part is never changed:
another content is another Secret, with a name that no other writer comes upon. The head Secret, written last, names the
parts that count.
"""

from __future__ import annotations

import secrets
import zlib
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from serveconfig.journal import Entry
from webhook.journal.document import Journal

T = TypeVar("T")

PART_BYTES = 700 << 10
"""The most that a Secret of ours holds: a megabyte is the limit, and what is written next may compress less well."""

MOST_PARTS = 64
"""How many parts there may be: some 40 MiB compressed. etcd holds 2 GiB, for a whole cluster."""


class UnreadableJournalError(Exception):
    """What lies in the Secret is no journal of ours. The text says why, never what."""


class JournalFullError(Exception):
    """The journal would be larger than its parts may be."""


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


def pack(journal: Journal, name: str, before: Packed | None) -> Packed:
    """A journal as contents of Secrets; parts that are in ``before`` are taken from there as they are.

    Raises:
        JournalFullError: it does not fit.
    """
    whole = _compressed(_Head(journal))
    if len(whole) <= PART_BYTES:
        return Packed(whole, {})
    known = {zlib.crc32(content): part for part, content in before.parts.items()} if before else {}
    count = 2
    while count <= MOST_PARTS:
        contents = [_compressed(bucket) for bucket in _buckets(journal.entries, count)]
        if max(map(len, contents)) <= PART_BYTES:
            parts = [_Part(known.get(_sum(each)) or _name(name), _sum(each)) for each in contents]
            head = _compressed(_Head(msgspec.structs.replace(journal, entries={}), tuple(parts)))
            return Packed(head, {part.name: content for part, content in zip(parts, contents, strict=True)})
        count *= 2
    raise JournalFullError(f"the journal needs more than {MOST_PARTS} Secrets of {PART_BYTES >> 10} KiB")


def parts_of(head: bytes) -> tuple[str, ...]:
    """The parts that a head names.

    Raises:
        UnreadableJournalError: it is no head.
    """
    return tuple(part.name for part in _read(head, _Head).parts)


def unpack(packed: Packed) -> Journal:
    """The journal.

    Raises:
        UnreadableJournalError: a part is missing or is not what was written.
    """
    head = _read(packed.head, _Head)
    if not head.parts:
        return head.journal
    entries: dict[str, Entry] = {}
    for part in head.parts:
        content = packed.parts.get(part.name)
        if content is None or _sum(content) != part.checksum:
            raise UnreadableJournalError(f"the part {part.name} is missing or not what was written")
        entries |= _read(content, dict[str, Entry])
    return msgspec.structs.replace(head.journal, entries=entries)


def _buckets(entries: dict[str, Entry], count: int) -> list[dict[str, Entry]]:
    buckets: list[dict[str, Entry]] = [{} for _ in range(count)]
    for name in sorted(entries):
        buckets[zlib.crc32(name.encode()) % count][name] = entries[name]
    return buckets


def _compressed(value: object) -> bytes:
    return zlib.compress(msgspec.json.encode(value), 6)


def _read(content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(zlib.decompress(content), type=kind)
    except (zlib.error, msgspec.DecodeError, RecursionError):
        raise UnreadableJournalError("its content cannot be read") from None


def _sum(content: bytes) -> int:
    return zlib.crc32(content)


def _name(journal: str) -> str:
    return f"{journal}-{secrets.token_hex(5)}"

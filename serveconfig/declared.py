"""What KubeRay declared last, and what Ray made of it: all that has to outlive a restart of the sidecar.

1. Only a PUT that Ray accepted (2xx) changes what is declared.
2. What is not known is not guessed: with no record, nothing counts as declared before, so nothing is retired.
3. A PUT whose outcome is not known (Ray carries it out even when nobody waits) leaves its new names in ``attempted``:
   should they run, they are KubeRay's to retire. Names that somebody else had running before are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from serveconfig.document import ServeConfig, print_members
from serveconfig.errors import InvalidServeConfigError
from serveconfig.likeness import Receipt

SCHEMA = 1


class UnreadableRecordError(ValueError):
    """The record is broken, or of a schema this version does not know."""


class _Record(msgspec.Struct, forbid_unknown_fields=True):
    schema: int
    config: msgspec.Raw
    receipts: dict[str, tuple[str, str]]
    attempted: list[str]


_record = msgspec.json.Decoder(_Record)


@dataclass(frozen=True, slots=True)
class Declared:
    """``config`` is KubeRay's last accepted PUT, None while it is not known. ``receipts`` cover all that we sent."""

    config: ServeConfig | None = None
    receipts: Mapping[str, Receipt] = field(default_factory=dict)
    attempted: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The declared applications; none while nothing is known."""
        return self.config.names if self.config else frozenset()

    @property
    def retirable(self) -> frozenset[str]:
        """What KubeRay may delete by no longer naming it."""
        return self.names | self.attempted

    def attempting(self, names: Iterable[str]) -> Declared:
        """About to send a PUT of KubeRay's that creates ``names``."""
        return replace(self, attempted=self.attempted.union(names))

    def not_creating(self, names: Iterable[str]) -> Declared:
        """``names`` were not created by KubeRay after all: Ray refused, or somebody else created them."""
        return replace(self, attempted=self.attempted.difference(names))

    def accepting(self, config: ServeConfig, *, keep_receipts: bool) -> Declared:
        """KubeRay's ``config`` is what Ray has: now that it was accepted, or because it had it already.

        In the first case what Ray made of it is not known yet, so the receipts of its applications are dropped.
        """
        gone = self.names - config.names if keep_receipts else self.names | config.names
        return Declared(config, {name: receipt for name, receipt in self.receipts.items() if name not in gone})

    def noting(self, receipts: Mapping[str, Receipt]) -> Declared:
        """What Ray made of something it accepted."""
        return replace(self, receipts={**self.receipts, **receipts})

    def print(self) -> bytes:
        """The record as JSON, the config in KubeRay's own bytes."""
        return print_members(
            {
                "schema": msgspec.json.encode(SCHEMA),
                "config": self.config.print() if self.config else b"null",
                "receipts": msgspec.json.encode({k: (r.sent, r.stored) for k, r in self.receipts.items()}),
                "attempted": msgspec.json.encode(sorted(self.attempted)),
            }
        )

    @classmethod
    def parse(cls, record: bytes) -> Declared:
        """The inverse of ``print``.

        Raises:
            UnreadableRecordError: with what is wrong; the record is worth keeping aside.
        """
        try:
            read = _record.decode(record)
            config = None if bytes(read.config) == b"null" else ServeConfig.parse(bytes(read.config))
        except (msgspec.DecodeError, InvalidServeConfigError, RecursionError) as error:
            raise UnreadableRecordError(f"not a record of what is declared: {error}") from None
        if read.schema != SCHEMA:
            raise UnreadableRecordError(f"schema {read.schema}, but this version reads schema {SCHEMA}")
        receipts = {name: Receipt(*pair) for name, pair in read.receipts.items()}
        return cls(config, receipts, frozenset(read.attempted))

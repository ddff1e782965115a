"""Who writes a RayService, and whose its dynamic applications are. Pure.

1. A writer is known by its user name and its field manager: two tools of one user are two writers.
2. Dynamic is what a glob of ``holdfast.dev/dynamic-apps`` names, and what was first added by a writer that
   ``holdfast.dev/dynamic-writers`` lists. Who added it is recorded, in an annotation that nobody needs to touch.
3. A dynamic application is its writer's to drop; one that nobody is recorded for (it was there before Holdfast) is any
   listed writer's; and once neither a glob nor the list has it any more, it is anybody's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from webhook.names import ADDED_BY, DYNAMIC_APPS, DYNAMIC_WRITERS


@dataclass(frozen=True, slots=True)
class Writer:
    """Who sends a request: ``userInfo.username`` and ``options.fieldManager``."""

    user: str
    manager: str = ""

    def __str__(self) -> str:
        return f"{self.user} ({self.manager})" if self.manager else self.user


@dataclass(frozen=True, slots=True)
class Ownership:
    """Which applications of a RayService are dynamic, and whose. ``added_by`` maps an application to its writer."""

    globs: tuple[str, ...]
    listed: tuple[str, ...]
    added_by: Mapping[str, str]

    @classmethod
    def of(cls, annotations: Mapping[str, str], stored: Mapping[str, str]) -> Ownership:
        """Read it: the users' words off the object as it comes, our record off what is stored (it is not theirs)."""
        record = stored.get(ADDED_BY) or annotations.get(ADDED_BY) or "{}"
        return cls(_words(annotations.get(DYNAMIC_APPS)), _words(annotations.get(DYNAMIC_WRITERS)), _record(record))

    @property
    def is_in_use(self) -> bool:
        """Can anything be dynamic here?"""
        return bool(self.globs or self.listed or self.added_by)

    def is_dynamic(self, name: str) -> bool:
        """Is an application dynamic? Only while the owner of the RayService says so: a record alone makes none."""
        return self.added_by.get(name) in self.listed or any(fnmatchcase(name, glob) for glob in self.globs)

    def may_drop(self, writer: Writer, name: str) -> bool:
        """Is an application this writer's to drop? One that is not dynamic is anybody's."""
        if not self.is_dynamic(name):
            return True
        if name in self.added_by:
            return self.added_by[name] in (self._listed_as(writer), str(writer))
        return self._listed_as(writer) is not None

    def owner(self, name: str) -> str:
        """Whose an application is, for a message."""
        return self.added_by.get(name, f"a writer that {DYNAMIC_WRITERS} lists")

    def after(self, writer: Writer, added: Iterable[str], present: Iterable[str]) -> Ownership:
        """The record once ``writer`` has added some applications and ``present`` are there."""
        listed = self._listed_as(writer)
        new = {name: listed or str(writer) for name in added if listed or self.is_dynamic(name)}
        remaining = set(present)
        kept = {name: who for name, who in {**new, **self.added_by}.items() if name in remaining}
        return Ownership(self.globs, self.listed, kept)

    def annotation(self) -> str | None:
        """The record as an annotation; None where there is nothing to record."""
        return json.dumps(dict(sorted(self.added_by.items()))) if self.added_by else None

    def _listed_as(self, writer: Writer) -> str | None:
        """The entry of the list that a writer is meant by."""
        matching = (
            entry for entry in self.listed if fnmatchcase(writer.user, entry) or fnmatchcase(writer.manager, entry)
        )
        return next(matching, None)


def _words(annotation: str | None) -> tuple[str, ...]:
    return tuple(word for part in (annotation or "").split(",") if (word := part.strip()))


def _record(text: str) -> dict[str, str]:
    """Whoever has written something else into our annotation has erased the record."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in read.items()} if isinstance(read, dict) else {}

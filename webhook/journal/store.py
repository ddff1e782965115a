"""The Secrets of a journal: read whole, written with the version that was read.

No lock and no leader: of two replicas that write at once, one is told so, reads again and takes the changes again.
Kubernetes removes the Secrets with their RayService, which owns them.

A part that is missing says nothing while the head changes: it was named by the head of before. Only a head that is the
same after a second look, and cannot be read then either, is broken: it is kept under another name before anything is
written in its place.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import logging
from dataclasses import dataclass, replace
from typing import Any

from certs.apiserver import ApiError, ApiServer
from webhook.events import About
from webhook.journal.document import Journal
from webhook.journal.packing import (
    READABLE_BYTES,
    JournalFullError,
    Packed,
    UnreadableJournalError,
    pack,
    parts_of,
    size_bytes,
    unpack,
)
from webhook.names import JOURNAL_LABEL

log = logging.getLogger("holdfast.journal")

_CONTENT = "journal"

_LOOKS = 10
"""How often a journal is looked at that changes under each look. Parts are read at once, so two are hardly needed."""


class ConflictError(Exception):
    """Another replica wrote in between: read again."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What was read. Without a ``version`` there is no Secret; ``journal`` is a new one then.

    ``kept_as`` is the Secret under which one was kept just now that could not be read.
    """

    journal: Journal
    version: str | None = None
    packed: Packed | None = None
    kept_as: str = ""


def secret_name(rayservice: str) -> str:
    """The head Secret of a RayService's journal."""
    return f"{rayservice}-holdfast-journal"


class JournalStore:
    """Every journal, in one cluster. None grows beyond ``most_bytes``, before it is compressed."""

    def __init__(self, api: ApiServer, most_bytes: int) -> None:
        self._api = api
        self._most_bytes = min(most_bytes, READABLE_BYTES)

    async def read(self, about: About) -> Stored:
        """The journal of a RayService, or a new one. One that cannot be read is kept aside, and a new one written.

        Raises:
            ConflictError: it changed under every look.
            ApiError, UnreachableError: as ever.
        """
        failed: str | None = None
        for _ in range(_LOOKS):
            secret = await self._api.find(f"{_secrets(about)}/{secret_name(about.name)}")
            if secret is None or not _is_owned(secret, about):
                # Of a RayService of the same name that is gone: Kubernetes is about to remove it.
                return Stored(Journal.new(), secret and secret["metadata"]["resourceVersion"])
            version = str(secret["metadata"]["resourceVersion"])
            try:
                packed = await self._packed(about, _content(secret))
                return Stored(await asyncio.to_thread(unpack, packed), version, packed)
            except UnreadableJournalError as error:
                if version == failed:
                    return await self._put_aside(about, secret, error)
                failed = version
        raise ConflictError("the journal was written anew under every look")

    async def look(self, about: About) -> Journal | None:
        """The journal of a RayService as it is, and nothing is written; None where there is none.

        Raises:
            UnreadableJournalError: it is broken, or was written anew while it was read.
            ApiError, UnreachableError: as ever.
        """
        secret = await self._api.find(f"{_secrets(about)}/{secret_name(about.name)}")
        if secret is None or not _is_owned(secret, about):
            return None
        return await asyncio.to_thread(unpack, await self._packed(about, _content(secret)))

    async def write(self, about: About, journal: Journal, over: Stored) -> None:
        """Write a journal, if it is still as it was read in ``over``.

        Raises:
            ConflictError: it is not.
            JournalFullError: it does not fit, and is larger than it was.
            ApiError, UnreachableError: as ever.
        """
        if (size := size_bytes(journal)) > self._most_bytes and size > size_bytes(over.journal):
            raise JournalFullError(
                f"it would have {size} bytes before it is compressed, and may have {self._most_bytes}"
            )
        name = secret_name(about.name)
        packed = await asyncio.to_thread(pack, journal, name, over.packed)
        before = over.packed.parts if over.packed else {}
        new = [part for part in packed.parts if part not in before]
        for part in new:
            await self._api.create(_secrets(about), _secret(about, part, packed.parts[part]))
        head = _secret(about, name, packed.head)
        try:
            if over.version is None:
                await self._api.create(_secrets(about), head)
            else:
                head["metadata"]["resourceVersion"] = over.version
                await self._api.replace(f"{_secrets(about)}/{name}", head)
        except ApiError as error:
            if not (error.conflict or error.not_found):
                raise
            await self._remove(about, new)
            raise ConflictError(str(error)) from error
        await self._remove(about, [part for part in before if part not in packed.parts])

    async def _packed(self, about: About, head: bytes) -> Packed:
        names = parts_of(head, secret_name(about.name))
        found = await asyncio.gather(*(self._api.find(f"{_secrets(about)}/{name}") for name in names))
        return Packed(head, {name: _content(each) for name, each in zip(names, found, strict=True) if each})

    async def _put_aside(self, about: About, secret: dict[str, Any], fault: Exception) -> Stored:
        """Keep what cannot be read, under another name, and only then write a new one in its place."""
        version = str(secret["metadata"]["resourceVersion"])
        name = f"{secret_name(about.name)}-unreadable-{version}"
        try:
            await self._api.create(_secrets(about), {**_secret(about, name, b""), "data": secret.get("data") or {}})
        except ApiError as error:
            if not error.conflict:  # it is there already, if another replica got so far
                raise
        log.error("a journal is put aside", extra={"namespace": about.namespace, "secret": name, "error": str(fault)})
        with contextlib.suppress(ConflictError):  # another replica has begun the new one
            await self.write(about, Journal.new(), Stored(Journal.new(), version))
        return replace(await self.read(about), kept_as=name)

    async def _remove(self, about: About, parts: list[str]) -> None:
        for part in parts:
            with contextlib.suppress(ApiError):
                await self._api.delete(f"{_secrets(about)}/{part}")


def _secrets(about: About) -> str:
    return f"/api/v1/namespaces/{about.namespace}/secrets"


def _secret(about: About, name: str, content: bytes) -> dict[str, Any]:
    owner = {"apiVersion": "ray.io/v1", "kind": "RayService", "name": about.name, "uid": about.uid}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "holdfast.dev/journal",
        "metadata": {
            "name": name,
            "namespace": about.namespace,
            "labels": {JOURNAL_LABEL: "true", "app.kubernetes.io/managed-by": "holdfast"},
            "ownerReferences": [owner],
        },
        "data": {_CONTENT: base64.b64encode(content).decode()},
    }


def _is_owned(secret: dict[str, Any], about: About) -> bool:
    return any(owner["uid"] == about.uid for owner in secret["metadata"].get("ownerReferences") or ())


def _content(secret: dict[str, Any]) -> bytes:
    try:
        return base64.b64decode((secret.get("data") or {}).get(_CONTENT, ""), validate=True)
    except binascii.Error:
        raise UnreadableJournalError("its content is no base64") from None

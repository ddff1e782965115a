"""One call to the journal at a time, over TLS: who it is, is checked by its certificate; who we are, by our token.

Token and authority are files that the kubelet replaces: both are read when they are needed. A new authority needs no
restart, and neither does a journal that has moved to another one.
"""

from __future__ import annotations

import asyncio
import ssl
from http import HTTPStatus
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from proxy.http.head import Headers
from proxy.http.local import Answer
from proxy.http.upstream import Upstream, UpstreamError
from proxy.settings import Settings
from serveconfig.journal import Changes, Page, Taken

T = TypeVar("T")

_TIMEOUT_S = 10.0
_CONNECT_S = 3.0


class JournalError(Exception):
    """The journal did not do it. The text says why, and quotes nothing that was sent; ``status`` is 0 without one."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


class JournalClient:
    """The journal of one RayService."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        at = urlsplit(settings.journal_url)
        self._host, self._port = at.hostname or "", at.port or 443
        namespace, _, name = settings.journal_rayservice.partition("/")
        self._path = f"/v1/journal/{quote(namespace, safe='')}/{quote(name, safe='')}"
        self._upstream: Upstream | None = None
        self._trusted = b""

    async def read(self, journal: str, since: int) -> Page:
        """What has changed since a revision of a journal.

        Raises:
            JournalError: it did not say.
        """
        return self._read(
            await self._call(b"GET", f"{self._path}?since={since}&journal={quote(journal, safe='')}"), Page
        )

    async def write(self, changes: Changes) -> Taken:
        """Changes, for the journal to take. Sending them twice does no harm.

        Raises:
            JournalError: it did not take them, or nobody knows.
        """
        return self._read(await self._call(b"PATCH", self._path, msgspec.json.encode(changes)), Taken)

    async def close(self) -> None:
        """Hang up."""
        if self._upstream:
            await self._upstream.close()

    async def _call(self, method: bytes, target: str, body: bytes = b"") -> Answer:
        try:
            token, trust = await asyncio.to_thread(self._files)
            upstream = await self._trusting(trust)
            headers: Headers = ((b"Authorization", b"Bearer " + token), (b"User-Agent", b"holdfast"))
            if body:
                headers = (*headers, (b"Content-Type", b"application/json"))
            limit = self._settings.max_answer_bytes
            async with asyncio.timeout(_TIMEOUT_S):
                answer = await upstream.exchange(
                    method, target.encode(), headers, [body] if body else (), max_answer_bytes=limit
                )
        except (OSError, TimeoutError, UpstreamError) as error:
            raise JournalError(f"{type(error).__name__}: {error}" if str(error) else "no answer in time") from error
        if answer.status != HTTPStatus.OK:
            raise JournalError(f"the journal answered {answer.status}: {_title(answer)}", answer.status)
        return answer

    def _files(self) -> tuple[bytes, bytes]:
        """The token, and whom to trust."""
        names = (self._settings.journal_token_file, self._settings.journal_ca_file)
        token, trust = (Path(name).read_bytes() for name in names)
        return token.strip(), trust

    async def _trusting(self, trust: bytes) -> Upstream:
        if self._upstream is None or trust != self._trusted:
            await self.close()
            context = ssl.create_default_context(cadata=trust.decode("ascii", "replace"))
            self._upstream = Upstream(
                self._host, self._port, connect_timeout_s=_CONNECT_S, max_idle=1, tls=context, who="The journal"
            )
            self._trusted = trust
        return self._upstream

    def _read(self, answer: Answer, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(b"".join(answer.body), type=kind)
        except (msgspec.DecodeError, RecursionError) as error:
            raise JournalError("what the journal answered cannot be read") from error


def _title(answer: Answer) -> str:
    """The title of a problem (RFC 9457): a constant text, unlike its details."""
    try:
        said = msgspec.json.decode(b"".join(answer.body))
    except msgspec.DecodeError:
        return "no reason given"
    return str(said.get("title", "no reason given"))[:100] if isinstance(said, dict) else "no reason given"

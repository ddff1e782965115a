"""What is asked of a sidecar, and its answers as values: bytes where a config is in them, so that no number changes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import msgspec

from cli.apps.errors import NotReachedError, RefusedError, UsageError
from cli.apps.reaching import Answer, Way
from serveconfig.callers import SERVE_PATH
from serveconfig.document import Application

APPLICATIONS = "/-/applications/"

DRY_RUN = "?dry_run=true"
GOING = "deleting"
_PUT_WORDS: dict[int, str] = {HTTPStatus.CREATED: "created", HTTPStatus.ACCEPTED: "accepted; Ray does not show it yet"}

_NAME = re.compile(r"[ -.0-~]{1,200}")
_TEXT = 500
"""How much of an answer that is no JSON is quoted, in characters."""


@dataclass(frozen=True, slots=True)
class Sidecar:
    """One sidecar. ``headers`` go along with every request.

    Every method raises RefusedError with the answer's own words where it is no success, and NotReachedError where there
    is none, or none of a sidecar.
    """

    way: Way
    headers: Mapping[str, str]

    async def list(self) -> Any:  # noqa: ANN401 - JSON
        """All applications, without their configs: ``{"applications": [...]}``."""
        return _json(await self._ask("GET", APPLICATIONS))

    async def status(self) -> Any:  # noqa: ANN401 - JSON
        """``/-/status``."""
        return _json(await self._ask("GET", "/-/status"))

    async def running(self) -> bytes:
        """Ray's own list with the configs, unfiltered: we are not KubeRay."""
        return (await self._ask("GET", SERVE_PATH)).body

    async def get(self, name: str) -> bytes | None:
        """One application with its config; None if there is none."""
        try:
            return (await self._ask("GET", _path(name))).body
        except RefusedError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    async def put(self, application: Application, *, dry_run: bool = False, if_match: str | None = None) -> str:
        """Add or replace one, and say so in a word."""
        conditions = {"If-Match": if_match} if if_match else {}
        path = _path(application.name) + (DRY_RUN if dry_run else "")
        answer = await self._ask("PUT", path, conditions, application.raw)
        return _rehearsed(answer) if dry_run else _PUT_WORDS.get(answer.status, "applied")

    async def delete(self, name: str, *, dry_run: bool = False) -> str:
        """Delete one, and say so in a word; ``GOING`` if it is on its way."""
        answer = await self._ask("DELETE", _path(name) + (DRY_RUN if dry_run else ""))
        if dry_run:
            return _rehearsed(answer)
        return "deleted" if answer.status == HTTPStatus.NO_CONTENT else GOING

    async def expect_dry_run(self) -> None:
        """A sidecar that does not know of dry runs would do the change: ask first.

        Raises:
            RefusedError: it does not.
        """
        if b'"dry_run"' not in (await self._ask("GET", "/-/openapi.json")).body:
            raise RefusedError("this sidecar is older than --dry-run, and would do it. Nothing was changed")

    async def _ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answer:
        answer = await self.way.ask(method, path, {**self.headers, **(headers or {})}, body)
        if 200 <= answer.status < 300:  # noqa: PLR2004 - success
            return answer
        raise RefusedError(_words(answer), answer.status)


def _path(name: str) -> str:
    """Raises UsageError for a name that no application has."""
    if not _NAME.fullmatch(name) or name in {".", ".."}:
        raise UsageError(f"{name!r} is no name of an application: ASCII without '/', at most 200 characters")
    return APPLICATIONS + quote(name, safe="")


def _rehearsed(answer: Answer) -> str:
    would = _json(answer)["would"]
    return "would not change" if would == "nothing" else f"would {would}"


def _json(answer: Answer) -> Any:  # noqa: ANN401 - JSON
    try:
        return msgspec.json.decode(answer.body)
    except msgspec.DecodeError as error:
        raise NotReachedError("what answers is no sidecar of Holdfast: its answer is no JSON") from error


def _words(answer: Answer) -> str:
    """What a refusal says: a problem's ``detail``, or the text as it is."""
    text = answer.body.decode(errors="replace").strip()
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if isinstance(said, dict) and said.get("detail"):
        return str(said["detail"]).rstrip(".")
    return f"HTTP {answer.status}{': ' if text else ''}{text[:_TEXT]}".rstrip(".")

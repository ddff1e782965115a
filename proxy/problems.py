"""Refusals and faults as answers: RFC 9457 problem documents, a sentence each."""

from __future__ import annotations

from http import HTTPStatus

import msgspec

from proxy.http import local
from proxy.http.local import Answer

RETRY_AFTER_S = 2
"""KubeRay's own pace: it reconciles every 2 s."""


def problem(status: int, title: str, detail: str) -> Answer:
    """``{"type": "about:blank", "title", "status", "detail"}``; with 503 also when to come again."""
    again = ((b"Retry-After", str(RETRY_AFTER_S).encode()),) if status == HTTPStatus.SERVICE_UNAVAILABLE else ()
    return local.problem(status, detail, again, title)


def json_answer(value: object, status: int = 200, headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    """``value`` as JSON."""
    return Answer(status, ((b"Content-Type", b"application/json"), *headers), (msgspec.json.encode(value),))

"""One HTTP exchange on loopback, with exactly the header lines it is given. Standard library only."""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit


class NoAnswerError(Exception):
    """The other side refused, hung up or took too long."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer."""

    status: int
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004 - RFC 9110, 15.3

    @property
    def text(self) -> str:
        """For a person, on one line: the title of a problem (RFC 9457), else the beginning of the body."""
        try:
            return str(json.loads(self.body)["title"])
        except (ValueError, TypeError, KeyError):  # no JSON, or no problem
            return " ".join(self.body[:2000].decode(errors="replace").split())[:200]


def exchange(
    base_url: str,
    method: str,
    target: str,
    *,
    headers: Sequence[tuple[str, str]],
    body: bytes | None = None,
    timeout_s: float,
) -> Reply:
    """Send one request to `base_url` (http://host:port) and read the whole answer.

    Raises:
        NoAnswerError: no connection, no whole answer, or silence for `timeout_s` seconds.
    """
    address = urlsplit(base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=timeout_s)
    try:
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return Reply(answer.status, answer.read())
    except (OSError, http.client.HTTPException) as error:
        raise NoAnswerError(f"{method} {target}: {str(error) or type(error).__name__}") from error
    finally:
        connection.close()


def host(base_url: str) -> str:
    """The value of the Host header for a base URL."""
    return urlsplit(base_url).netloc

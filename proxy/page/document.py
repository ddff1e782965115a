"""The page as it is sent: one document, read and joined once, when the sidecar starts.

1. Its policy lets run what is in the document, by its digest, and nothing else: no script of another origin, and none
   that a name of an application could bring in.
2. It may connect to where it came from, and to nowhere else; nobody may frame it.
3. It is not stored: after an update of Holdfast the next look at it is the new one.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from proxy.http.head import Headers
from proxy.http.local import Answer, Request
from proxy.ray import Ray

SCRIPTS = ("words.js", "table.js", "page.js")
STYLE_HERE, SCRIPT_HERE = b"/* the style */", b"/* the scripts */"
"""Where ``page.html`` wants them."""


@dataclass(frozen=True, slots=True)
class Page:
    """Answers ``/-/``."""

    body: bytes
    headers: Headers

    @classmethod
    def read(cls, folder: Path = Path(__file__).parent) -> Page:
        """The page whose files lie in ``folder``."""
        html, style = (folder / "page.html").read_bytes(), (folder / "page.css").read_bytes()
        script = b"\n".join((folder / name).read_bytes() for name in SCRIPTS)
        body = html.replace(STYLE_HERE, style).replace(SCRIPT_HERE, script)
        return cls(
            body,
            (
                (b"Content-Type", b"text/html; charset=utf-8"),
                (b"Content-Security-Policy", _policy(style, script)),
                (b"X-Content-Type-Options", b"nosniff"),
                (b"Referrer-Policy", b"no-referrer"),
                (b"Cache-Control", b"no-store"),
            ),
        )

    async def get(self, _ray: Ray, _request: Request) -> Answer:
        """The page. Nothing about Ray: what is not known yet, the page asks for and says."""
        return Answer(HTTPStatus.OK, self.headers, (self.body,))


def _policy(style: bytes, script: bytes) -> bytes:
    """Rules 1 and 2. The icon is a ``data:`` URL in the document."""
    return (
        b"default-src 'none'; script-src %s; style-src %s; img-src data:; connect-src 'self'; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'" % (_digest(script), _digest(style))
    )


def _digest(content: bytes) -> bytes:
    return b"'sha256-%s'" % b64encode(hashlib.sha256(content).digest())

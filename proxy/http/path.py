"""The path of a request target, as Ray's router matches it. Pure.

aiohttp (3.10 to 3.14, ``web_urldispatcher.py``) matches on yarl's ``path_safe``: percent-decoded, but for ``%2F`` and
``%25``; escapes that are not UTF-8 stay as they are; dot segments are not resolved, slashes not merged. Older versions
match the raw path: a spelling that is decoded here is unknown to Ray there, so seeing through it costs nothing.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_AUTHORITY_END = re.compile(rb"[/?#]|\Z")
_SCHEME = re.compile(rb"[A-Za-z0-9+.\-]+:")


def path_and_query(target: bytes) -> tuple[str, bytes]:
    """The decoded path and the raw query (without its ``?``) of a target in any of the forms of RFC 9112, 3.2.

    The fragment is cut: no client should send one, and aiohttp ignores it.
    """
    rest = target if target.startswith(b"/") else _without_authority(target)
    rest = rest.partition(b"#")[0]
    path, _, query = rest.partition(b"?")
    text = path.decode("utf-8", "surrogateescape")
    return (_ESCAPES.sub(_decoded, text) if "%" in text else text), query


def _without_authority(target: bytes) -> bytes:
    """An absolute-form target without scheme and authority; any other as it is (``*``, ``host:port``)."""
    scheme = _SCHEME.match(target)
    if scheme is None:
        return target
    rest = target[scheme.end() :]
    if not rest.startswith(b"//"):
        return rest
    end = _AUTHORITY_END.search(rest, 2)
    path = rest[end.start() :] if end else b""
    return path if path.startswith(b"/") else b"/" + path


def _decoded(escapes: re.Match[str]) -> str:
    octets = bytes.fromhex(escapes[0].replace("%", ""))
    text = octets.decode("utf-8", "surrogateescape").replace("%", "%25").replace("/", "%2F")
    return _NOT_UTF8.sub(lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", text)

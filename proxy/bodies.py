"""The body of a PUT, as Ray would read it; or why it is not read.

Ray decodes a body by the charset its Content-Type names and, up to 2.40, by its Content-Encoding. What we merge must be
what Ray reads: so a charset other than UTF-8 is refused, and gzip is unpacked here (Ray from 2.47 on cannot, and
answers 500).
"""

from __future__ import annotations

import zlib

from proxy.http.head import RequestHead
from proxy.http.local import BodyTooLargeError, Request
from serveconfig.errors import Refusal

_WINDOW = {
    b"": 0,
    b"identity": 0,
    b"gzip": zlib.MAX_WBITS | 16,
    b"x-gzip": zlib.MAX_WBITS | 16,
    b"deflate": zlib.MAX_WBITS,
}
_UTF8 = (b"", b"utf-8", b"utf8", b"us-ascii", b"ascii")


class UnsupportedBodyError(Refusal):
    """The body is in a form that is not read here."""

    status = 415
    title = "Body cannot be read"


class ConfigTooLargeError(Refusal):
    """The body, or what it unpacks to, is over the limit."""

    status = 413
    title = "Serve config is too large"

    def __init__(self, limit: int) -> None:
        """``limit`` in bytes."""
        super().__init__(
            f"the Serve config is over {limit} bytes. Split it, or raise HOLDFAST_MAX_CONFIG_BYTES (and the sidecar's "
            "memory limit: a PUT takes about four times its size)."
        )


async def read_config(request: Request, limit: int) -> bytes:
    """The body, unpacked: at most ``limit`` bytes, as is what it takes to unpack it.

    Raises:
        UnsupportedBodyError: a charset or coding that Ray would read otherwise, or a body that does not unpack.
        ConfigTooLargeError, and what else ``Request.read`` raises.
    """
    charset = _charset(request.head)
    if charset not in _UTF8:
        raise UnsupportedBodyError("the Content-Type names a charset other than UTF-8. Send the config as UTF-8.")
    coding = (request.head.first(b"content-encoding") or b"").strip().lower()
    if coding not in _WINDOW or len(request.head.all(b"content-encoding")) > 1:
        raise UnsupportedBodyError("the Content-Encoding is neither gzip nor deflate. Send the config unpacked.")
    try:
        body = await request.read(limit)
    except BodyTooLargeError:
        raise ConfigTooLargeError(limit) from None
    return _unpacked(body, _WINDOW[coding], limit) if _WINDOW[coding] else body


def _charset(head: RequestHead) -> bytes:
    """The charset parameter of the Content-Type, in lower case without quotes; empty where there is none."""
    for parameter in (head.first(b"content-type") or b"").split(b";")[1:]:
        name, _, value = parameter.partition(b"=")
        if name.strip().lower() == b"charset":
            return value.strip().strip(b"\"'").lower()
    return b""


def _unpacked(body: bytes, window: int, limit: int) -> bytes:
    unpacking = zlib.decompressobj(window)
    try:
        unpacked = unpacking.decompress(body, limit + 1)
    except zlib.error:
        raise UnsupportedBodyError("the body is not what its Content-Encoding says.") from None
    if len(unpacked) > limit:
        raise ConfigTooLargeError(limit)
    if not unpacking.eof or unpacking.unused_data:
        raise UnsupportedBodyError("the packed body ends too early, or something follows it.")
    return unpacked

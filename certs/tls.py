"""A certificate in the live `ssl.SSLContext`: the next handshake gets the new one, no connection is dropped.

The key never touches a disk: OpenSSL reads certificates from files only, and the files here are in memory.
"""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from certs.bundle import Pair


class LiveContext:
    """A server's TLS context whose certificate can be changed while it serves."""

    def __init__(self) -> None:
        self.context = _server_context()
        """To be given to the server once; it stays the same object."""

        self.trust_pem = b""
        """Whom clients are to trust, as PEM; empty where nobody has said so."""

        self._loaded: Pair | None = None

    @property
    def loaded(self) -> Pair | None:
        """What the next handshake gets; None: no handshake can succeed yet."""
        return self._loaded

    def load(self, pair: Pair) -> bool:
        """Serve ``pair`` from the next handshake on; False if that is what is served already.

        Raises:
            ssl.SSLError: OpenSSL cannot read it. What was served before is still served.
        """
        if pair == self._loaded:
            return False
        with _as_files(pair) as (cert, key):
            # OpenSSL sets the certificate before it looks at the key: a pair that does not belong together would
            # leave the live context with half of it.
            _server_context().load_cert_chain(cert, key)
            self.context.load_cert_chain(cert, key)
        self._loaded = pair
        return True


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


@contextmanager
def _as_files(pair: Pair) -> Iterator[tuple[Path, Path]]:
    if not hasattr(os, "memfd_create"):  # not Linux: a developer's machine
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            cert, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
            cert.write_bytes(pair.cert_pem)
            key.write_bytes(pair.key_pem)
            yield cert, key
        return
    with _in_memory(pair.cert_pem) as cert, _in_memory(pair.key_pem) as key:
        yield cert, key


@contextmanager
def _in_memory(content: bytes) -> Iterator[Path]:
    with os.fdopen(os.memfd_create("holdfast", os.MFD_CLOEXEC), "wb") as file:
        file.write(content)
        file.flush()
        yield Path(f"/proc/self/fd/{file.fileno()}")

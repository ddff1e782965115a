"""Certificates that somebody else keeps in a mounted folder: cert-manager, or a person. Read again as they change."""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path

from certs.bundle import CA_CERT, CERT, KEY, Pair, UnreadableBundleError
from certs.metrics import CertificateMetrics
from certs.tls import LiveContext

log = logging.getLogger("holdfast.certs")

_PERIOD_S = 10.0
"""How often the folder is looked at, in seconds. The kubelet brings a changed Secret within about a minute; a mounted
Secret is a link that is moved, which a watch on the files would lose."""


class Folder:
    """``tls.crt`` and ``tls.key`` in a folder, as in a mounted Secret of type ``kubernetes.io/tls``.

    A ``ca.crt`` beside them is what sidecars are told to trust; without one they go without the journal.
    """

    def __init__(self, folder: Path, live: LiveContext, metrics: CertificateMetrics) -> None:
        self._folder = folder
        self._live = live
        self._metrics = metrics

    async def run(self) -> None:
        """Load what is there, and again whenever it changes, until cancelled. A bad pair leaves the last good one."""
        while True:
            self.step()
            await asyncio.sleep(_PERIOD_S)

    def step(self) -> bool:
        """Look once. True if a certificate is served."""
        try:
            pair = Pair((self._folder / CERT).read_bytes(), (self._folder / KEY).read_bytes())
            trust = self._folder / CA_CERT
            self._live.trust_pem = trust.read_bytes() if trust.exists() else b""
            if self._live.load(pair):
                end = pair.certificate().not_valid_after_utc
                self._metrics.expiry.set(end.timestamp())
                log.info("certificate loaded", extra={"folder": str(self._folder), "until": end.isoformat()})
                if not self._live.trust_pem:
                    log.warning("no ca.crt: sidecars go without the journal", extra={"folder": str(self._folder)})
        except (OSError, ssl.SSLError, UnreadableBundleError) as error:
            self._metrics.failures.inc()
            log.warning("certificate not loaded", extra={"folder": str(self._folder), "error": str(error)})
        return self._live.loaded is not None

"""The loop: read the Secret, see that the API server trusts it, serve it, renew it when due; again at every change.

A step is safe to repeat and to run in every replica at once. Whatever fails, the last good certificate is served on,
and the step is tried again: a webhook with an old certificate is better than none.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from certs import authority
from certs.apiserver import ApiError, UnreachableError
from certs.bundle import Bundle
from certs.metrics import CertificateMetrics
from certs.renewal import Due, Reason, Terms, due
from certs.store import ConflictError, Stored
from certs.tls import LiveContext

log = logging.getLogger("holdfast.certs")

_PERIOD_S = 60.0
"""How often everything is looked at though nothing seems to have changed, in seconds. It bounds how late a renewal
is, and how long a change stays unseen that a broken watch did not report."""

_RETRY_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""After so many failures in a row, so many seconds; the last one from then on."""

_ATTEMPTS = 5
"""How often a step reads again because another replica wrote first. Each time one of them has succeeded."""


class CertificateStore(Protocol):
    """What the loop needs of a cluster; `certs.store.Store` is it."""

    async def read(self) -> Stored:
        """The bundle that is shared."""

    async def write(self, bundle: Bundle, over: Stored) -> None:
        """Share another. Raises ConflictError."""

    async def trust(self, trust_pem: bytes) -> bool:
        """Make the API server trust it; False if it did. Raises ConflictError."""

    async def wait_for_change(self, timeout_s: float) -> None:
        """Wait for somebody else's change, or until the time is over."""


class Rotation:
    """Keeps the certificate in ``live`` good."""

    def __init__(
        self,
        store: CertificateStore,
        live: LiveContext,
        metrics: CertificateMetrics,
        *,
        names: tuple[str, ...],
        terms: Terms | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._live = live
        self._metrics = metrics
        self._names = names
        self._terms = terms or Terms()
        self._clock = clock
        self._served: Bundle | None = None

    async def run(self) -> None:
        """Step for ever, until cancelled."""
        failures = 0
        while True:
            try:
                await self.step()
                failures = 0
                await self._store.wait_for_change(_PERIOD_S)
            except (ApiError, UnreachableError, ConflictError, ssl.SSLError) as error:
                self._metrics.failures.inc()
                pause_s = _RETRY_S[min(failures, len(_RETRY_S) - 1)]
                failures += 1
                log.warning("certificates not looked after", extra={"error": str(error), "retry_s": pause_s})
                await asyncio.sleep(pause_s)

    async def step(self) -> Bundle:
        """Leave behind a good certificate: shared, trusted and served.

        Raises:
            ConflictError: others wrote first, five times in a row.
            ApiError, UnreachableError: the API server refused, or is away.
            ssl.SSLError: OpenSSL does not take the certificate.
        """
        for _ in range(_ATTEMPTS - 1):
            try:
                return await self._step()
            except ConflictError:
                log.info("another replica wrote first")
        return await self._step()

    async def _step(self) -> Bundle:
        bundle = await self._good(await self._store.read())
        if await self._store.trust(bundle.trust_pem()):
            self._metrics.trust_repairs.inc()
            log.info("the webhook configuration trusts our authority")
        self._serve(bundle)
        return bundle

    async def _good(self, stored: Stored) -> Bundle:
        if stored.bundle is None:
            return await self._renew(self._missing(), stored, self._served)
        needed = due(stored.bundle, self._names, self._terms, self._clock())
        return await self._renew(needed, stored, stored.bundle) if needed else stored.bundle

    def _missing(self) -> Due:
        # If the Secret was deleted under us, another authority takes over, but as an aging one is replaced: what is
        # served, which the API server trusts, stays until the new authority has spread.
        served_well = self._served and not due(self._served, self._names, self._terms, self._clock())
        return Due(Reason.MISSING, authority=True, serving=not served_well)

    async def _renew(self, needed: Due, stored: Stored, previous: Bundle | None) -> Bundle:
        bundle = authority.renew(needed, previous, self._names, self._terms, self._clock())
        if needed.authority and stored.bundle:
            # Trusted before it is shared: another replica may serve it the moment it can read it.
            await self._store.trust(bundle.trust_pem())
        await self._store.write(bundle, stored)
        self._metrics.renewals.labels(needed.reason).inc()
        log.info(
            "certificate renewed",
            extra={"reason": needed.reason, "authority": needed.authority, "serving": needed.serving},
        )
        return bundle

    def _serve(self, bundle: Bundle) -> None:
        if self._live.load(bundle.serving):
            end = bundle.serving.certificate().not_valid_after_utc
            log.info("certificate loaded", extra={"until": end.isoformat()})
        self._served = bundle
        self._live.trust_pem = bundle.trust_pem()
        self._metrics.expiry.set(bundle.serving.certificate().not_valid_after_utc.timestamp())
        self._metrics.authority_expiry.set(bundle.authority.certificate().not_valid_after_utc.timestamp())

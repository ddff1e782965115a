"""What can be seen of the certificates. All exist at zero before the first one."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from certs.renewal import Reason


class CertificateMetrics:
    """Registered in the registry of the server that the certificates are for."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.expiry = Gauge(
            "holdfast_certificate_expiry_timestamp_seconds",
            "When the certificate that is served ends, in Unix time; 0 before there is one.",
            registry=registry,
        )
        self.authority_expiry = Gauge(
            "holdfast_certificate_authority_expiry_timestamp_seconds",
            "When the authority that signs ends, in Unix time; 0 if that is not Holdfast's own.",
            registry=registry,
        )
        self.renewals = Counter(
            "holdfast_certificate_renewals_total", "Certificates made by this replica.", ["reason"], registry=registry
        )
        self.trust_repairs = Counter(
            "holdfast_certificate_trust_writes_total",
            "Times this replica wrote the caBundle of the webhook configuration, as it was missing or outdated.",
            registry=registry,
        )
        self.failures = Counter(
            "holdfast_certificate_failures_total",
            "Steps of the rotation that failed; the last good certificate is still served.",
            registry=registry,
        )
        for reason in Reason:
            self.renewals.labels(reason)

"""How the objects are called that the certificates live in. Pure. The manifests use the same words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Where the webhook runs."""

    namespace: str = "holdfast"
    service: str = "holdfast-webhook"
    """The Service that the API server calls; the certificate is for its names."""

    secret: str = "holdfast-webhook-tls"  # noqa: S105 - the name of a Secret, not a secret
    configuration: str = "holdfast"
    """The MutatingWebhookConfiguration whose ``caBundle`` is kept in place."""

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Place:
        """The place that the manifests name: ``HOLDFAST_NAMESPACE``, ``_SERVICE``, ``_SECRET``, ``_CONFIGURATION``."""
        variables = {name: f"HOLDFAST_{name.upper()}" for name in ("namespace", "service", "secret", "configuration")}
        return cls(**{name: environ[variable] for name, variable in variables.items() if environ.get(variable)})

    def names(self) -> tuple[str, ...]:
        """The names that clients use. The API server's is the first: ``<service>.<namespace>.svc``."""
        host = f"{self.service}.{self.namespace}.svc"
        return (host, f"{host}.cluster.local")

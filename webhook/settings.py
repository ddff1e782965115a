"""All that can be set of the webhook, with its unit, default and reason. Pure. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy import environment
from proxy.environment import MIB, Address

PREFIX = "HOLDFAST_WEBHOOK_"


@dataclass(frozen=True, slots=True)
class Settings:
    """The webhook's settings. Each is read from ``HOLDFAST_WEBHOOK_`` and its name in capitals."""

    listen: Address = Address("0.0.0.0", 9443)  # noqa: S104 - the API server comes from outside the pod
    """Where the API server's calls arrive, over TLS."""

    sidecar_image: str = ""
    """The image of the sidecar: the one that the webhook itself runs from. Without it no head is injected."""

    sidecar_pull_policy: str = "IfNotPresent"
    """When the kubelet pulls it."""

    sidecar_cpu: str = "10m"
    """How much CPU the sidecar asks for: KubeRay polls every 2 s, which is nothing."""

    sidecar_cpu_limit: str = "1"
    """How much it may use: a PUT of a thousand applications should not take a second more for want of it."""

    sidecar_memory: str = "64Mi"
    """How much memory it asks for: a little more than it has after its start."""

    sidecar_memory_limit: str = "512Mi"
    """How much it may use: room for the largest list of applications, read, filtered and sent."""

    max_body_bytes: int = 7 * MIB
    """The largest review that is read. etcd stores no object above 1.5 MiB and the API server reads no request above
    3 MiB; a review carries an object twice, as it comes and as it is stored, and a little around it."""

    max_journal_bytes: int = 6 * MIB
    """The largest journal of a RayService, before it is compressed: some 10,000 applications. Each request has it in
    memory for a moment, which all RayServices share: raise the webhook's memory limit with it. No more than 16 MiB
    count."""

    admit_within_s: float = 2.5
    """How long an admission may take before the object is admitted as it is. The API server waits 3 s
    (``timeoutSeconds``), and what it has waited for in vain can carry no warning."""

    lookup_within_s: float = 1.0
    """How long the API server may take to say whose a RayCluster is. It is asked once or twice for a head."""

    owners_for_s: float = 10.0
    """How long that is remembered: a head Service and its head pod come within a second or two of each other."""

    resync_s: float = 300.0
    """How often every head Service is looked at anew, should a change have been missed."""

    backoff_s: float = 5.0
    """How long the watchdog waits at most after a fault: it is to repair within 10 s of a return."""

    grace_s: float = 20.0
    """How long requests in flight may take to finish after SIGTERM."""

    def to_env(self) -> dict[str, str]:
        """The settings that differ from the defaults, as environment variables."""
        return environment.written(self, PREFIX)

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings; what is not set keeps its default.

        Raises:
            SettingsError: naming every variable that cannot be read.
        """
        return environment.read(cls, PREFIX, environ)

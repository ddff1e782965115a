"""All that can be set, with its unit, default and reason. Pure.

Both ends of one contract: whoever starts the sidecar writes ``to_env()``, the sidecar reads ``from_env()``. Times are
in seconds, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from proxy import environment
from proxy.environment import MIB, Address, SettingsError

__all__ = ["PREFIX", "Address", "Settings", "SettingsError"]

PREFIX = "HOLDFAST_"


@dataclass(frozen=True, slots=True)
class Settings:
    """The sidecar's settings. Each is read from ``HOLDFAST_`` and its name in capitals."""

    listen: Address = Address("0.0.0.0", 28265)  # noqa: S104 - KubeRay comes from outside the pod
    """Where KubeRay's calls to the port ``dashboard`` arrive. Outside Ray's range of worker ports, 10002-19999."""

    listen_agent: Address | None = Address("0.0.0.0", 28266)  # noqa: S104 - as above
    """Where KubeRay 1.0's calls to the port ``dashboard-agent`` arrive. Empty: nowhere."""

    upstream: Address = Address("127.0.0.1", 8265)
    """Ray's dashboard."""

    upstream_agent: Address = Address("127.0.0.1", 52365)
    """Ray's dashboard agent: it has the Serve API up to Ray 2.44, and on Ray 2.7 it alone has."""

    state_dir: str = "/var/lib/holdfast"
    """Where what KubeRay declared is kept over a restart of the sidecar: a folder of its own, in an emptyDir."""

    allow_loss: bool = False
    """On Ray before 2.11, may a PUT delete applications of ``serve.run``? Annotation ``holdfast.dev/allow-loss``."""

    answer_within_s: float = 1.5
    """How long KubeRay's GET waits for Ray before the last good answer is given instead. KubeRay gives up after 2 s."""

    answer_within_proxied_s: float = 8.0
    """The same when the GET comes through the API server, where KubeRay gives up after 10 s."""

    stale_for_s: float = 30.0
    """How old that last good answer may be. Older, and KubeRay gets 503: it must not act on what may be long gone."""

    read_timeout_s: float = 65.0
    """How long Ray may take to say what runs, before a PUT is given up. A small head that deploys 100 applications was
    seen to take 50 s, and a dashboard without a controller handle answers (falsely) after 60 s."""

    look_up_timeout_s: float = 10.0
    """How long Ray's state API may take to say whether Serve has a controller. With the GCS frozen it was seen to
    hang for over 100 s, and every other change waits meanwhile."""

    put_timeout_s: float = 300.0
    """How long to wait for Ray's answer to a PUT. Ray carries it out though nobody waits: giving up wins nothing."""

    settle_timeout_s: float = 15.0
    """How long, after a PUT that Ray accepted, the next one waits for Ray to show it. A first PUT, which starts Serve,
    takes Ray 1-3 s to show; a merge made from what it shows meanwhile would delete what it does not show yet."""

    connect_timeout_s: float = 1.5
    """How long a connection to Ray may take to come up. It is on this machine: it is there at once, or not at all."""

    head_timeout_s: float = 60.0
    """How long a client may take from the first byte of a request to the end of its head."""

    grace_s: float = 20.0
    """How long requests in flight may take to finish after SIGTERM. A pod has 30 s (``terminationGracePeriodSeconds``)
    for this and for Ray's own shutdown beside it."""

    journal_url: str = ""
    """Where the journal is: ``https://`` and the webhook's host and port. Empty: there is none, and applications that
    were deployed here come back with the head only as far as this sidecar's own copy is there."""

    journal_rayservice: str = ""
    """Whose journal it is: namespace and name of the RayService, with ``/`` between."""

    journal_cluster: str = ""
    """The RayCluster of this head: the journal tells by it what was changed here and what elsewhere."""

    journal_token_file: str = "/var/run/secrets/holdfast/token"  # noqa: S105 - a path
    """The token that proves which pod this is. It is read anew for each call: the kubelet replaces it."""

    journal_ca_file: str = "/var/run/secrets/holdfast/ca.crt"
    """Whom to trust as the journal. It is read anew when it has changed."""

    journal_within_s: float = 1.0
    """How long the answer to a change waits for the journal to have it. Its header ``X-Holdfast-Journal`` says
    ``written`` or ``queued``."""

    journal_poll_s: float = 2.0
    """How often the journal is read while this cluster has not got the traffic yet: what changes on the one that has
    is brought here too."""

    journal_idle_poll_s: float = 30.0
    """How often it is read otherwise, for what the annotations of the RayService say."""

    journal_first_within_s: float = 60.0
    """How long a cluster that has not got the traffic yet waits for the first word of the journal, from KubeRay's first
    PUT on. Then it goes on without."""

    bring_every_s: float = 10.0
    """How often, at most, what changes elsewhere is brought here: each PUT makes Ray start unfinished builds over."""

    absent_for_s: float = 60.0
    """How long an application must be missing from Ray's good answers until it counts as deleted by its owner."""

    max_config_bytes: int = 32 * MIB
    """The largest Serve config that is read. Ray takes 100 MiB, but the sidecar has to hold it; a RayService is at most
    1.5 MiB (etcd), and 10,000 applications are about 3 MiB."""

    max_answer_bytes: int = 128 * MIB
    """The largest list of applications that is read: 2.15 KB an application, so room for some 60,000."""

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

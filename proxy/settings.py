"""All that can be set, with its unit, default and reason. Pure.

Both ends of one contract: whoever starts the sidecar writes ``to_env()``, the sidecar reads ``from_env()``. Times are
in seconds, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

PREFIX = "HOLDFAST_"
MIB = 1 << 20


class SettingsError(ValueError):
    """Everything that is wrong with the settings, a line each."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen or to connect."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """``HOST:PORT``, ``[::1]:PORT``, or the same behind ``http://``.

        Raises:
            ValueError: it is nothing of the kind.
        """
        url = urlsplit(text if "//" in text else f"//{text}")
        if url.scheme not in ("", "http") or not url.hostname or url.port is None or url.path not in ("", "/"):
            raise ValueError(f"{text!r} is not HOST:PORT")
        return cls(url.hostname, url.port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


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

    max_config_bytes: int = 32 * MIB
    """The largest Serve config that is read. Ray takes 100 MiB, but the sidecar has to hold it; a RayService is at most
    1.5 MiB (etcd), and 10,000 applications are about 3 MiB."""

    max_answer_bytes: int = 128 * MIB
    """The largest list of applications that is read: 2.15 KB an application, so room for some 60,000."""

    def to_env(self) -> dict[str, str]:
        """The settings that differ from the defaults, as environment variables."""
        changed = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return {PREFIX + name.upper(): _print(value) for name, value in changed.items()}

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> Settings:
        """Read the settings; what is not set keeps its default.

        Raises:
            SettingsError: naming every variable that cannot be read.
        """
        values: dict[str, Any] = {}
        faults = []
        for setting in fields(cls):
            variable = PREFIX + setting.name.upper()
            if variable in environ:
                try:
                    values[setting.name] = _READ[str(setting.type)](environ[variable])
                except ValueError as error:
                    faults.append(f"{variable}: {error}")
        if faults:
            raise SettingsError("\n".join(faults))
        return cls(**values)


def _print(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(f"{text!r} is not a number above 0")
    return number


_READ: dict[str, Callable[[str], Any]] = {
    "Address": Address.parse,
    "Address | None": lambda text: Address.parse(text) if text else None,
    "str": str,
    "bool": _bool,
    "float": _positive,
    "int": lambda text: int(_positive(text)),
}

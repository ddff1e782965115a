"""Where Ray's dashboard will listen, read off the command that starts the head. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DASHBOARD_PORT = 8265
AGENT_PORT = 52365
_REACHED_OVER_LOOPBACK = frozenset(("", "0.0.0.0", "127.0.0.1", "localhost", "::", "::1"))  # noqa: S104 - compared with


@dataclass(frozen=True, slots=True)
class RayStart:
    """What ``ray start`` is told about the dashboard. What it is not told has Ray's default (2.7-2.60)."""

    dashboard_port: int
    agent_port: int
    dashboard_host: str
    has_dashboard: bool

    @property
    def is_reached_over_loopback(self) -> bool:
        """Can a sidecar reach the dashboard at 127.0.0.1?"""
        return self.dashboard_host in _REACHED_OVER_LOOPBACK

    @classmethod
    def of(cls, container: Mapping[str, Any]) -> RayStart:
        """Read Ray's container.

        A container with a command of its own (``ray.io/overwrite-container-cmd``) may still run what KubeRay generated,
        which stands in its environment since KubeRay 1.1.
        """
        own = " ".join([*(container.get("command") or ()), *(container.get("args") or ())])
        generated = environment(container).get("KUBERAY_GEN_RAY_START_CMD", "")
        command = own if "ray start" in own else f"{generated} {own}"
        return cls(
            dashboard_port=_number(command, "dashboard-port", DASHBOARD_PORT),
            agent_port=_number(command, "dashboard-agent-listen-port", AGENT_PORT),
            dashboard_host=_option(command, "dashboard-host") or "",
            has_dashboard=(_option(command, "include-dashboard") or "true").lower() not in ("false", "0"),
        )


def environment(container: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a container that have a plain value."""
    return {entry["name"]: entry["value"] for entry in container.get("env") or () if entry.get("value")}


def _option(command: str, name: str) -> str | None:
    """The last value of an option, as ``ray start`` takes it."""
    found = re.findall(rf"--{name}(?:=|\s+)[\"']?([^\s\"';&|]+)", command)
    return found[-1] if found else None


def _number(command: str, name: str, default: int) -> int:
    value = _option(command, name)
    return int(value) if value is not None and value.isdecimal() else default

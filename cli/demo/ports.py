"""The TCP ports of a Ray head: chosen so that several heads run side by side, and nothing else is disturbed."""

import random
import socket
from dataclasses import dataclass, fields

PORT_RANGE = range(20100, 28200)
"""Above Ray's worker ports (10002-19999), below Holdfast's (28265) and those the kernel hands out (32768)."""


class NoFreePortError(Exception):
    """A head cannot have ports of its own; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Ports:
    """One TCP port for each server of a head. Two heads side by side share none."""

    gcs: int
    dashboard: int
    dashboard_metrics: int
    client: int
    agent_http: int
    agent_grpc: int
    runtime_env: int
    metrics: int
    node_manager: int
    object_manager: int
    serve: int

    @classmethod
    def free(cls) -> "Ports":
        """Ports that nobody listens on now, chosen at random so that two heads started together differ.

        Raises:
            NoFreePortError: there are too few.
        """
        free = [port for port in random.sample(PORT_RANGE, 100) if is_free(port)]
        if len(free) < len(fields(cls)):
            raise NoFreePortError(f"Hardly a free port in {PORT_RANGE.start}-{PORT_RANGE.stop}: end some servers.")
        return cls(*free[: len(fields(cls))])

    def taken(self) -> str:
        """The ports that somebody listens on, as "gcs 6379, dashboard 8265"; empty if none."""
        named = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ", ".join(f"{name} {port}" for name, port in named if not is_free(port))


def is_free(port: int) -> bool:
    """Whether a server could listen on this TCP port, on whatever address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
        return True

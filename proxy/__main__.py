"""Starts and stops the sidecar. The one place that knows the process: environment, signals, event loop, exit code."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from functools import partial
from importlib.metadata import version

import uvloop

from proxy import logs
from proxy.app import Sidecar
from proxy.http.upstream import Upstream
from proxy.ray import Ray
from proxy.relay import Relay, RelayLimits
from proxy.settings import Address, Settings, SettingsError

log = logging.getLogger("holdfast")

EXIT_USAGE = 2


def run(settings: Settings) -> int:
    """Run until SIGTERM or SIGINT; the exit code. What cannot be listened on is one sentence, and exit code 2."""
    logs.configure()
    try:
        uvloop.run(serve(settings))
    except OSError as error:
        log.critical("cannot start", extra={"error": str(error)})
        return EXIT_USAGE
    return 0


async def serve(settings: Settings) -> None:
    """Listen, say so in the log, wait for a signal, drain."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    sidecar = Sidecar.create(settings, version("holdfast"))
    dashboard = _upstream(settings.upstream, settings)
    agent = _upstream(settings.upstream_agent, settings)
    relays = [await _listen(sidecar, settings.listen, "dashboard", dashboard, dashboard)]
    if settings.listen_agent:
        relays.append(await _listen(sidecar, settings.listen_agent, "agent", agent, dashboard))
    await stopping.wait()
    log.info("stopping", extra={"grace_s": settings.grace_s})
    await asyncio.gather(*(relay.drain(settings.grace_s) for relay in relays))
    await sidecar.deployments.finish(settings.grace_s)
    await dashboard.close()
    await agent.close()


async def _listen(sidecar: Sidecar, at: Address, name: str, serve_api: Upstream, dashboard: Upstream) -> Relay:
    ray = Ray(serve_api, dashboard, sidecar.settings, sidecar.metrics, f"holdfast/{version('holdfast')}")
    limits = RelayLimits(head_timeout_s=sidecar.settings.head_timeout_s)
    relay = Relay(serve_api, partial(sidecar.route, ray), sidecar.observe, limits)
    port = await relay.listen(at.host, at.port)
    log.info("listening", extra={"listener": name, "host": at.host, "port": port})
    return relay


def _upstream(at: Address, settings: Settings) -> Upstream:
    return Upstream(at.host, at.port, connect_timeout_s=settings.connect_timeout_s)


if __name__ == "__main__":
    try:
        sys.exit(run(Settings.from_env(os.environ)))
    except SettingsError as error:
        sys.exit(f"holdfast proxy: {error}")

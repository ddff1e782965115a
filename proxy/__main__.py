"""Starts and stops the sidecar. The one place that knows the process: environment, signals, event loop, exit code."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version

import uvloop

from proxy import logs
from proxy.app import Sidecar
from proxy.http.head import Headers
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
    sidecar = Sidecar.create(settings, version("holdfast"), _credentials(os.environ))
    dashboard = _upstream(settings.upstream, settings)
    agent = _upstream(settings.upstream_agent, settings)
    relays = [await _listen(sidecar, settings.listen, "dashboard", dashboard, dashboard)]
    if settings.listen_agent:
        relays.append(await _listen(sidecar, settings.listen_agent, "agent", agent, dashboard))
    working = asyncio.create_task(sidecar.work(_ray(sidecar, dashboard, dashboard)))
    await asyncio.wait((working, asyncio.create_task(stopping.wait())), return_when=asyncio.FIRST_COMPLETED)
    log.info("stopping", extra={"grace_s": settings.grace_s})
    await asyncio.gather(*(relay.drain(settings.grace_s) for relay in relays))
    await sidecar.deployments.finish(settings.grace_s)
    await _ended(working)
    await dashboard.close()
    await agent.close()


async def _listen(sidecar: Sidecar, at: Address, name: str, serve_api: Upstream, dashboard: Upstream) -> Relay:
    ray = _ray(sidecar, serve_api, dashboard)
    limits = RelayLimits(head_timeout_s=sidecar.settings.head_timeout_s)
    relay = Relay(serve_api, partial(sidecar.route, ray), sidecar.observe, limits)
    port = await relay.listen(at.host, at.port)
    log.info("listening", extra={"listener": name, "host": at.host, "port": port})
    return relay


def _ray(sidecar: Sidecar, serve_api: Upstream, dashboard: Upstream) -> Ray:
    return Ray(serve_api, dashboard, sidecar.settings, sidecar.metrics, f"holdfast/{version('holdfast')}")


def _credentials(environ: Mapping[str, str]) -> Headers:
    """What the head shows where Ray asks for a token (2.52+): the webhook gives the sidecar its environment."""
    token = environ.get("RAY_AUTH_TOKEN", "")
    return ((b"Authorization", b"Bearer " + token.encode()),) if token else ()


async def _ended(working: asyncio.Task[None]) -> None:
    """Cancel it; a fault of it is the process's, which Kubernetes starts again."""
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working


def _upstream(at: Address, settings: Settings) -> Upstream:
    return Upstream(at.host, at.port, connect_timeout_s=settings.connect_timeout_s)


if __name__ == "__main__":
    try:
        sys.exit(run(Settings.from_env(os.environ)))
    except SettingsError as error:
        sys.exit(f"holdfast proxy: {error}")

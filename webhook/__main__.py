"""Starts and stops the webhook. The one place that knows the process: environment, signals, event loop, exit code."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvloop
from aiohttp import web

from certs.apiserver import ApiError, UnreachableError
from certs.folder import Folder
from certs.metrics import CertificateMetrics
from certs.place import Place
from certs.rotation import Rotation
from certs.store import Store
from certs.tls import LiveContext
from proxy import logs
from proxy.environment import SettingsError
from webhook.admission import Admission
from webhook.app import Webhook
from webhook.cluster import Cluster, Watchable
from webhook.events import Events
from webhook.injection import SidecarForm
from webhook.journal.api import JournalApi
from webhook.journal.callers import Callers
from webhook.journal.store import JournalStore
from webhook.journal.trust import Trust
from webhook.metrics import Metrics
from webhook.settings import Settings
from webhook.watchdog import Watchdog

log = logging.getLogger("holdfast")

EXIT_FAILED, EXIT_USAGE = 1, 2

_KEEP_ALIVE_S = 120.0
"""How long an idle connection is kept. The API server keeps its own for 90 s (Go's ``IdleConnTimeout``): of the two it
has to be the one that closes, for a call that meets a closing server is lost."""

_DRAIN_S = 5.0
"""How long calls are answered after SIGTERM, each with ``Connection: close``: the API server moves to another replica
meanwhile, connection by connection."""

_AGAIN_S = 1.0

_JOURNAL_LOOKUP_S = 5.0
"""How long the journal looks for whose a head is: the sidecar gives it ten seconds for everything."""


def run(environ: Mapping[str, str]) -> int:
    """Run until SIGTERM or SIGINT; the exit code. A fault at the start is one sentence, and exit code 1 or 2."""
    logs.configure()
    try:
        uvloop.run(serve(Settings.from_env(environ), environ))
    except SettingsError as error:
        sys.stderr.write(f"holdfast webhook: {error}\n")
        return EXIT_USAGE
    except (OSError, UnreachableError) as error:
        log.critical("cannot start", extra={"error": str(error)})
        return EXIT_FAILED
    return 0


async def serve(settings: Settings, environ: Mapping[str, str]) -> None:
    """Listen, look after certificates and heads, wait for a signal, drain.

    Raises:
        OSError: the address cannot be listened on.
        UnreachableError: it is not known where the API server is.
        SettingsError: no image is set for the sidecar.
    """
    if not settings.sidecar_image:
        raise SettingsError("HOLDFAST_WEBHOOK_SIDECAR_IMAGE is not set: it names the image of the sidecar")
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    async with AsyncExitStack() as stack:
        api = await stack.enter_async_context(Watchable.connected())
        metrics, live = Metrics(version("holdfast")), LiveContext()
        cluster = Cluster(api, within_s=settings.lookup_within_s, remember_s=settings.owners_for_s)
        events = Events(api, metrics)
        watchdog = Watchdog(api, cluster, events, metrics, settings)
        trust = Trust(api, lambda: live.trust_pem, watchdog.namespaces)
        webhook = Webhook(
            settings,
            metrics,
            cluster,
            events.tell,
            is_ready=lambda: live.loaded is not None,
            journal=_journal(api, metrics, events, settings),
            expect_head=trust.want,
        )
        loops = [
            _certificates(api, live, metrics, environ),
            events.run,
            watchdog.run,
            trust.run,
            lambda: _learn(webhook, cluster, Place.from_env(environ)),
        ]
        await _serve_until(stopping, webhook, live, loops)


def _journal(api: Watchable, metrics: Metrics, events: Events, settings: Settings) -> JournalApi:
    """A sidecar waits longer for an answer than an admission may."""
    cluster = Cluster(api, within_s=_JOURNAL_LOOKUP_S, remember_s=settings.owners_for_s)
    return JournalApi(api, JournalStore(api, settings.max_journal_bytes), Callers(api, cluster), metrics, events.tell)


async def _serve_until(
    stopping: asyncio.Event, webhook: Webhook, live: LiveContext, loops: list[Callable[[], Coroutine[Any, Any, Any]]]
) -> None:
    """Serve while the loops run. A loop that fails takes the process with it: Kubernetes starts another."""
    runner = web.AppRunner(
        webhook.app(), access_log=None, keepalive_timeout=_KEEP_ALIVE_S, shutdown_timeout=webhook.settings.grace_s
    )
    await runner.setup()
    at = webhook.settings.listen
    await web.TCPSite(runner, at.host, at.port, ssl_context=live.context).start()
    log.info("listening", extra={"host": at.host, "port": at.port})
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(loop()) for loop in loops]
        await stopping.wait()
        log.info("stopping", extra={"drain_s": _DRAIN_S, "grace_s": webhook.settings.grace_s})
        webhook.is_draining = True
        await asyncio.sleep(_DRAIN_S)
        await runner.cleanup()
        for task in tasks:
            task.cancel()


async def _learn(webhook: Webhook, cluster: Cluster, place: Place) -> None:
    """Ask for the API server's version until it says it. Until then the webhook is not ready, and is not called."""
    settings = webhook.settings
    form = SidecarForm(
        image=settings.sidecar_image,
        pull_policy=settings.sidecar_pull_policy,
        requests=(settings.sidecar_cpu, settings.sidecar_memory),
        limits=(settings.sidecar_cpu_limit, settings.sidecar_memory_limit),
        journal_url=f"https://{place.names()[0]}:443",
    )
    while webhook.admission is None:
        try:
            webhook.admission = Admission(form, await cluster.version())
        except (ApiError, UnreachableError) as error:
            log.warning("version not known", extra={"error": str(error), "retry_s": _AGAIN_S})
            await asyncio.sleep(_AGAIN_S)


def _certificates(
    api: Watchable, live: LiveContext, metrics: Metrics, environ: Mapping[str, str]
) -> Callable[[], Coroutine[Any, Any, Any]]:
    """Holdfast's own certificates, or somebody else's in the folder that ``HOLDFAST_CERTIFICATES`` names."""
    seen = CertificateMetrics(metrics.registry)
    if folder := environ.get("HOLDFAST_CERTIFICATES"):
        return Folder(Path(folder), live, seen).run
    place = Place.from_env(environ)
    return Rotation(Store(api, place), live, seen, names=place.names()).run


if __name__ == "__main__":
    sys.exit(run(os.environ))

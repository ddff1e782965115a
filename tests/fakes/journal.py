"""A journal without a cluster: the webhook's own document behind a real port, in memory and over real TLS.

What it leaves out is Secrets and TokenReview: tests/unit/webhook/journal and tests/apiserver have those.
"""

import asyncio
import ssl
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from aiohttp import web

from certs.authority import first
from certs.renewal import Terms
from serveconfig.journal import Change, Changes, Policy, Role
from webhook.journal.document import Journal


class FakeJournal:
    """The journal of one RayService. ``roles`` maps a token to the RayCluster and its role."""

    def __init__(self, folder):
        self.folder, self.port = folder, 0
        self.tuned = {"journal_poll_s": "0.2", "journal_idle_poll_s": "0.2", "bring_every_s": "1"}
        self.journal = Journal.new()
        self.reports = []
        self.policy = Policy()
        self.clusters = {}
        self.down, self.most = False, 10_000
        """Whether it answers, and how many changes it takes at once."""
        self.calls = []
        self._runner = None

    def admit(self, token, cluster, role=Role.ACTIVE):
        """Let a sidecar in."""
        self.clusters[token] = (cluster, role)

    def lose(self):
        """Its Secret is deleted: another journal begins."""
        self.journal = Journal.new()

    def settings(self, cluster, role=Role.ACTIVE):
        """What the sidecar of a cluster is told; it is let in with this role."""
        self.admit(f"token-of-{cluster}", cluster, role)
        token = self.folder / f"token-{cluster}"
        token.write_text(f"token-of-{cluster}\n")
        return {
            "journal_url": f"https://localhost:{self.port}",
            "journal_rayservice": "team/shop",
            "journal_cluster": cluster,
            "journal_token_file": str(token),
            "journal_ca_file": str(self.folder / "ca.crt"),
            **self.tuned,
        }

    def names(self):
        """The applications it has."""
        return set(self.journal.entries)

    def put(self, config, by):
        """Somebody else's sidecar puts an application."""
        change = Change(config["name"], msgspec.Raw(msgspec.json.encode(config)))
        self.journal, _ = self.journal.taking(Changes(changes=(change,)), by)

    async def listen(self):
        """Open the port: a free one at first, and later the same again."""
        app = web.Application(client_max_size=64 << 20)
        app.router.add_get("/v1/journal/{namespace}/{name}", self._get)
        app.router.add_patch("/v1/journal/{namespace}/{name}", self._patch)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        tls = self._tls()
        await web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=tls, reuse_address=True).start()
        self.port = self._runner.addresses[0][1]

    async def hang_up(self):
        """Close the port: connections are refused."""
        await self._runner.cleanup()

    def _tls(self):
        """Another authority each time, as after a loss of the certificates."""
        bundle = first(("localhost",), Terms(), datetime.now(UTC))
        (self.folder / "ca.crt").write_bytes(bundle.trust_pem())
        (self.folder / "tls.crt").write_bytes(bundle.serving.cert_pem)
        (self.folder / "tls.key").write_bytes(bundle.serving.key_pem)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.folder / "tls.crt", self.folder / "tls.key")
        return context

    async def _who(self, request):
        self.calls.append(request.method)
        if self.down:
            await asyncio.sleep(0)
            raise web.HTTPServiceUnavailable
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        with suppress(KeyError):
            return self.clusters[token]
        raise web.HTTPForbidden

    async def _get(self, request):
        cluster, role = await self._who(request)
        known, since = request.query.get("journal", ""), int(request.query.get("since", "0"))
        page = self.journal.page(known, since, cluster, self.policy, role)
        return web.Response(body=msgspec.json.encode(page), content_type="application/json")

    async def _patch(self, request):
        cluster, _ = await self._who(request)
        changes = msgspec.json.decode(await request.read(), type=Changes)
        if len(changes.changes) > self.most:
            raise web.HTTPRequestEntityTooLarge(self.most)
        self.journal, taken = self.journal.taking(changes, cluster)
        self.reports += changes.reports
        return web.Response(body=msgspec.json.encode(taken), content_type="application/json")


@asynccontextmanager
async def journal_of(folder: Path):
    """A journal on a port, until the block ends. Its certificates and tokens lie in ``folder``."""
    journal = FakeJournal(folder)
    await journal.listen()
    yield journal
    await journal.hang_up()

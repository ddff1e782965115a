"""A head in a thread: a fake Ray, the real proxy before it, and a small API server that passes requests on to it.

The commands run in the test's own thread, as a person runs them.
"""

import asyncio
import json
import threading
import urllib.request
from functools import partial

import aiohttp
import yaml
from aiohttp import web

from proxy.app import Sidecar
from proxy.http.upstream import Upstream
from proxy.ray import Ray
from proxy.relay import Relay
from proxy.settings import Settings
from tests.fakes.dashboard import FakeRay
from tests.fakes.kubernetes import Kubernetes
from webhook import names

SERVE = "/api/serve/applications/"
RAYSERVICES = "/apis/ray.io/v1/namespaces/team/rayservices"
PODS = "/api/v1/namespaces/team/pods"
PASSED_ON_NOT = {"authorization", "host", "content-length", "transfer-encoding"}


class Head:
    """``url`` is the sidecar's, ``ray`` the fake behind it, ``kubernetes`` what the API server knows."""

    def __init__(self, folder, *, token="", at=("127.0.0.1", 0)):
        self.folder = folder
        self.kubernetes = Kubernetes()
        self.passed_on = []
        """(path, headers) of what the API server passed on to a pod."""

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.ray = FakeRay("2.60.0", token=token)
        self._do(self._start(at))

    async def _start(self, at):
        await self.ray.listen()
        settings = Settings(state_dir=str(self.folder), settle_timeout_s=2.0)
        self._upstream = Upstream("127.0.0.1", self.ray.port, connect_timeout_s=settings.connect_timeout_s)
        sidecar = Sidecar.create(settings, "test")
        ray = Ray(self._upstream, self._upstream, settings, sidecar.metrics, "holdfast/test")
        self._relay = Relay(self._upstream, partial(sidecar.route, ray), sidecar.observe)
        self.url = f"http://{at[0]}:{await self._relay.listen(*at)}"
        self._session = aiohttp.ClientSession(auto_decompress=False)
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", self._api_server)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.api_port = self._runner.addresses[0][1]

    async def _api_server(self, request):
        start, proxied, path = request.rel_url.raw_path_qs.partition("/proxy/")
        if not proxied:
            return await self.kubernetes.answer(request)
        if (status := self.kubernetes.refuse.get((request.method, start))) is not None:
            said = {"kind": "Status", "apiVersion": "v1", "code": status, "message": "refused by the test"}
            return web.json_response(said, status=status)
        self.passed_on.append((start, dict(request.headers)))
        headers = {k: v for k, v in request.headers.items() if k.lower() not in PASSED_ON_NOT}
        headers["X-Forwarded-For"] = "127.0.0.1"
        async with self._session.request(
            request.method, f"{self.url}/{path}", headers=headers, data=await request.read()
        ) as answer:
            kept = {k: v for k, v in answer.headers.items() if k in {"Content-Type", "ETag"}}
            return web.Response(status=answer.status, headers=kept, body=await answer.read())

    def _do(self, what):
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(20)

    def kuberay_puts(self, *applications, **options):
        """What the operator does."""
        body = json.dumps({"applications": applications, **options}).encode()
        agent = {"User-Agent": "Go-http-client/1.1"}
        request = urllib.request.Request(self.url + SERVE, body, agent, method="PUT")  # noqa: S310 - ours
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - ours
            assert answer.status == 200

    def serve_run(self, name):
        async def run():
            self.ray.serve_run(name)

        self._do(run())

    def config(self, **context):
        """A kubeconfig for the API server."""
        path = self.folder / "kubeconfig"
        server = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.api_port}"}}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [server],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", **context}}],
            "users": [{"name": "u", "user": {"token": "of-kubernetes"}}],
            "current-context": "c",
        }
        path.write_text(yaml.safe_dump(config))
        return str(path)

    def has_rayservice(self, name="shop", active="shop-abcde", pending="", **more):
        status = {
            "activeServiceStatus": {"rayClusterName": active},
            "pendingServiceStatus": {"rayClusterName": pending},
        }
        manifest = {"metadata": {"name": name, "namespace": "team", **more.pop("metadata", {})}, "status": status}
        self.kubernetes.put(f"{RAYSERVICES}/{name}", {**manifest, **more})

    def has_head(self, cluster="shop-abcde", name="shop-abcde-head", *, sidecar=True, **metadata):
        labels = {"ray.io/cluster": cluster, "ray.io/node-type": "head"}
        ours = [{"name": names.CONTAINER, "restartPolicy": "Always"}] if sidecar else []
        spec = {"containers": [{"name": "ray-head"}], "initContainers": ours}
        self.kubernetes.put(f"{PODS}/{name}", {"metadata": {"name": name, "labels": labels, **metadata}, "spec": spec})

    def close(self):
        async def end():
            await self._runner.cleanup()
            await self._session.close()
            await self._relay.drain(0.1)
            await self._upstream.close()
            await self.ray.hang_up()
            left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

        self._do(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

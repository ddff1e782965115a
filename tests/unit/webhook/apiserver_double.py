"""A small API server that keeps what is written, counts versions, and streams what happens. On a real port."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from kubernetes_asyncio import client

from webhook.cluster import Watchable

Manifest = dict[str, Any]


class ApiServerDouble:
    """Objects by path, such as ``/api/v1/namespaces/web/services/head``. ``faults`` are statuses to answer first,
    ``refused`` those to answer at a path."""

    def __init__(self) -> None:
        self.objects: dict[str, Manifest] = {}
        self.version = 100
        self.faults: list[int] = []
        self.refused: dict[str, int] = {}
        self.calls: list[tuple[str, str]] = []
        self.gone_before = 0
        self._streams: list[tuple[str, asyncio.Queue[Manifest | None]]] = []

    def put(self, path: str, manifest: Manifest) -> Manifest:
        """Somebody writes an object."""
        happened = "MODIFIED" if path in self.objects else "ADDED"
        self.version += 1
        namespace, _, name = path.split("/namespaces/")[1].split("/")
        about = {**manifest["metadata"], "namespace": namespace, "name": name, "resourceVersion": str(self.version)}
        self.objects[path] = {**manifest, "metadata": about}
        self._tell(path, {"type": happened, "object": self.objects[path]})
        return self.objects[path]

    def remove(self, path: str) -> None:
        self.version += 1
        self._tell(path, {"type": "DELETED", "object": self.objects.pop(path)})

    def end_watches(self, last: Manifest | None = None) -> None:
        """Every stream ends, after a last event."""
        for _, stream in self._streams:
            if last:
                stream.put_nowait(last)
            stream.put_nowait(None)

    def _tell(self, path: str, event: Manifest) -> None:
        for collection, stream in self._streams:
            if _is_in(path, collection):
                stream.put_nowait(event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Every request."""
        self.calls.append((request.method, request.path))
        if self.faults:
            return _status(self.faults.pop(0))
        if request.path in self.refused:
            return _status(self.refused[request.path])
        if request.method == "GET":
            return await self._read(request)
        body = await request.json()
        if request.method == "POST":
            return web.json_response(self.put(f"{request.path}/{body['metadata']['name']}", body))
        return self._patch(request.path, body) if request.path in self.objects else _status(404)

    async def _read(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch"):
            return await self._watch(request)
        if request.path == "/version":
            return web.json_response({"major": "1", "minor": "29+"})
        if request.path in self.objects:
            return web.json_response(self.objects[request.path])
        return self._list(request) if request.path in ("/api/v1/services", "/api/v1/pods") else _status(404)

    def _list(self, request: web.Request) -> web.Response:
        found = sorted(path for path in self.objects if _is_in(path, request.path))
        start = int(request.query.get("continue", 0))
        page = found[start : start + 2]  # small pages, so that there are several
        more = {"continue": str(start + 2)} if start + 2 < len(found) else {}
        items = [self.objects[path] for path in page]
        return web.json_response({"metadata": {"resourceVersion": str(self.version), **more}, "items": items})

    def _patch(self, path: str, change: Manifest) -> web.Response:
        stored = self.objects[path]
        version = change["metadata"].get("resourceVersion")
        if version not in (None, stored["metadata"]["resourceVersion"]):
            return _status(409)
        return web.json_response(self.put(path, _merged(stored, change)))

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        if int(request.query["resourceVersion"]) < self.gone_before:
            return _status(410)
        stream: asyncio.Queue[Manifest | None] = asyncio.Queue()
        self._streams.append((request.path, stream))
        answer = web.StreamResponse()
        await answer.prepare(request)
        await answer.write(json.dumps({"type": "BOOKMARK", "object": {"metadata": {}}}).encode() + b"\n")
        while (event := await stream.get()) is not None:
            await answer.write(json.dumps(event).encode() + b"\n")
        self._streams = [each for each in self._streams if each[1] is not stream]
        return answer

    @property
    def watches(self) -> int:
        return len(self._streams)


@asynccontextmanager
async def serving(double: ApiServerDouble) -> AsyncIterator[Watchable]:
    """The double on a port of its own, and a client of it."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", double.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    configuration = client.Configuration(host=f"http://127.0.0.1:{runner.addresses[0][1]}")
    try:
        async with client.ApiClient(configuration) as through:
            yield Watchable(through)
    finally:
        double.end_watches()
        await runner.cleanup()


def _is_in(path: str, collection: str) -> bool:
    return path.rsplit("/", 2)[1] == collection.rpartition("/")[2]


def _merged(stored: Any, change: Any) -> Any:
    """RFC 7386."""
    if not isinstance(change, dict):
        return change
    base = stored if isinstance(stored, dict) else {}
    merged = {**base, **{key: _merged(base.get(key), value) for key, value in change.items()}}
    return {key: value for key, value in merged.items() if not (key in change and change[key] is None)}


def _status(code: int) -> web.Response:
    return web.json_response({"kind": "Status", "code": code, "message": f"no: {code}"}, status=code)

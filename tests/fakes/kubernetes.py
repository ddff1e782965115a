"""A small Kubernetes API on a real port: any kind of object is kept, with versions, conflicts, patches and watches.

It knows no schema and no defaults. What it does, it does as the API server: an object is written over only with the
version that was read, a list tells the version of the whole, a watch starts after a version.
"""

import asyncio
import contextlib
import copy
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import jsonpatch
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes_asyncio import client

from certs.apiserver import ApiServer


class Kubernetes:
    """The objects by path, e.g. ``/api/v1/namespaces/holdfast/secrets/tls``."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.requests: list[tuple[str, str]] = []
        self.refuse: dict[tuple[str, str], int] = {}
        """(method, path) -> the status to answer with instead."""

        self.raw: dict[str, Any] = {"/version": {"gitVersion": "v1.34.4", "major": "1", "minor": "34"}}
        """Answers that are no objects."""

        self.before_write: Callable[[str], None] | None = None
        """Called once with the path before the next write: somebody else who is faster."""

        self.after_read: Callable[[str], None] | None = None
        """Called with the path after each reading of an object: somebody else who writes in between."""

        self._version = 100
        self._changed = asyncio.Condition()
        self._log: list[tuple[int, str, str, dict[str, Any]]] = []

    def put(self, path: str, manifest: dict[str, Any]) -> None:
        """Somebody else writes."""
        self._version += 1
        kept = copy.deepcopy(manifest)
        kept.setdefault("metadata", {}).setdefault("name", path.rpartition("/")[2])
        kept["metadata"]["resourceVersion"] = str(self._version)
        event = "MODIFIED" if path in self.objects else "ADDED"
        self.objects[path] = kept
        self._log.append((self._version, event, path, copy.deepcopy(kept)))

    def remove(self, path: str) -> None:
        """Somebody else deletes."""
        self._version += 1
        self._log.append((self._version, "DELETED", path, self.objects.pop(path)))

    async def told(self) -> None:
        """Wake the watches, after ``put`` or ``remove`` from a test."""
        async with self._changed:
            self._changed.notify_all()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append((request.method, request.path))
        if status := self.refuse.get((request.method, request.path)):
            return _status(status, "refused by the test")
        if request.method == "GET":
            return await self._read(request)
        if self.before_write:
            hook, self.before_write = self.before_write, None
            hook(request.path)
        body = await request.json() if request.can_read_body else None
        answer: web.Response = getattr(self, f"_{request.method.lower()}")(request.path, body)
        await self.told()
        return answer

    async def _read(self, request: web.Request) -> web.StreamResponse:
        if request.path in self.raw:
            return web.json_response(self.raw[request.path])
        if found := self.objects.get(request.path):
            answer = web.json_response(found)
            if self.after_read:
                self.after_read(request.path)
            return answer
        if not request.path.endswith("s"):
            return _status(404, f"{request.path} not found")
        if request.query.get("watch"):
            return await self._watch(request)
        items = [
            kept for path, kept in self.objects.items() if _in(request.path, path) and _chosen(kept, request.query)
        ]
        return web.json_response({"metadata": {"resourceVersion": str(self._version)}, "items": items})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        since, answer = int(request.query["resourceVersion"]), web.StreamResponse()
        await answer.prepare(request)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(float(request.query["timeoutSeconds"])), self._changed:
                while True:
                    for version, event, path, kept in self._log:
                        if version > since and _in(request.path, path) and _chosen(kept, request.query):
                            await answer.write(json.dumps({"type": event, "object": kept}).encode() + b"\n")
                    since = self._version
                    await self._changed.wait()
        return answer

    def _post(self, path: str, manifest: dict[str, Any]) -> web.Response:
        name = manifest.get("metadata", {}).get("name")
        if not name:  # a review: answered, not kept
            return web.json_response(self.raw.get(path, {}), status=201)
        if f"{path}/{name}" in self.objects:
            return _status(409, f"{name} already exists")
        self.put(f"{path}/{name}", manifest)
        return web.json_response(self.objects[f"{path}/{name}"], status=201)

    def _put(self, path: str, manifest: dict[str, Any]) -> web.Response:
        if path not in self.objects:
            return _status(404, f"{path} not found")
        wanted = manifest["metadata"].get("resourceVersion")
        if wanted not in {None, self.objects[path]["metadata"]["resourceVersion"]}:
            return _status(409, "the object has been modified; please apply your changes to the latest version")
        self.put(path, manifest)
        return web.json_response(self.objects[path])

    def _patch(self, path: str, change: Any) -> web.Response:
        if path not in self.objects:
            return _status(404, f"{path} not found")
        now = self.objects[path]
        return self._put(path, jsonpatch.apply_patch(now, change) if isinstance(change, list) else _merged(now, change))

    def _delete(self, path: str, _options: Any) -> web.Response:
        if path not in self.objects:
            return _status(404, f"{path} not found")
        self.remove(path)
        return web.json_response({"kind": "Status", "status": "Success"})


@contextlib.asynccontextmanager
async def connected(kubernetes: Kubernetes) -> AsyncIterator[ApiServer]:
    """A connection to ``kubernetes`` over a real socket."""
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", kubernetes.answer)
    async with (
        TestServer(app) as server,
        client.ApiClient(client.Configuration(host=str(server.make_url("")).rstrip("/"))) as through,
    ):
        yield ApiServer(through)


def _in(collection: str, path: str) -> bool:
    """Is the object at ``path`` in ``collection``? ``/api/v1/pods`` has those of all namespaces."""
    folder = path.rpartition("/")[0]
    if folder == collection:
        return True
    prefix, _, kind = collection.rpartition("/")
    everywhere = "/namespaces/" not in collection
    return everywhere and folder.startswith(f"{prefix}/namespaces/") and folder.endswith(f"/{kind}")


def _chosen(kept: dict[str, Any], query: Any) -> bool:
    labels = kept["metadata"].get("labels", {})
    return all(
        key in labels and value in {None, labels[key]} for key, value in _selected(query.get("labelSelector", ""))
    ) and all(_field(kept, path) == value for path, value in _selected(query.get("fieldSelector", "")))


def _selected(selector: str) -> list[tuple[str, str | None]]:
    """Keys and values; a label's key alone (None) asks for any value."""
    parts = (part.partition("=") for part in selector.split(",") if part)
    return [(key, value if equals else None) for key, equals, value in parts]


def _field(kept: Any, path: str) -> Any:
    for key in path.split("."):
        kept = (kept or {}).get(key)
    return kept


def _merged(now: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    merged = dict(now)
    for key, value in change.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key) or {}, value) if isinstance(value, dict) else value
    return merged


def _status(code: int, message: str) -> web.Response:
    return web.json_response({"kind": "Status", "code": code, "message": message}, status=code)

"""The API server, spoken to in plain JSON: paths and dicts, as they stand in Kubernetes' own documentation."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
from kubernetes_asyncio import client, config

MERGE_PATCH = "application/merge-patch+json"


class ApiError(Exception):
    """An answer other than 2xx."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text[:500]}")
        self.status = status
        self.text = text


class Api:
    """One connection for a whole test run. A pod's or a Service's HTTP is reached through it, too (``…/proxy/…``)."""

    def __init__(self, through: client.ApiClient) -> None:
        self._through = through

    async def get(self, path: str, **query: str) -> Any:
        return await self.call("GET", path, query=query)

    async def create(self, path: str, manifest: dict[str, Any]) -> Any:
        return await self.call("POST", path, body=manifest)

    async def merge(self, path: str, change: dict[str, Any]) -> Any:
        return await self.call("PATCH", path, body=change, content_type=MERGE_PATCH)

    async def delete(self, path: str, **query: str) -> Any:
        return await self.call("DELETE", path, query=query)

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: dict[str, str] | None = None,
        content_type: str = "application/json",
        timeout_s: float = 20,
    ) -> Any:
        """One request, answered in JSON.

        Raises: ApiError on an answer other than 2xx; what aiohttp raises if there is none.
        """
        content = await self._content(
            method, path, body=body, query=query, content_type=content_type, timeout_s=timeout_s
        )
        return json.loads(content) if content else None

    async def header(self, name: str, method: str, path: str, body: Any = None) -> str:
        """One request, and one header of its answer. Raises: as ``call``."""
        answer = await self._send(method, path, body=body)
        return str(answer.headers.get(name, ""))

    async def text(self, path: str) -> str:
        """GET of what is no JSON. Raises: as ``call``."""
        return (await self._content("GET", path)).decode()

    async def _content(self, method: str, path: str, **how: Any) -> bytes:
        content: bytes = await (await self._send(method, path, **how)).read()
        return content

    async def _send(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: dict[str, str] | None = None,
        content_type: str = "application/json",
        timeout_s: float = 20,
    ) -> aiohttp.ClientResponse:
        answer: aiohttp.ClientResponse = await self._through.call_api(
            path,
            method,
            query_params=list((query or {}).items()),
            header_params={"Content-Type": content_type, "Accept": "*/*"},
            body=body,
            auth_settings=["BearerToken"],
            _preload_content=False,
            _request_timeout=timeout_s,
        )
        if not 200 <= answer.status < 300:
            raise ApiError(answer.status, (await answer.read()).decode(errors="replace"))
        return answer


@contextlib.asynccontextmanager
async def connected() -> AsyncIterator[Api]:
    """The cluster that ``KUBECONFIG`` names, with whatever way of logging in stands there."""
    await config.load_kube_config()
    async with client.ApiClient() as through:
        yield Api(through)

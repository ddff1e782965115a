"""The Kubernetes API in plain JSON: paths and dicts, as they stand in Kubernetes' own documentation.

Foreign exceptions stop here. What a caller can get is an answer, an `ApiError` with the API server's own words, or an
`UnreachableError`.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self

import aiohttp
import yaml
from kubernetes_asyncio import client, config
from kubernetes_asyncio.config.config_exception import ConfigException

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"

FIELD_MANAGER = "holdfast"
"""Under which name Holdfast's writes stand in ``managedFields``: a GitOps tool can be told to leave them alone."""

_TIMEOUT_S = 15.0
"""How long a call may take. The API server itself gives up most calls much sooner; this is for a connection that has
died without saying so."""

# The library takes the file's shape on trust: one that is no mapping ends in a TypeError or a KeyError.
_BAD_KUBECONFIG = (ConfigException, OSError, yaml.YAMLError, TypeError, ValueError, KeyError, AttributeError)

_TEXT = 500
"""How much of an answer that is no JSON is quoted, in characters."""


@dataclass(frozen=True, slots=True)
class Login:
    """Which cluster, as kubectl's options of the same names say it."""

    context: str | None = None
    kubeconfig: str | None = None


class UnreachableError(Exception):
    """No answer: the API server is away, or the way to it is not known. The text says which, and what to do."""


class ApiError(Exception):
    """An answer other than 2xx, with the API server's message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def not_found(self) -> bool:
        """There is no such object, or no such kind."""
        return self.status == 404  # noqa: PLR2004 - HTTP's own number

    @property
    def conflict(self) -> bool:
        """Somebody else wrote in between, or made it first."""
        return self.status == 409  # noqa: PLR2004 - HTTP's own number


@dataclass(frozen=True, slots=True)
class Request:
    """One call. ``body`` is JSON, ``limit_s`` the longest it may take, in seconds."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    limit_s: float = _TIMEOUT_S


class ApiServer:
    """One connection pool to one API server."""

    def __init__(self, through: client.ApiClient) -> None:
        self._through = through

    @classmethod
    @asynccontextmanager
    async def connected(cls, *, context: str | None = None, kubeconfig: str | None = None) -> AsyncIterator[Self]:
        """Inside a pod by its service account, elsewhere as kubectl finds it (``KUBECONFIG``, ``~/.kube/config``).

        Raises:
            UnreachableError: there is neither, or it cannot be read.
        """
        settings = client.Configuration()
        try:
            if "KUBERNETES_SERVICE_HOST" in os.environ and not (context or kubeconfig or os.environ.get("KUBECONFIG")):
                config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
            else:
                await config.load_kube_config(kubeconfig, context, settings, persist_config=False)
        except _BAD_KUBECONFIG as error:
            said = " ".join(str(error).rstrip(".").split())
            text = f"no usable kubeconfig: {said}. Name a cluster with --kubeconfig or --context, as for kubectl"
            raise UnreachableError(text) from error
        async with client.ApiClient(settings) as through:
            through.user_agent = FIELD_MANAGER
            yield cls(through)

    async def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """The object or list at ``path``."""
        return await self.call("GET", path, query=query)

    async def clock(self) -> datetime | None:
        """What time it is there, to the second; None if it does not say."""
        answer = await self._send(Request("GET", "/version"))
        answer.close()
        try:
            return parsedate_to_datetime(answer.headers.get("Date", ""))
        except ValueError:
            return None

    async def find(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """The object at ``path``, or None if there is none."""
        try:
            return await self.get(path)
        except ApiError as error:
            if error.not_found:
                return None
            raise

    async def create(self, path: str, manifest: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Make a new object; 409 if there is one of that name."""
        return await self.call("POST", path, body=manifest, query={"fieldManager": FIELD_MANAGER})

    async def replace(self, path: str, manifest: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """Write the whole object; 409 if its ``resourceVersion`` is not the last one."""
        return await self.call("PUT", path, body=manifest, query={"fieldManager": FIELD_MANAGER})

    async def patch(self, path: str, change: Any, content_type: str) -> Any:  # noqa: ANN401 - JSON
        """Change an object by a JSON patch or a merge patch."""
        query = {"fieldManager": FIELD_MANAGER}
        return await self.call("PATCH", path, body=change, query=query, content_type=content_type)

    async def delete(self, path: str, **query: str) -> bool:
        """Delete an object; False if there was none."""
        try:
            await self.call("DELETE", path, query=query)
        except ApiError as error:
            if error.not_found:
                return False
            raise
        return True

    async def watch_until_change(self, path: str, name: str, version: str, timeout_s: float) -> None:
        """Return when the object ``name`` in the collection at ``path`` has changed since ``version``, or at the end.

        An answer such as 410 Gone ends it too: the caller reads again in any case, so a watch is only a hint.
        """
        query = {
            "watch": "true",
            "fieldSelector": f"metadata.name={name}",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, int(timeout_s))),
        }
        answer = await self._send(Request("GET", path, query=query, limit_s=timeout_s + _TIMEOUT_S))
        try:
            await answer.content.readline()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _unreachable(error) from error
        finally:
            answer.close()

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,  # noqa: ANN401 - JSON
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> Any:  # noqa: ANN401 - JSON
        """One request, and the JSON of its answer (None if it is empty, the text if it is no JSON).

        Raises:
            ApiError: the answer is not 2xx.
            UnreachableError: there is none.
        """
        answer = await self._send(Request(method, path, query=query or {}, body=body, content_type=content_type))
        try:
            return _json(await answer.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _unreachable(error) from error

    async def _send(self, request: Request) -> aiohttp.ClientResponse:
        try:
            answer: aiohttp.ClientResponse = await self._through.call_api(
                request.path,
                request.method,
                query_params=list(request.query.items()),
                header_params={"Content-Type": request.content_type, "Accept": "application/json"},
                body=request.body,
                auth_settings=["BearerToken"],
                _preload_content=False,
                _request_timeout=request.limit_s,
            )
            if answer.ok:
                return answer
            raise ApiError(answer.status, _message(answer.status, await answer.read()))
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _unreachable(error) from error


def _unreachable(error: Exception) -> UnreachableError:
    return UnreachableError(f"the API server does not answer: {str(error) or type(error).__name__}")


def _json(content: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        return json.loads(content) if content else None
    except ValueError:
        return content.decode(errors="replace")


def _message(status: int, content: bytes) -> str:
    said = _json(content)
    if isinstance(said, dict) and said.get("message"):
        return str(said["message"])
    return f"HTTP {status}: {content.decode(errors='replace')[:_TEXT]}"

"""What the webhook asks of the API server: its version, whose a RayCluster is, what happens to heads.

Foreign exceptions stop in ``certs.apiserver``. Owners are remembered for some seconds: a head Service and its head pod
come one after the other, and each is asked about once or twice.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp

from certs.apiserver import ApiError, ApiServer, Request, UnreachableError
from webhook.heads import RayServiceOwner, metadata, rayservice_of

HEADS = "ray.io/node-type=head"
"""The label that KubeRay gives head pods and head Services (1.0-1.7)."""

_GONE = 410

_MOST_OWNERS = 10_000
"""How many are remembered: 100 bytes each, and no cluster starts so many heads in ten seconds."""


class LookupFailedError(Exception):
    """The API server did not say whose a RayCluster is, or not in time. The text says why."""


class GoneError(Exception):
    """A watch cannot go on from where it stood (410): everything has to be listed again."""


class Watchable(ApiServer):
    """The API server, and what happens there as a stream."""

    async def watch(self, path: str, version: str, timeout_s: float) -> AsyncIterator[dict[str, Any]]:
        """Every change of the heads at ``path`` since ``version``, until the API server ends it, after ``timeout_s``.

        Raises:
            GoneError: ``version`` is too old.
            ApiError, UnreachableError: as ever.
        """
        query = {
            "watch": "true",
            "labelSelector": HEADS,
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(max(1, int(timeout_s))),
        }
        try:
            answer = await self._send(Request("GET", path, query=query, limit_s=timeout_s + 15.0))
        except ApiError as error:
            raise GoneError(str(error)) if error.status == _GONE else error from None
        try:
            async for line in _lines(answer.content):
                yield _event(line)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise UnreachableError(f"a watch broke off: {str(error) or type(error).__name__}") from error
        finally:
            answer.close()


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of any length: a reader's own ``readline`` gives up at its buffer's size."""
    rest = b""
    async for chunk in content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line


def _event(line: bytes) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(line)
    if event["type"] == "ERROR":
        status = event["object"]
        raise (GoneError if status.get("code") == _GONE else UnreachableError)(str(status.get("message")))
    return event


class Cluster:
    """Whose a head is."""

    def __init__(
        self,
        api: ApiServer,
        *,
        within_s: float,
        remember_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._within_s = within_s
        self._remember_s = remember_s
        self._clock = clock
        self._owners: dict[tuple[str, str], tuple[float, RayServiceOwner | None]] = {}

    async def version(self) -> tuple[int, int]:
        """The API server's version, as (major, minor). Some write ``29+``."""
        said = await self._api.get("/version")
        major, minor = (int("".join(filter(str.isdigit, str(said[key])))) for key in ("major", "minor"))
        return major, minor

    async def owner(self, namespace: str, raycluster: str) -> RayServiceOwner | None:
        """The RayService that a RayCluster belongs to; None if it belongs to none, or there is no such RayCluster.

        Raises:
            LookupFailedError: the API server did not say, or not in time.
        """
        known = self._owners.get((namespace, raycluster))
        if known and self._clock() - known[0] < self._remember_s:
            return known[1]
        try:
            # Not wait_for: in Python 3.11 it may swallow a cancellation, and the watchdog would never end.
            async with asyncio.timeout(self._within_s):
                owner = await self._look_up(namespace, raycluster)
        except (ApiError, UnreachableError, TimeoutError) as error:
            raise LookupFailedError(str(error) or f"no answer within {self._within_s:g} s") from error
        if len(self._owners) >= _MOST_OWNERS:
            self._owners.clear()
        self._owners[namespace, raycluster] = (self._clock(), owner)
        return owner

    async def _look_up(self, namespace: str, raycluster: str) -> RayServiceOwner | None:
        path = f"/apis/ray.io/v1/namespaces/{namespace}"
        cluster = await self._api.find(f"{path}/rayclusters/{raycluster}")
        name = rayservice_of(cluster) if cluster else None
        if name is None:
            return None
        rayservice = await self._api.find(f"{path}/rayservices/{name}") or {}
        uid = (rayservice.get("metadata") or {}).get("uid", "")
        return RayServiceOwner(name, metadata(rayservice, "annotations"), uid, namespace)

"""The ConfigMap ``holdfast-ca`` in every namespace with heads: by it their sidecars know the journal.

It is mounted as an optional part of a volume, so no head ever waits for it, and a change reaches running pods within a
minute or two. Every replica writes the same, so none has to be the one that does.

Where it cannot be written it is tried again while there are heads, or for a minute where one is to come: not for ever
in a namespace that is being deleted.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from certs.apiserver import MERGE_PATCH, ApiError, ApiServer, UnreachableError
from webhook.names import CA_CONFIGMAP

log = logging.getLogger("holdfast.journal")

_LOOK_S = 5.0
_AGAIN_S = 300.0
"""How often it is seen to, though nothing has changed: somebody may have deleted it."""

_EXPECTED_S = 60.0
"""How long a head is expected once it was admitted. From then on it is seen by the watchdog, or it is not there."""


@dataclass(slots=True)
class Trust:
    """``pem`` gives whom to trust now, ``heads`` the namespaces in which there are heads with a sidecar."""

    api: ApiServer
    pem: Callable[[], bytes]
    heads: Callable[[], Iterable[str]]
    clock: Callable[[], float] = time.monotonic
    _expected: dict[str, float] = field(default_factory=dict)
    _written: dict[str, tuple[bytes, float]] = field(default_factory=dict)
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)

    def want(self, namespace: str) -> None:
        """A head is about to come there."""
        self._expected[namespace] = self.clock() + _EXPECTED_S
        self._wanted.set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self._wanted.wait()
            self._wanted.clear()
            await self.step()

    async def step(self) -> None:
        """Write it wherever it is wanted and not right."""
        pem, now_s = self.pem(), self.clock()
        self._expected = {namespace: until for namespace, until in self._expected.items() if now_s < until}
        wanted = self._expected.keys() | set(self.heads())
        self._written = {namespace: was for namespace, was in self._written.items() if namespace in wanted}
        for namespace in sorted(wanted if pem else ()):
            written, at_s = self._written.get(namespace, (b"", 0.0))
            if written == pem and now_s - at_s < _AGAIN_S:
                continue
            try:
                await self._write(namespace, pem.decode("ascii", "replace"))
                self._written[namespace] = (pem, now_s)
            except (ApiError, UnreachableError) as error:
                log.warning("the authority was not written", extra={"namespace": namespace, "error": str(error)})

    async def _write(self, namespace: str, pem: str) -> None:
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        found = await self.api.find(f"{path}/{CA_CONFIGMAP}")
        if found is None:
            labels = {"app.kubernetes.io/managed-by": "holdfast"}
            about = {"name": CA_CONFIGMAP, "namespace": namespace, "labels": labels}
            await self.api.create(path, {"metadata": about, "data": {"ca.crt": pem}})
        elif (found.get("data") or {}).get("ca.crt") != pem:
            await self.api.patch(f"{path}/{CA_CONFIGMAP}", {"data": {"ca.crt": pem}}, MERGE_PATCH)

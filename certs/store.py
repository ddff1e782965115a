"""Every call to Kubernetes that is about certificates: the Secret that replicas share, the ``caBundle`` kept in place.

No lock and no leader. Each replica reads, decides and writes with the version that it has read; of two that write at
once, one is told so, and reads again. That is safe because what is decided depends on the Secret and the time only.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from dataclasses import dataclass
from typing import Any

from certs.apiserver import JSON_PATCH, ApiError, ApiServer
from certs.bundle import Bundle, UnreadableBundleError
from certs.place import Place

log = logging.getLogger("holdfast.certs")

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


class ConflictError(Exception):
    """Another replica wrote in between: read again, and decide again."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the Secret holds. No ``version``: there is no Secret. No ``bundle``: there is none, or it cannot be read."""

    bundle: Bundle | None
    version: str | None


class Store:
    """The certificates' objects in one cluster."""

    def __init__(self, api: ApiServer, place: Place) -> None:
        self._api = api
        self._place = place
        self._secrets = f"/api/v1/namespaces/{place.namespace}/secrets"
        self._secret = f"{self._secrets}/{place.secret}"
        self._configuration = f"{CONFIGURATIONS}/{place.configuration}"
        self._names = {self._secrets: place.secret, CONFIGURATIONS: place.configuration}
        self._seen: dict[str, str] = {}

    async def read(self) -> Stored:
        """The bundle in the Secret. A Secret that cannot be read is logged, and will be written over."""
        secret = await self._read(self._secrets)
        if secret is None:
            return Stored(None, None)
        version = str(secret["metadata"]["resourceVersion"])
        try:
            return Stored(Bundle.from_secret(secret.get("data") or {}), version)
        except UnreadableBundleError as error:
            log.warning("the secret holds no certificates", extra={"secret": self._place.secret, "error": str(error)})
            return Stored(None, version)

    async def write(self, bundle: Bundle, over: Stored) -> None:
        """Write the Secret, if it is still as it was read in ``over``.

        Raises:
            ConflictError: it is not, or it has been deleted meanwhile.
        """
        secret = self._manifest(bundle)
        try:
            if over.version is None:
                await self._api.create(self._secrets, secret)
            else:
                secret["metadata"]["resourceVersion"] = over.version
                await self._api.replace(self._secret, secret)
        except ApiError as error:
            if error.conflict or (error.not_found and over.version is not None):
                raise ConflictError(str(error)) from error
            raise

    async def trust(self, trust_pem: bytes) -> bool:
        """Write ``trust_pem`` as ``caBundle`` wherever the configuration calls the webhook; False if it was there.

        Without a configuration there is nothing to do: it may come later, or be gone for good.

        Raises:
            ConflictError: somebody else changed the configuration in between.
        """
        configuration = await self._read(CONFIGURATIONS)
        if configuration is None:
            return False
        wanted = base64.b64encode(trust_pem).decode()
        changes = [
            {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": wanted}
            for index, webhook in enumerate(configuration.get("webhooks") or ())
            if self._calls_us(webhook) and webhook["clientConfig"].get("caBundle") != wanted
        ]
        if not changes:
            return False
        # With the version that was read in it, a patch is refused if the list has changed since.
        guard = {
            "op": "replace",
            "path": "/metadata/resourceVersion",
            "value": configuration["metadata"]["resourceVersion"],
        }
        try:
            await self._api.patch(self._configuration, [guard, *changes], JSON_PATCH)
        except ApiError as error:
            if error.conflict or error.not_found:
                raise ConflictError(str(error)) from error
            raise
        return True

    async def wait_for_change(self, timeout_s: float) -> None:
        """Return when the Secret or the configuration may have changed, or after ``timeout_s`` seconds."""
        watches = [
            asyncio.create_task(self._api.watch_until_change(path, self._names[path], version, timeout_s))
            for path, version in self._seen.items()
        ]
        try:
            done, _ = await asyncio.wait(watches, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for watch in watches:
                watch.cancel()
            await asyncio.gather(*watches, return_exceptions=True)
        for watch in done:
            watch.result()

    async def _read(self, collection: str) -> Any:  # noqa: ANN401 - JSON
        # As a list of one: a list tells the present version of the cluster, from which a watch can start. The version
        # of an object that has not changed for days is too old for that.
        found = await self._api.get(collection, fieldSelector=f"metadata.name={self._names[collection]}")
        self._seen[collection] = str(found["metadata"]["resourceVersion"])
        return found["items"][0] if found["items"] else None

    def _calls_us(self, webhook: dict[str, Any]) -> bool:
        service = webhook["clientConfig"].get("service") or {}
        return (service.get("namespace"), service.get("name")) == (self._place.namespace, self._place.service)

    def _manifest(self, bundle: Bundle) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": self._place.secret,
                "labels": {"app.kubernetes.io/name": "holdfast", "app.kubernetes.io/component": "webhook"},
                "annotations": {"holdfast.dev/about": "Made and renewed by the webhook; deleted, it is made anew."},
            },
            "type": "Opaque",
            "data": bundle.to_secret(),
        }


def trusted(configuration: dict[str, Any]) -> set[bytes]:
    """The different ``caBundle`` values of a webhook configuration; ``b""`` for one that has none or none readable."""
    bundles = set()
    for webhook in configuration.get("webhooks") or ():
        try:
            bundles.add(base64.b64decode(webhook["clientConfig"].get("caBundle") or "", validate=True))
        except binascii.Error:
            bundles.add(b"")
    return bundles

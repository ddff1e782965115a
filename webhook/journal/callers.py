"""Who asks: a sidecar proves by its pod's token which RayService it may speak for, and of no other.

1. The token is for the audience ``holdfast`` and bound to a pod (TokenReview). Kubernetes says so only while that pod
   is there.
2. That pod is the head of a RayCluster, and that RayCluster belongs to the RayService (its own labels and owners).
3. Whatever does not fit gets the same answer: who asks in vain learns nothing of what there is.

What was found out is remembered for a minute, but never beyond the token's own end; of a token that proves nothing, for
some seconds.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from certs.apiserver import ApiServer
from webhook.cluster import Cluster
from webhook.heads import raycluster_of
from webhook.names import TOKEN_AUDIENCE

log = logging.getLogger("holdfast.journal")

_REMEMBERED_S, _REFUSED_S = 60.0, 5.0
_MOST = 10_000
_PATH = "/apis/authentication.k8s.io/v1/tokenreviews"
_POD_NAME, _POD_UID = "authentication.kubernetes.io/pod-name", "authentication.kubernetes.io/pod-uid"


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Whose sidecar it is."""

    namespace: str
    rayservice: str
    raycluster: str


@dataclass(slots=True)
class Callers:
    """Finds out, and remembers for a while."""

    api: ApiServer
    cluster: Cluster
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    _known: OrderedDict[bytes, tuple[float, Sidecar | None]] = field(default_factory=OrderedDict)

    async def who(self, token: str) -> Sidecar | None:
        """Whose token it is; None where it proves nothing.

        Raises:
            ApiError, UnreachableError, LookupFailedError: the API server did not say.
        """
        if not token.isascii():
            return self._refused("the token is none")
        key = hashlib.sha256(token.encode()).digest()
        until, known = self._known.get(key, (0.0, None))
        if self.clock() < until:
            return known
        found = await self._find(token)
        self._known[key] = (self.clock() + (self._remembered_s(token) if found else _REFUSED_S), found)
        self._known.move_to_end(key)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return found

    async def _find(self, token: str) -> Sidecar | None:
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": [TOKEN_AUDIENCE]},
        }
        said = (await self.api.create(_PATH, review)).get("status") or {}
        if not said.get("authenticated") or TOKEN_AUDIENCE not in (said.get("audiences") or ()):
            return self._refused("the token is not valid, or for somebody else")
        namespace, name, uid = _pod(said.get("user") or {})
        pod = await self.api.find(f"/api/v1/namespaces/{namespace}/pods/{name}") if name else None
        if pod is None or pod["metadata"]["uid"] != uid:
            return self._refused("the token is not bound to a pod that is there")
        raycluster = raycluster_of(pod)
        owner = await self.cluster.owner(namespace, raycluster) if raycluster else None
        if raycluster is None or owner is None:
            return self._refused("the pod is not the head of a RayService")
        return Sidecar(namespace, owner.name, raycluster)

    def _remembered_s(self, token: str) -> float:
        ends_at = _ends_at(token)
        return _REMEMBERED_S if ends_at is None else max(0.0, min(_REMEMBERED_S, ends_at - self.wall()))

    def _refused(self, why: str) -> Sidecar | None:
        log.warning("somebody asked the journal in vain", extra={"why": why})
        return None


def _ends_at(token: str) -> float | None:
    """When a token that is known to be good ends, in Unix time; None where it does not say (it is no JWT)."""
    payload = token.split(".")[1] if token.count(".") == 2 else ""  # noqa: PLR2004 - header, payload, signature
    try:
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return float(claims["exp"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return None


def _pod(user: Mapping[str, Any]) -> tuple[str, str, str]:
    """Namespace, name and uid of the pod that a token is bound to; empty where it is bound to none."""
    account, extra = str(user.get("username", "")), user.get("extra") or {}
    namespace = account.split(":")[2] if account.startswith("system:serviceaccount:") else ""
    name, uid = ((extra.get(key) or [""])[0] for key in (_POD_NAME, _POD_UID))
    return (namespace, name, uid) if namespace and uid else ("", "", "")

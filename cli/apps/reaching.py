"""The way to a sidecar: through the API server to the head's pod, or straight to a URL.

1. The API server passes a request to ``pods/{head}:28265/proxy/...`` on (why the pod: ``cli.apps.choosing``, rule 3).
   The caller needs the rights ``list`` on rayservices and pods, and on ``pods/proxy`` ``get``, ``update``, ``delete``.
2. The API server takes ``Authorization`` for itself and does not pass it on. Ray's token therefore goes as
   ``X-Ray-Authorization`` (Ray 2.52+), from ``RAY_AUTH_TOKEN`` or the file ``RAY_AUTH_TOKEN_PATH``, as Ray's own
   command reads it.
3. Our User-Agent is ``holdfast/...``: none that counts as KubeRay's (``serveconfig.callers``).
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import aiohttp
from kubernetes_asyncio.config import kube_config

from certs.apiserver import ApiError, ApiServer, Login, UnreachableError
from cli.apps import choosing
from cli.apps.errors import NotReachedError, RefusedError, UsageError
from webhook import names

LIMIT_S = 120.0
"""How long one call may take: a PUT waits for the one before it, and for Ray."""

_IN_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
_BODY_AS_IT_IS = "text/plain; charset=utf-8"
"""The client library prints a body of a JSON type anew, ``1.0`` as it likes; the sidecar looks at the charset only."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Any answer, of whichever status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Way(Protocol):
    """How a sidecar is asked. ``path`` begins with a slash and is percent-encoded; query included."""

    async def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """One request.

        Raises:
            NotReachedError: nobody answers.
        """


@dataclass(frozen=True, slots=True)
class Target:
    """What the options of ``cli.options.add_sidecar`` say. ``token`` is Ray's, empty if there is none."""

    login: Login
    namespace: str | None = None
    rayservice: str | None = None
    cluster: str | None = None
    url: str | None = None
    token: str = field(default="", repr=False)


class Kubernetes(ApiServer):
    """The API server, which also passes requests on to pods."""

    async def through_pod(
        self, prefix: str, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        """A request to the pod's port behind ``prefix``, and whatever is answered."""
        try:
            answer = await self._through.call_api(
                prefix + path,
                method,
                header_params={"Content-Type": _BODY_AS_IT_IS, "Accept": "application/json", **headers},
                body=body or b"",
                auth_settings=["BearerToken"],
                _preload_content=False,
                _request_timeout=LIMIT_S,
            )
            return Answer(answer.status, answer.headers, await answer.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise NotReachedError(f"the API server does not answer: {_said(error)}") from error


@dataclass(frozen=True, slots=True)
class ThroughApiServer:
    """The way to the sidecar of one head pod."""

    api: Kubernetes
    namespace: str
    pod: str
    rayservice: Mapping[str, Any]

    async def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """See ``Way``; the API server's own refusals are told from the sidecar's by their kind.

        Raises:
            NotReachedError, RefusedError: the API server could not pass it on, or would not.
        """
        prefix = f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}:{names.PROXY_PORT}/proxy"
        answer = await self.api.through_pod(prefix, method, path, headers, body)
        said = _status(answer)
        if said is None:
            return answer
        if answer.status in {401, 403}:
            raise RefusedError(f"the API server refuses it: {said}", answer.status)
        raise NotReachedError(f"head {self.pod} cannot be reached through the API server: {said}")


@dataclass(frozen=True, slots=True)
class Straight:
    """The way to a sidecar at a URL."""

    session: aiohttp.ClientSession
    url: str

    async def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """See ``Way``.

        Raises:
            NotReachedError: nobody answers there.
        """
        try:
            async with self.session.request(
                method, self.url.rstrip("/") + path, headers=headers, data=body, allow_redirects=False
            ) as answer:
                return Answer(answer.status, answer.headers, await answer.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            raise NotReachedError(f"{self.url} does not answer: {_said(error)}") from error


@asynccontextmanager
async def reached(target: Target) -> AsyncIterator[Way]:
    """The way to the sidecar that is meant.

    Raises:
        CommandError: there is none, or it is not clear which.
    """
    if target.url is not None:
        if not target.url.startswith(("http://", "https://")):
            raise UsageError(f"--url {target.url!r} is no URL such as http://HOST:28265")
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=LIMIT_S)) as session:
            yield Straight(session, target.url)
        return
    namespace = target.namespace or _namespace(target.login)
    try:
        async with Kubernetes.connected(context=target.login.context, kubeconfig=target.login.kubeconfig) as api:
            yield await _head(api, namespace, target)
    except UnreachableError as error:
        raise NotReachedError(str(error)) from error
    except ApiError as error:
        raise RefusedError(f"the API server refuses it: {error}", error.status) from error


async def _head(api: Kubernetes, namespace: str, target: Target) -> ThroughApiServer:
    try:
        found = await api.get(f"/apis/ray.io/v1/namespaces/{namespace}/rayservices")
    except ApiError as error:
        if error.not_found:
            raise NotReachedError("this cluster knows no RayServices: KubeRay is not installed in it") from None
        raise
    rayservice = choosing.rayservice(found["items"], namespace, target.rayservice)
    cluster = choosing.cluster(rayservice, target.cluster)
    labels = f"ray.io/cluster={cluster},ray.io/node-type=head"
    pods = await api.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=labels)
    return ThroughApiServer(api, namespace, choosing.head(pods["items"], cluster), rayservice)


def headers(token: str) -> dict[str, str]:
    """What goes along with every request of ours."""
    agent = {"User-Agent": f"holdfast/{version('holdfast')}"}
    return {**agent, "X-Ray-Authorization": f"Bearer {token}"} if token else agent


def token(environ: Mapping[str, str]) -> str:
    """Ray's token, if the environment has one (rule 2).

    Raises:
        UsageError: the file it names cannot be read.
    """
    if given := environ.get("RAY_AUTH_TOKEN"):
        return given.strip()
    if place := environ.get("RAY_AUTH_TOKEN_PATH"):
        try:
            return Path(place).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"RAY_AUTH_TOKEN_PATH: {place} cannot be read: {_said(error)}") from error
    return ""


def _namespace(login: Login) -> str:
    """That of the context, or of the pod we run in. A kubeconfig that cannot be read is told where it is needed."""
    is_named = login.context or login.kubeconfig or os.environ.get("KUBECONFIG")
    if "KUBERNETES_SERVICE_HOST" in os.environ and not is_named and _IN_POD_NAMESPACE.exists():
        return _IN_POD_NAMESPACE.read_text().strip()
    try:
        contexts, active = kube_config.list_kube_config_contexts(login.kubeconfig)
    except Exception:  # noqa: BLE001 - see above; the library raises whatever the file makes it stumble over
        return "default"
    named = next((each for each in contexts if each["name"] == login.context), active)
    return str(((named or {}).get("context") or {}).get("namespace") or "default")


def _status(answer: Answer) -> str | None:
    """The message, where the API server itself answered (a ``Status`` object); None where the pod did."""
    if answer.status < 400:  # noqa: PLR2004 - HTTP's own number
        return None
    try:
        said = json.loads(answer.body)
    except ValueError:
        return None
    is_its_own = isinstance(said, dict) and said.get("kind") == "Status" and "apiVersion" in said
    return str(said.get("message")).rstrip(".") if is_its_own else None


def _said(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")

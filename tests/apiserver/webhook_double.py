"""A webhook that marks whatever it is asked about, served with the certificates of the real rotation."""

import base64
import contextlib
import json
from collections.abc import AsyncIterator

from aiohttp import web

from certs.apiserver import JSON_PATCH, ApiError, ApiServer
from certs.store import CONFIGURATIONS
from certs.tls import LiveContext

MARK = "holdfast.dev/asked"
CONFIGURATION = f"{CONFIGURATIONS}/holdfast"
SERVICES = "/api/v1/namespaces/holdfast/services"


class Webhook:
    """Answers every review; remembers what it was asked."""

    def __init__(self) -> None:
        self.live = LiveContext()
        self.asked: list[tuple[str, str, str]] = []

    async def mutate(self, request: web.Request) -> web.Response:
        review = await request.json()
        asked = review["request"]
        self.asked.append((asked["kind"]["kind"], asked["operation"], asked["name"]))
        annotations = asked["object"]["metadata"].get("annotations", {})
        patch = [{"op": "add", "path": "/metadata/annotations", "value": {**annotations, MARK: "yes"}}]
        answer = {"uid": asked["uid"], "allowed": True, "patchType": "JSONPatch"}
        answer["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
        answered = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer}
        response = web.json_response(answered)
        response.force_close()  # each admission is a handshake of its own
        return response


@contextlib.asynccontextmanager
async def called_by(api: ApiServer) -> AsyncIterator[Webhook]:
    """A webhook that the API server calls until the block ends."""
    webhook, app = Webhook(), web.Application()
    app.router.add_post("/mutate", webhook.mutate)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=webhook.live.context).start()
    try:
        async with led_to(api, runner.addresses[0][1]):
            yield webhook
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def led_to(api: ApiServer, port: int) -> AsyncIterator[None]:
    """The Service's name leads to a port of loopback: there are no nodes that could carry it to a pod."""
    service = await api.find(f"{SERVICES}/holdfast-webhook")
    await api.delete(f"{SERVICES}/holdfast-webhook")
    outside = {"type": "ExternalName", "externalName": "localhost"}
    await api.create(SERVICES, {"metadata": {"name": "holdfast-webhook"}, "spec": outside})
    await _port(api, port)
    try:
        yield
    finally:
        await _port(api, 443)
        await api.delete(f"{SERVICES}/holdfast-webhook")
        del service["metadata"]["resourceVersion"], service["metadata"]["uid"]
        with contextlib.suppress(ApiError):
            await api.create(SERVICES, service)


async def _port(api: ApiServer, port: int) -> None:
    where = "/webhooks/{}/clientConfig/service/port"
    change = [{"op": "replace", "path": where.format(n), "value": port} for n in range(3)]
    await api.patch(CONFIGURATION, change, JSON_PATCH)


async def failure_policy(api: ApiServer, policy: str) -> None:
    """As the overlay strict sets it."""
    change = [{"op": "replace", "path": f"/webhooks/{n}/failurePolicy", "value": policy} for n in range(3)]
    await api.patch(CONFIGURATION, change, JSON_PATCH)

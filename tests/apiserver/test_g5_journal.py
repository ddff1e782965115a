"""The journal on a real API server, with the rights that the manifests give, and with tokens that it has issued."""

import asyncio
import json
import secrets

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from certs.apiserver import ApiError
from serveconfig.journal import DELETED, Change, Changes, Page, Taken
from tests.apiserver.test_installed import head_pod, rayservice
from webhook.cluster import Cluster
from webhook.journal.api import JournalApi
from webhook.journal.callers import Callers
from webhook.journal.store import JournalStore, secret_name
from webhook.journal.trust import Trust
from webhook.metrics import Metrics

TEAM = "/api/v1/namespaces/team"
ACCOUNT = f"{TEAM}/serviceaccounts/default/token"


@pytest.fixture
async def shop(api, opted_in):
    """A RayService of a name of its own, and its head pod."""
    assert opted_in == "team"
    name = f"shop-{secrets.token_hex(3)}"
    raycluster = await rayservice(api, name)
    return name, await head_pod(api, raycluster)


@pytest.fixture
async def replicas(webhook_api):
    clients = []
    for _ in range(2):
        callers = Callers(webhook_api, Cluster(webhook_api, within_s=5, remember_s=10))
        app = web.Application(client_max_size=7 << 20)
        JournalApi(webhook_api, JournalStore(webhook_api), callers, Metrics("test"), lambda *_: None).add_to(app)
        clients.append(TestClient(TestServer(app)))
        await clients[-1].start_server()
    yield clients
    for each in clients:
        await each.close()


async def token(api, pod=None, audience="holdfast"):
    """As the kubelet asks for one."""
    spec = {"audiences": [audience], "expirationSeconds": 3600}
    if pod:
        about = {"name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        spec["boundObjectRef"] = {"kind": "Pod", "apiVersion": "v1", **about}
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    return (await api.call("POST", ACCOUNT, body=asked))["status"]["token"]


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


async def send(http, name, token, *changes):
    body = msgspec.json.encode(Changes(changes=changes))
    answer = await http.patch(f"/v1/journal/team/{name}", data=body, headers=bearer(token))
    assert answer.status == 200, await answer.text()
    return msgspec.json.decode(await answer.read(), type=Taken)


async def read(http, name, token):
    answer = await http.get(f"/v1/journal/team/{name}", headers=bearer(token))
    assert answer.status == 200, await answer.text()
    return msgspec.json.decode(await answer.read(), type=Page)


def put(name, **config):
    return Change(name, msgspec.Raw(json.dumps({"name": name, **config}).encode()))


async def test_g5_a_head_writes_and_reads_its_own_journal(api, replicas, shop):
    name, pod = shop
    mine = await token(api, pod)

    await send(replicas[0], name, mine, put("a", f=1.0))

    page = await read(replicas[1], name, mine)
    assert bytes(page.applications["a"].config) == b'{"name": "a", "f": 1.0}'
    secret = await api.get(f"{TEAM}/secrets/{secret_name(name)}")
    assert [owner["kind"] for owner in secret["metadata"]["ownerReferences"]] == ["RayService"]


async def test_g5_two_replicas_lose_none_of_two_hundred_changes(api, replicas, shop):
    name, pod = shop
    mine = await token(api, pod)

    await asyncio.gather(*(send(replicas[n % 2], name, mine, put(f"app-{n}")) for n in range(200)))

    page = await read(replicas[0], name, mine)
    assert set(page.applications) == {f"app-{n}" for n in range(200)}
    assert page.revision == 200


async def test_g5_a_journal_of_more_than_a_megabyte_lies_in_several_secrets(api, replicas, shop):
    name, pod = shop
    mine = await token(api, pod)
    noise = {f"app-{n}": secrets.token_hex(20_000) for n in range(100)}
    for first in range(0, 100, 25):
        await send(replicas[0], name, mine, *(put(app, noise=noise[app]) for app in list(noise)[first : first + 25]))

    page = await read(replicas[1], name, mine)

    assert {app: json.loads(bytes(each.config))["noise"] for app, each in page.applications.items()} == noise
    await send(replicas[1], name, mine, *(Change(app, DELETED) for app in noise))
    left = [each["metadata"]["name"] for each in (await api.get(f"{TEAM}/secrets"))["items"]]
    assert [each for each in left if each.startswith(name)] == [secret_name(name)]


async def test_g12_no_other_token_gets_in_and_all_hear_the_same(api, replicas, shop):
    name, pod = shop
    await send(replicas[0], name, await token(api, pod), put("a"))
    foreign = await head_pod(api, await rayservice(api, f"other-{secrets.token_hex(3)}"))
    about = {"name": f"gone-{secrets.token_hex(3)}"}
    spec = pod["spec"]["containers"][0]
    gone = await api.create(
        f"{TEAM}/pods", {"metadata": about, "spec": {"containers": [{"name": "a", "image": spec["image"]}]}}
    )
    bound_to_gone = await token(api, gone)
    await api.delete(f"{TEAM}/pods/{about['name']}", gracePeriodSeconds="0")
    right = await token(api, pod)
    in_vain = {
        "another head's": await token(api, foreign),
        "bound to no pod": await token(api),
        "for the API server": await token(api, pod, audience="https://kubernetes.default.svc"),
        "of a pod that is gone": bound_to_gone,
        "forged": right[:-8] + "AAAAAAAA",
    }

    answers = {how: await replicas[0].get(f"/v1/journal/team/{name}", headers=bearer(t)) for how, t in in_vain.items()}

    assert {how: answer.status for how, answer in answers.items()} == dict.fromkeys(in_vain, 403)
    assert len({await answer.text() for answer in answers.values()}) == 1
    assert (await replicas[0].get(f"/v1/journal/team/{name}")).status == 401


async def test_g5_the_authority_is_written_with_the_rights_of_the_webhook(api, webhook_api, opted_in):
    trust = Trust(webhook_api, lambda: b"PEM", lambda: {opted_in})
    await trust.step()
    again = Trust(webhook_api, lambda: b"ANOTHER", lambda: {opted_in})

    await again.step()

    assert (await api.get(f"{TEAM}/configmaps/holdfast-ca"))["data"] == {"ca.crt": "ANOTHER"}


async def test_g12_the_webhook_may_not_look_for_secrets(webhook_api, opted_in):
    for path in ("/api/v1/secrets", f"/api/v1/namespaces/{opted_in}/secrets"):
        with pytest.raises(ApiError, match="forbidden"):
            await webhook_api.get(path)

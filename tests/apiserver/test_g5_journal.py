"""The journal on a real API server, with the rights that the manifests give, and with tokens that it has issued."""

import asyncio
import json
import secrets
import time

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from certs.apiserver import MERGE_PATCH, ApiError
from serveconfig.journal import DELETED, Change, Changes, Page, Taken
from tests.apiserver.test_certificates import until
from tests.apiserver.test_installed import head_pod, rayservice
from tests.apiserver.tokens import signed_again
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
        JournalApi(webhook_api, JournalStore(webhook_api, 16 << 20), callers, Metrics("test"), lambda *_: None).add_to(
            app
        )
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


async def test_g5_a_journal_in_several_secrets_is_read_whole_while_it_is_written(api, replicas, shop):
    name, pod = shop
    mine = await token(api, pod)
    noise = [secrets.token_hex(20_000) for _ in range(60)]
    for first in range(0, 60, 20):
        await send(replicas[0], name, mine, *(put(f"app-{n}", noise=noise[n]) for n in range(first, first + 20)))
    whole = await read(replicas[0], name, mine)

    async def write():
        for n in range(20):
            await send(replicas[0], name, mine, put(f"app-{n}", noise=noise[n][::-1]))

    writing, pages = asyncio.create_task(write()), []
    while not writing.done():
        pages.append(await read(replicas[1], name, mine))
    await writing

    assert {(page.journal, len(page.applications)) for page in pages} == {(whole.journal, 60)}
    assert [page.revision for page in pages] == sorted(page.revision for page in pages)
    left = [each["metadata"]["name"] for each in (await api.get(f"{TEAM}/secrets"))["items"]]
    assert not [each for each in left if each.startswith(name) and "unreadable" in each]


async def test_g5_a_deleted_secret_is_another_journal_and_a_broken_one_is_kept(api, replicas, shop):
    name, pod = shop
    mine = await token(api, pod)
    path = f"{TEAM}/secrets/{secret_name(name)}"
    await send(replicas[0], name, mine, put("a"))
    first = await read(replicas[0], name, mine)

    await api.delete(path)
    second = await read(replicas[1], name, mine)
    await send(replicas[1], name, mine, put("b"))
    await api.patch(path, {"data": {"journal": "bm9uc2Vuc2U="}}, MERGE_PATCH)
    third = await read(replicas[0], name, mine)

    assert len({first.journal, second.journal, third.journal}) == 3
    assert (third.journal, third.applications) == ((await read(replicas[1], name, mine)).journal, {})
    names = [each["metadata"]["name"] for each in (await api.get(f"{TEAM}/secrets"))["items"]]
    (kept,) = (each for each in names if each.startswith(f"{secret_name(name)}-unreadable-"))
    assert (await api.get(f"{TEAM}/secrets/{kept}"))["data"] == {"journal": "bm9uc2Vuc2U="}


async def test_g5_a_rayservice_that_was_made_again_has_no_journal_of_the_old_one(api, replicas, shop):
    name, pod = shop
    await send(replicas[0], name, await token(api, pod), put("a"))
    before = (await api.get(f"{TEAM}/secrets/{secret_name(name)}"))["metadata"]["ownerReferences"][0]

    for path in (f"rayservices/{name}", f"rayclusters/{pod['metadata']['ownerReferences'][0]['name']}"):
        await api.delete(f"/apis/ray.io/v1/namespaces/team/{path}")
    await api.delete(f"{TEAM}/pods/{pod['metadata']['name']}", gracePeriodSeconds="0")
    again = await token(api, await head_pod(api, await rayservice(api, name)))

    assert (await read(replicas[1], name, again)).applications == {}
    await send(replicas[1], name, again, put("b"))
    after = (await api.get(f"{TEAM}/secrets/{secret_name(name)}"))["metadata"]["ownerReferences"][0]
    assert before["uid"] != after["uid"]


async def test_g12_a_rule_that_is_missing_is_named_in_the_log(api, replicas, shop, caplog):
    name, pod = shop
    mine = await token(api, pod)
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/holdfast-webhook"
    rules = (await api.get(role))["rules"]
    less = [each for each in rules if each["resources"] != ["tokenreviews"]]

    async def status():
        return (await replicas[0].get(f"/v1/journal/team/{name}", headers=bearer(mine))).status

    async def is_denied():
        return await status() == 503

    async def is_back():
        return await status() == 200

    await api.patch(role, {"rules": less}, MERGE_PATCH)
    try:
        await until(is_denied)
    finally:
        await api.patch(role, {"rules": rules}, MERGE_PATCH)

    assert 'cannot create resource "tokenreviews" in API group "authentication.k8s.io"' in caplog.records[-1].error
    await until(is_back)


async def test_g12_no_other_token_gets_in_and_all_hear_the_same(api, cluster, replicas, shop):
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
    right, now = await token(api, pod), int(time.time())
    signed_as_well = signed_again(cluster, right, exp=now + 600)
    in_vain = {
        "another head's": await token(api, foreign),
        "bound to no pod": await token(api),
        "for the API server": await token(api, pod, audience="https://kubernetes.default.svc"),
        "of a pod that is gone": bound_to_gone,
        "forged": right[:-8] + "AAAAAAAA",
        "expired": signed_again(cluster, right, iat=now - 7200, nbf=now - 7200, exp=now - 3600),
        "not good yet": signed_again(cluster, right, iat=now + 3600, nbf=now + 3600, exp=now + 7200),
    }
    assert (await replicas[0].get(f"/v1/journal/team/{name}", headers=bearer(signed_as_well))).status == 200

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

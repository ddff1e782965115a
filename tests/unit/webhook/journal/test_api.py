"""The journal over HTTP, with a Kubernetes that keeps what it is given."""

import asyncio
import base64
import io
import json

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from serveconfig.journal import DELETED, Change, Changes, Entry, Finding, Page, Report, Taken
from tests.fakes.kubernetes import Kubernetes, connected
from webhook.cluster import Cluster
from webhook.events import About
from webhook.journal import packing
from webhook.journal.api import JournalApi
from webhook.journal.callers import Callers
from webhook.journal.store import JournalStore, secret_name
from webhook.metrics import Metrics

TEAM = "/api/v1/namespaces/team"
RAY = "/apis/ray.io/v1/namespaces/team"
SECRET = f"{TEAM}/secrets/{secret_name('shop')}"
REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
SHOP = "/v1/journal/team/shop"
MOST_BYTES = 100_000


def raycluster(name, rayservice):
    labels = {"ray.io/originated-from-crd": "RayService", "ray.io/originated-from-cr-name": rayservice}
    return {"metadata": {"name": name, "labels": labels}}


def head(raycluster, uid):
    owner = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "name": raycluster}
    return {"metadata": {"uid": uid, "labels": {"ray.io/node-type": "head"}, "ownerReferences": [owner]}}


@pytest.fixture
def kubernetes():
    kubernetes = Kubernetes()
    status = {"activeServiceStatus": {"rayClusterName": "shop-a"}}
    kubernetes.put(f"{RAY}/rayservices/shop", {"metadata": {"uid": "u-shop"}, "status": status})
    kubernetes.put(f"{RAY}/rayservices/other", {"metadata": {"uid": "u-other"}})
    kubernetes.put(f"{RAY}/rayclusters/shop-a", raycluster("shop-a", "shop"))
    kubernetes.put(f"{RAY}/rayclusters/other-a", raycluster("other-a", "other"))
    kubernetes.put(f"{TEAM}/pods/shop-a-head", head("shop-a", "p-1"))
    kubernetes.put(f"{TEAM}/pods/other-a-head", head("other-a", "p-2"))
    kubernetes.put(f"{TEAM}/pods/worker", {"metadata": {"uid": "p-3", "labels": {}}})
    says_who(kubernetes, "shop-a-head", "p-1")
    return kubernetes


def says_who(
    kubernetes, pod, uid, *, account="system:serviceaccount:team:default", audiences=("holdfast",), valid=True
):
    """What TokenReview answers."""
    extra = {"authentication.kubernetes.io/pod-name": [pod], "authentication.kubernetes.io/pod-uid": [uid]}
    user = {"username": account, "extra": extra if pod else {}}
    kubernetes.raw[REVIEWS] = {"status": {"authenticated": valid, "user": user, "audiences": list(audiences)}}


@pytest.fixture
def told():
    return []


@pytest.fixture
def metrics():
    return Metrics("test")


@pytest.fixture
async def replicas(kubernetes, metrics, told):
    """Two replicas of the webhook, on two ports."""
    async with connected(kubernetes) as api:
        clients = []
        for _ in range(2):
            callers = Callers(api, Cluster(api, within_s=1, remember_s=10))
            app = web.Application(client_max_size=7 << 20)
            JournalApi(api, JournalStore(api, MOST_BYTES), callers, metrics, lambda *each: told.append(each)).add_to(
                app
            )
            clients.append(TestClient(TestServer(app)))
            await clients[-1].start_server()
        yield clients
        for each in clients:
            await each.close()


@pytest.fixture
def http(replicas):
    return replicas[0]


def bearer(token="t"):  # noqa: S107 - good for nothing
    return {"Authorization": f"Bearer {token}"}


async def read(http, path=SHOP, **query):
    answer = await http.get(path, params=query, headers=bearer())
    assert answer.status == 200, await answer.text()
    return msgspec.json.decode(await answer.read(), type=Page)


async def send(http, *changes, status=200, path=SHOP, **more):
    body = msgspec.json.encode(Changes(changes=changes, **more))
    answer = await http.patch(path, data=body, headers=bearer())
    assert answer.status == status, await answer.text()
    return msgspec.json.decode(await answer.read(), type=Taken) if status == 200 else await answer.json()


def put(name, text=None):
    return Change(name, msgspec.Raw((text or f'{{"name": "{name}", "f": 1.0}}').encode()))


def counted(metrics, method, outcome):
    return f'holdfast_journal_requests_total{{method="{method}",outcome="{outcome}"}} 1.0' in metrics.print().decode()


async def test_g5_what_was_sent_is_read_again_byte_for_byte(http):
    taken = await send(http, put("a"))

    page = await read(http)

    assert bytes(page.applications["a"].config) == b'{"name": "a", "f": 1.0}'
    assert (page.revision, page.is_whole, page.role) == (taken.revision, True, "active")
    assert (await read(http, since=taken.revision, journal=page.journal)).applications == {}


async def test_g5_the_secret_belongs_to_the_rayservice(http, kubernetes):
    await send(http, put("a"))

    secret = kubernetes.objects[SECRET]
    assert secret["metadata"]["ownerReferences"] == [
        {"apiVersion": "ray.io/v1", "kind": "RayService", "name": "shop", "uid": "u-shop"}
    ]
    assert secret["type"] == "holdfast.dev/journal"


async def test_g5_what_changes_nothing_is_not_written(http, kubernetes):
    await send(http, put("a"))
    version = kubernetes.objects[SECRET]["metadata"]["resourceVersion"]

    await send(http, put("a"))

    assert kubernetes.objects[SECRET]["metadata"]["resourceVersion"] == version


async def test_g5_of_two_replicas_that_write_at_once_neither_loses_a_change(replicas):
    sent = [send(replicas[n % 2], put(f"app-{n}", json.dumps({"name": f"app-{n}"}))) for n in range(40)]

    await asyncio.gather(*sent)

    assert set((await read(replicas[0])).applications) == {f"app-{n}" for n in range(40)}


async def test_g5_a_secret_that_was_deleted_is_another_journal(http, kubernetes):
    await send(http, put("a"))
    before = await read(http)
    kubernetes.remove(SECRET)

    after = await read(http, since=before.revision, journal=before.journal)

    assert after.journal != before.journal
    assert (after.is_whole, after.applications) == (True, {})


async def test_g5_a_secret_of_a_rayservice_that_is_gone_is_not_read(http, kubernetes):
    await send(http, put("a"))
    kubernetes.put(f"{RAY}/rayservices/shop", {"metadata": {"uid": "u-new"}})

    assert (await read(http)).applications == {}
    await send(http, put("b"))
    assert set((await read(http)).applications) == {"b"}


def broken(kubernetes):
    kubernetes.put(SECRET, {**kubernetes.objects[SECRET], "data": {"journal": "bm9uc2Vuc2U="}})


def kept(kubernetes):
    return [each["data"]["journal"] for path, each in kubernetes.objects.items() if "-unreadable-" in path]


async def test_g5_a_secret_that_cannot_be_read_is_kept_under_another_name(http, kubernetes, told):
    await send(http, put("a"))
    broken(kubernetes)

    first, second = await read(http), await read(http)
    await send(http, put("b"))

    assert (first.applications, first.journal) == ({}, second.journal)
    assert kept(kubernetes) == ["bm9uc2Vuc2U="]
    assert set((await read(http)).applications) == {"b"}
    assert [notice.reason for _, notice in told] == ["JournalPutAside"]


async def test_g5_a_secret_that_cannot_be_kept_is_not_written_over(http, kubernetes):
    await send(http, put("a"))
    broken(kubernetes)
    kubernetes.refuse["POST", f"{TEAM}/secrets"] = 403

    await send(http, put("b"), status=503)

    assert kubernetes.objects[SECRET]["data"] == {"journal": "bm9uc2Vuc2U="}


async def test_g5_of_two_replicas_that_find_it_broken_both_go_on_with_one_new_journal(replicas, kubernetes):
    await send(replicas[0], put("a"))
    broken(kubernetes)

    pages = await asyncio.gather(*(read(replicas[n % 2]) for n in range(6)))

    assert kept(kubernetes) == ["bm9uc2Vuc2U="]
    assert len({page.journal for page in pages}) == 1


async def large_journal(http):
    await send(http, *(put(f"app-{n}", json.dumps({"name": f"app-{n}", "n": 0})) for n in range(60)))


async def test_g5_a_journal_that_is_written_while_it_is_read_is_not_broken(http, kubernetes, monkeypatch):
    monkeypatch.setattr(packing, "PART_BYTES", 400)
    await large_journal(http)
    old = kubernetes.objects.copy()
    await send(http, *(put(f"app-{n}", json.dumps({"name": f"app-{n}", "n": 1})) for n in range(60)))
    new = kubernetes.objects.copy()
    moves = 4
    kubernetes.objects = old

    def written_in_between(path):
        nonlocal moves
        if path == SECRET and moves:
            moves -= 1
            kubernetes.objects = new if kubernetes.objects is old else old

    kubernetes.after_read = written_in_between

    assert len((await read(http)).applications) == 60
    assert kept(kubernetes) == []


async def test_g5_a_journal_that_changes_under_every_look_is_a_conflict_and_not_broken(http, kubernetes, monkeypatch):
    monkeypatch.setattr(packing, "PART_BYTES", 400)
    await large_journal(http)
    for path in [path for path in kubernetes.objects if path.startswith(f"{SECRET}-")]:
        kubernetes.remove(path)

    kubernetes.after_read = lambda path: path == SECRET and kubernetes.put(SECRET, kubernetes.objects[SECRET])

    assert (await http.get(SHOP, headers=bearer())).status == 409
    assert kept(kubernetes) == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a", '{"name": "b", "secret": "hunter2"}', "the config under the name 'a' is of another application"),
        ("a", '["hunter2"]', "cannot be read"),
        ("ä", '{"name": "ä"}', "is not ASCII"),
        ("", '{"name": ""}', "1 to 512 characters"),
    ],
)
async def test_g12_what_is_no_config_is_refused_with_all_that_came_with_it(http, kubernetes, name, text, why):
    said = await send(http, put("good"), put(name, text), status=400)

    assert why in said["detail"]
    assert "hunter2" not in json.dumps(said)
    assert SECRET not in kubernetes.objects


async def test_more_than_is_read_at_once_is_too_large(http, metrics):
    answer = await http.patch(SHOP, data=io.BytesIO(b" " * (8 << 20)), headers=bearer())

    assert (answer.status, answer.content_type) == (413, "application/problem+json")
    assert counted(metrics, "PATCH", "too_large")


async def test_g12_of_a_fault_of_our_own_the_log_has_the_place_and_not_the_words(http, metrics, monkeypatch, caplog):
    def fails(_page):
        raise RuntimeError("hunter2")

    monkeypatch.setattr("webhook.journal.api._json", fails)

    answer = await http.get(SHOP, headers=bearer())

    assert answer.status == 500
    assert "hunter2" not in caplog.text + await answer.text()
    assert ["api.py" in record.where for record in caplog.records] == [True]
    assert counted(metrics, "GET", "failed")


async def test_g12_a_rule_that_the_webhook_lacks_is_named_in_the_log_and_to_nobody_else(http, kubernetes, caplog):
    kubernetes.refuse["POST", REVIEWS] = 403

    answer = await http.get(SHOP, headers=bearer())

    assert answer.status == 503
    assert "refused by the test" in caplog.records[-1].error
    assert "refused by the test" not in await answer.text()


async def test_g5_a_large_journal_lies_in_several_secrets_and_leaves_none_behind(http, kubernetes, monkeypatch):
    monkeypatch.setattr(packing, "PART_BYTES", 800)
    for round_ in range(3):
        await send(http, *(put(f"app-{n}", json.dumps({"name": f"app-{n}", "n": round_})) for n in range(60)))

    assert len((await read(http)).applications) == 60
    await send(http, *(Change(f"app-{n}", DELETED) for n in range(60)))
    assert [path for path in kubernetes.objects if "/secrets/" in path] == [SECRET]


async def test_g5_a_full_journal_stores_nothing_and_says_so(http, kubernetes, told, metrics):
    texts = {f"app-{n}": json.dumps({"name": f"app-{n}", "text": "x" * 30_000}) for n in range(4)}
    await send(http, *(put(name, text) for name, text in texts.items() if name != "app-3"))
    before = kubernetes.objects[SECRET]

    said = await send(http, put("app-3", texts["app-3"]), put("small"), status=507)

    assert said["title"] == "Journal full"
    assert "and may have 100000. Nothing was stored." in said["detail"]
    assert kubernetes.objects[SECRET] == before
    assert [notice.reason for _, notice in told] == ["JournalFull"]
    assert counted(metrics, "PATCH", "full")
    await send(http, Change("app-0", DELETED), put("app-3", texts["app-3"]))


async def test_g5_what_is_already_too_large_may_become_smaller(kubernetes):
    about = About("team", "shop", "u-shop")
    both, one = ({"a", "b"}, {"a"})

    async with connected(kubernetes) as api:
        for most_bytes, names in ((10_000, both), (100, one)):
            store = JournalStore(api, most_bytes)
            stored = await store.read(about)
            entries = {name: Entry(msgspec.Raw(f'{{"name":"{name}"}}'.encode()), 1, "c") for name in names}
            await store.write(about, msgspec.structs.replace(stored.journal, entries=entries), stored)
        assert (await store.read(about)).journal.entries.keys() == one


async def test_g5_what_a_sidecar_reports_becomes_an_event(http, told):
    await send(http, reports=(Report(Finding.NOT_CARRIED_OVER, ("a", "b"), "Ray refused its config (400)"),))

    ((about, notice),) = told
    assert (about.namespace, about.name, about.uid) == ("team", "shop", "u-shop")
    assert (notice.reason, notice.message) == ("NotCarriedOver", "shop-a: a, b (Ray refused its config (400))")
    assert notice.reason.is_warning


IN_VAIN = {
    "another RayService's": {"pod": "other-a-head", "uid": "p-2"},
    "a pod's that is no head": {"pod": "worker", "uid": "p-3"},
    "a pod's that is gone": {"pod": "gone", "uid": "p-9"},
    "a pod's of the same name, since": {"pod": "shop-a-head", "uid": "p-0"},
    "no pod's": {"pod": "", "uid": ""},
    "for somebody else": {"pod": "shop-a-head", "uid": "p-1", "audiences": ["kubernetes"]},
    "not valid": {"pod": "shop-a-head", "uid": "p-1", "valid": False},
    "a person's": {"pod": "shop-a-head", "uid": "p-1", "account": "alice"},
}


@pytest.mark.parametrize("how", IN_VAIN.values(), ids=IN_VAIN)
async def test_g12_a_token_that_does_not_speak_for_the_rayservice_learns_nothing(http, kubernetes, how):
    await send(http, put("a"))
    says_who(kubernetes, **how)

    answers = [await http.get(path, headers=bearer("another")) for path in (SHOP, "/v1/journal/team/nowhere")]

    assert {answer.status for answer in answers} == {403}
    assert len({await answer.text() for answer in answers}) == 1


async def test_g12_without_a_token_nobody_gets_in(http):
    assert (await http.get(SHOP)).status == 401
    assert (await http.patch(SHOP, data=b"{}", headers={"Authorization": "Basic eDp5"})).status == 401


async def test_a_token_is_asked_about_once_a_minute(http, kubernetes):
    for _ in range(3):
        await read(http)

    assert kubernetes.requests.count(("POST", REVIEWS)) == 1


def jwt(**claims):
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{payload}.c2ln"


@pytest.mark.parametrize(
    ("token", "after_s", "asked"),
    [
        (jwt(exp=1030), 29, 1),
        (jwt(exp=1030), 31, 2),
        (jwt(exp=9999), 59, 1),
        (jwt(exp=9999), 61, 2),
        (jwt(exp=900), 0, 2),
        (jwt(sub="x"), 59, 1),
        ("a.b.c", 59, 1),
        ("opaque", 59, 1),
    ],
)
async def test_g12_a_token_is_never_believed_beyond_its_own_end(kubernetes, token, after_s, asked):
    now = [0.0]
    async with connected(kubernetes) as api:
        cluster = Cluster(api, within_s=1, remember_s=10)
        callers = Callers(api, cluster, clock=lambda: now[0], wall=lambda: 1000 + now[0])
        assert (await callers.who(token)).rayservice == "shop"
        now[0] += after_s
        await callers.who(token)

    assert kubernetes.requests.count(("POST", REVIEWS)) == asked


async def test_g12_what_is_no_token_is_not_even_asked_about(kubernetes):
    async with connected(kubernetes) as api:
        assert await Callers(api, Cluster(api, within_s=1, remember_s=10)).who("t\udcff") is None

    assert kubernetes.requests == []


async def test_g12_of_tokens_no_more_than_so_many_are_remembered(kubernetes, monkeypatch):
    monkeypatch.setattr("webhook.journal.callers._MOST", 2)
    async with connected(kubernetes) as api:
        callers = Callers(api, Cluster(api, within_s=1, remember_s=10))
        for token in ("one", "two", "three", "three", "two", "one"):
            await callers.who(token)

    assert kubernetes.requests.count(("POST", REVIEWS)) == 4


async def test_g11_where_the_api_server_does_not_answer_the_journal_is_unavailable(http, kubernetes, metrics):
    kubernetes.refuse["GET", f"{RAY}/rayservices/shop"] = 500

    answer = await http.get(SHOP, headers=bearer())

    assert answer.status == 503
    assert counted(metrics, "GET", "unavailable")


@pytest.mark.parametrize(
    ("method", "query", "body"), [("GET", "?since=x", b""), ("PATCH", "", b"[]"), ("PATCH", "", b"{")]
)
async def test_what_cannot_be_read_is_a_bad_request(http, method, query, body):
    assert (await http.request(method, SHOP + query, data=body, headers=bearer())).status == 400


async def test_a_rayservice_that_is_gone_has_no_journal(http, kubernetes):
    kubernetes.remove(f"{RAY}/rayservices/shop")

    assert (await http.get(SHOP, headers=bearer())).status == 403


async def test_another_replica_that_is_always_faster_is_a_conflict(http, kubernetes, monkeypatch):
    monkeypatch.setattr("webhook.journal.api._PAUSE_S", 0)
    await send(http, put("a"))

    def faster(_path):
        kubernetes.put(SECRET, kubernetes.objects[SECRET])
        kubernetes.before_write = faster

    kubernetes.before_write = faster
    said = await send(http, put("b"), status=409)
    assert said["title"] == "Conflict"

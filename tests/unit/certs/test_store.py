import asyncio
import base64
import datetime as dt

import pytest

from certs import authority
from certs.apiserver import ApiError
from certs.place import Place
from certs.renewal import Terms
from certs.store import CONFIGURATIONS, ConflictError, Store, Stored

PLACE = Place()
SECRETS = "/api/v1/namespaces/holdfast/secrets"
SECRET = f"{SECRETS}/{PLACE.secret}"
CONFIGURATION = f"{CONFIGURATIONS}/{PLACE.configuration}"
BUNDLE = authority.first(PLACE.names(), Terms(), dt.datetime(2026, 12, 1, tzinfo=dt.UTC))
OTHER = authority.first(PLACE.names(), Terms(), dt.datetime(2026, 12, 1, tzinfo=dt.UTC))


def webhook(name, *, service=PLACE.service, ca=None):
    called = {"service": {"namespace": PLACE.namespace, "name": service}}
    return {"name": name, "clientConfig": called if ca is None else {**called, "caBundle": ca}}


def ca_bundles(kubernetes):
    return [entry["clientConfig"].get("caBundle") for entry in kubernetes.objects[CONFIGURATION]["webhooks"]]


@pytest.fixture
def store(api):
    return Store(api, PLACE)


async def test_a_bundle_is_shared_by_a_secret(store):
    assert Stored(None, None) == await store.read()

    await store.write(BUNDLE, Stored(None, None))

    stored = await store.read()
    assert stored.bundle == BUNDLE
    assert stored.version is not None


async def test_of_two_that_make_the_first_secret_one_is_told_so(store):
    await store.write(BUNDLE, Stored(None, None))

    with pytest.raises(ConflictError, match="already exists"):
        await store.write(OTHER, Stored(None, None))
    assert (await store.read()).bundle == BUNDLE


@pytest.mark.parametrize("meanwhile", ["written", "deleted"])
async def test_what_was_changed_since_it_was_read_is_not_written_over(store, kubernetes, meanwhile):
    await store.write(BUNDLE, Stored(None, None))
    read = await store.read()
    if meanwhile == "written":
        await store.write(OTHER, read)
    else:
        kubernetes.remove(SECRET)

    with pytest.raises(ConflictError):
        await store.write(BUNDLE, read)


async def test_a_secret_with_anything_else_in_it_is_taken_for_none_and_written_over(store, kubernetes):
    kubernetes.put(SECRET, {"data": {"tls.crt": "!"}})
    read = await store.read()

    assert read.bundle is None
    await store.write(BUNDLE, read)
    assert (await store.read()).bundle == BUNDLE


async def test_a_refusal_by_the_api_server_is_not_taken_for_a_conflict(store, kubernetes):
    kubernetes.refuse["POST", SECRETS] = 403

    with pytest.raises(ApiError, match="refused by the test"):
        await store.write(BUNDLE, Stored(None, None))


async def test_the_ca_bundle_is_written_where_the_webhook_is_called_and_nowhere_else(store, kubernetes):
    strangers = [webhook("b", service="other"), {"name": "c", "clientConfig": {"url": "https://x"}}]
    kubernetes.put(CONFIGURATION, {"webhooks": [webhook("a"), *strangers, webhook("d", ca="b2xk")]})

    assert await store.trust(b"pem")

    wanted = base64.b64encode(b"pem").decode()
    assert [wanted, None, None, wanted] == ca_bundles(kubernetes)


async def test_a_ca_bundle_that_is_in_place_is_not_written_again(store, kubernetes):
    kubernetes.put(CONFIGURATION, {"webhooks": [webhook("a")]})
    await store.trust(b"pem")
    kubernetes.requests.clear()

    assert not await store.trust(b"pem")
    assert {method for method, _ in kubernetes.requests} == {"GET"}


async def test_without_a_configuration_there_is_nothing_to_do(store):
    assert not await store.trust(b"pem")


async def test_a_configuration_that_changed_in_between_is_read_again_before_it_is_written(store, kubernetes):
    """Else the caBundle would land in whatever entry has taken the place in the list."""
    kubernetes.put(CONFIGURATION, {"webhooks": [webhook("a")]})
    kubernetes.before_write = lambda _: kubernetes.put(CONFIGURATION, {"webhooks": [webhook("z", service="other")]})

    with pytest.raises(ConflictError):
        await store.trust(b"pem")
    assert ca_bundles(kubernetes) == [None]


@pytest.mark.parametrize("path", [SECRET, CONFIGURATION])
async def test_a_change_by_somebody_else_is_noticed_at_once(store, kubernetes, path):
    kubernetes.put(CONFIGURATION, {"webhooks": [webhook("a")]})
    await store.write(BUNDLE, await store.read())
    await store.trust(b"pem")
    for own_writes_seen in (store.read(), store.trust(b"pem")):
        await own_writes_seen
    waiting = asyncio.create_task(store.wait_for_change(20))
    await asyncio.sleep(0.05)
    assert not waiting.done()

    kubernetes.remove(path)
    await kubernetes.told()

    await asyncio.wait_for(waiting, 2)


async def test_without_a_change_the_wait_ends_by_itself(store):
    await store.read()

    await asyncio.wait_for(store.wait_for_change(0.05), 2)

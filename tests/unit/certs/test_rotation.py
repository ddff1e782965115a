"""The loop over a real HTTP API and a real TLS context; only the clock is ours."""

import asyncio
import base64
import contextlib
import datetime as dt

import pytest

from certs import authority
from certs.apiserver import ApiError
from certs.bundle import Bundle
from certs.place import Place
from certs.renewal import Reason, Terms
from certs.rotation import Rotation
from certs.store import CONFIGURATIONS, Store
from certs.tls import LiveContext

PLACE = Place()
SECRETS = "/api/v1/namespaces/holdfast/secrets"
SECRET = f"{SECRETS}/{PLACE.secret}"
CONFIGURATION = f"{CONFIGURATIONS}/{PLACE.configuration}"
DAY, MINUTE = dt.timedelta(days=1), dt.timedelta(minutes=1)
CALLED = {"service": {"namespace": PLACE.namespace, "name": PLACE.service}}


class Replica:
    """One of the webhook's pods."""

    def __init__(self, api, metrics, clock):
        self.live = LiveContext()
        self.rotation = Rotation(Store(api, PLACE), self.live, metrics, names=PLACE.names(), terms=Terms(), clock=clock)

    async def step(self):
        return await self.rotation.step()


@pytest.fixture
def new_replica(api, metrics, clock, kubernetes):
    kubernetes.put(CONFIGURATION, {"webhooks": [{"name": "pods", "clientConfig": CALLED}]})
    return lambda: Replica(api, metrics, clock)


def shared(kubernetes):
    return Bundle.from_secret(kubernetes.objects[SECRET]["data"])


def trusted(kubernetes):
    return base64.b64decode(kubernetes.objects[CONFIGURATION]["webhooks"][0]["clientConfig"]["caBundle"])


async def eventually(holds):
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110 - what is waited for is an HTTP server's state
            await asyncio.sleep(0.01)


def renewals(metrics):
    samples = next(iter(metrics.renewals.collect())).samples
    return {
        sample.labels["reason"]: sample.value for sample in samples if sample.name.endswith("_total") and sample.value
    }


async def test_the_first_replica_makes_everything_and_the_second_takes_it_over(new_replica, kubernetes):
    one, two = new_replica(), new_replica()

    made = await one.step()

    assert made == await two.step() == shared(kubernetes)
    assert made.trust_pem() == trusted(kubernetes)
    assert one.live.loaded == two.live.loaded == made.serving


async def test_two_replicas_that_start_at_once_serve_the_same(new_replica, kubernetes, metrics):
    replicas = [new_replica() for _ in range(4)]

    await asyncio.gather(*(replica.step() for replica in replicas))

    assert {shared(kubernetes).serving} == {replica.live.loaded for replica in replicas}
    assert renewals(metrics) == {Reason.MISSING: 1}


async def test_a_certificate_is_renewed_at_two_thirds_of_its_life_by_one_replica(new_replica, clock, metrics):
    one, two = new_replica(), new_replica()
    before = await one.step()
    clock.now += 20 * DAY

    after, also = await asyncio.gather(one.step(), two.step())

    assert before.authority == after.authority == also.authority
    assert before.serving != after.serving == also.serving
    assert renewals(metrics) == {Reason.MISSING: 1, Reason.CERTIFICATE_AGING: 1}


async def test_a_new_authority_is_trusted_first_and_used_once_it_has_spread(new_replica, clock, kubernetes):
    replica = new_replica()
    while clock.now < clock.now.replace(year=2027, month=7, day=30):
        before = await replica.step()
        clock.now += 15 * DAY
    clock.now += 10 * DAY

    changing = await replica.step()
    assert before.authority != changing.authority
    assert before.serving == changing.serving == replica.live.loaded
    assert changing.authority.cert_pem + before.authority.cert_pem == trusted(kubernetes)

    clock.now += 5 * MINUTE
    changed = await replica.step()
    assert changed.serving != changing.serving
    assert changed.trust_pem() == changing.trust_pem()


async def test_everything_over_after_a_year_asleep_is_made_new_at_once(new_replica, clock, metrics):
    replica = new_replica()
    await replica.step()
    clock.now += 400 * DAY

    bundle = await replica.step()

    assert bundle.serving.certificate().not_valid_after_utc > clock.now
    assert replica.live.loaded == bundle.serving
    assert renewals(metrics)[Reason.AUTHORITY_EXPIRED] == 1


async def test_a_deleted_secret_is_made_anew_and_no_call_fails_meanwhile(new_replica, clock, kubernetes):
    """What is served must stay: the API server learns of the new authority later than the replica."""
    replica = new_replica()
    before = await replica.step()
    kubernetes.remove(SECRET)

    after = await replica.step()

    assert before.authority != after.authority
    assert before.serving == after.serving == shared(kubernetes).serving
    assert before.authority.cert_pem in after.retired_pem
    clock.now += 5 * MINUTE
    assert before.serving != (await replica.step()).serving


async def test_a_restarted_replica_without_a_secret_starts_from_nothing(new_replica, kubernetes):
    """How to revoke an authority whose key got lost: delete the Secret and restart."""
    before = await new_replica().step()
    kubernetes.remove(SECRET)

    after = await new_replica().step()

    assert after.retired_pem == ()
    assert before.authority.cert_pem not in trusted(kubernetes)


async def test_a_ca_bundle_that_somebody_strips_is_put_back_at_once(new_replica, kubernetes):
    replica = new_replica()
    await replica.step()
    looking_after = asyncio.create_task(replica.rotation.run())
    await asyncio.sleep(0.1)

    kubernetes.put(CONFIGURATION, {"webhooks": [{"name": "pods", "clientConfig": CALLED}]})
    await kubernetes.told()

    await eventually(lambda: "caBundle" in kubernetes.objects[CONFIGURATION]["webhooks"][0]["clientConfig"])
    assert shared(kubernetes).trust_pem() == trusted(kubernetes)
    looking_after.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await looking_after


async def test_a_stranger_in_the_secret_is_replaced(new_replica, kubernetes):
    kubernetes.put(SECRET, {"data": {"tls.crt": "", "tls.key": ""}})

    bundle = await new_replica().step()

    assert bundle == shared(kubernetes)


async def test_another_replica_that_wrote_first_wins(new_replica, clock, kubernetes):
    replica = new_replica()
    theirs = authority.first(PLACE.names(), Terms(), clock.now)
    kubernetes.before_write = lambda _: kubernetes.put(SECRET, {"data": theirs.to_secret()})

    assert theirs == await replica.step()


async def test_a_replica_whose_clock_is_behind_takes_what_the_others_made(new_replica, clock, metrics):
    made = await new_replica().step()
    clock.now -= 50 * MINUTE

    assert made == await new_replica().step()
    assert renewals(metrics) == {Reason.MISSING: 1}


async def test_with_the_api_server_away_the_last_certificate_is_served_on(new_replica, kubernetes, metrics):
    replica = new_replica()
    served = (await replica.step()).serving
    kubernetes.refuse["GET", SECRETS] = 503

    with pytest.raises(ApiError):
        await replica.step()
    looking_after = asyncio.create_task(replica.rotation.run())
    await asyncio.sleep(0.1)

    assert not looking_after.done()
    assert served == replica.live.loaded
    assert metrics.failures._value.get() >= 1
    looking_after.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await looking_after


async def test_the_end_of_the_certificate_can_be_seen(new_replica, metrics):
    bundle = await new_replica().step()

    assert bundle.serving.certificate().not_valid_after_utc.timestamp() == metrics.expiry._value.get()
    assert bundle.authority.certificate().not_valid_after_utc.timestamp() == metrics.authority_expiry._value.get()


async def test_no_key_is_logged(new_replica, clock, kubernetes, caplog):
    caplog.set_level("DEBUG")
    replica = new_replica()
    for change in (lambda: None, lambda: kubernetes.remove(SECRET)):
        change()
        await replica.step()
        clock.now += 21 * DAY

    logged = "".join(str(vars(record)) for record in caplog.records)
    assert "certificate renewed" in logged
    assert "PRIVATE KEY" not in logged
    assert kubernetes.objects[SECRET]["data"]["tls.key"] not in logged

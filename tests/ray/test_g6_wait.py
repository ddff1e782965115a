"""G6 wait: a cluster gets the traffic when its carried-over applications have run, failed, or had their time."""

import asyncio

import pytest

from serveconfig.journal import Policy, Role
from tests.ray.configs import app
from tests.ray.conftest import ENDS
from tests.ray.test_g5_carry_over import told

SIDECAR = "token-of-shop-a"
pytestmark = pytest.mark.on(lambda version, real: real or version.text in ENDS)


@pytest.fixture
def journal(journal):
    """The cluster is new: another one has the traffic."""
    journal.settings("shop-a", Role.PENDING)
    settings = journal.settings

    def pending(cluster, role=Role.PENDING):
        return settings(cluster, role)

    journal.settings = pending
    return journal


async def looks(kuberay, times=8):
    """Was it ready at any of so many looks?"""
    ready = False
    for _ in range(times):
        await kuberay.operator.reconcile()
        ready = ready or kuberay.operator.ready
        await asyncio.sleep(0.25)
    return ready


async def test_g6_the_traffic_waits_for_what_arrives(ray, journal, kuberay):
    journal.put(app("model"), by="shop-b")
    journal.put(app("slow", "never_ready"), by="shop-b")

    await kuberay.declares(app("shop"))
    await ray.until({"shop": "RUNNING", "model": "RUNNING", "slow": "DEPLOYING"})

    assert not await looks(kuberay)
    assert set(kuberay.operator.applications) == {"shop", "slow"}


async def test_g6_from_the_first_look_on(ray, journal, kuberay):
    """There is no moment at which the static applications run and nothing is waited for."""
    journal.put(app("slow", "never_ready"), by="shop-b")
    kuberay.operator.apply(app("shop"), http_options=ray.http_options)

    seen = False
    for _ in range(40):
        await kuberay.operator.reconcile()
        seen = seen or kuberay.operator.ready
        await asyncio.sleep(0.05)

    await ray.until({"shop": "RUNNING"})
    assert not seen
    assert not await looks(kuberay)


async def test_g6_what_has_run_or_failed_is_waited_for_no_longer(ray, journal, kuberay):
    journal.put(app("model"), by="shop-b")
    journal.put(app("bad", "broken"), by="shop-b")

    await kuberay.declares(app("shop"))
    await ray.until({"shop": "RUNNING", "model": "RUNNING", "bad": "DEPLOY_FAILED"})

    await kuberay.until_ready()
    assert set(kuberay.operator.applications) == {"shop"}


async def test_g6_the_deadline_of_the_rayservice_ends_the_wait(ray, journal, kuberay):
    journal.policy = Policy(arrival_deadline_s=3.0)
    journal.put(app("slow", "never_ready"), by="shop-b")

    await kuberay.declares(app("shop"))
    await ray.until({"shop": "RUNNING", "slow": "DEPLOYING"})

    await kuberay.until_ready()
    assert await told(journal, "ArrivalDeadlinePassed") == {"slow"}


async def test_g6_a_cluster_that_serves_never_waits(ray, journal, kuberay):
    journal.admit(SIDECAR, "shop-a", Role.ACTIVE)
    journal.put(app("slow", "never_ready"), by="shop-b")

    await kuberay.declares(app("shop"))
    await ray.until({"shop": "RUNNING", "slow": "DEPLOYING"})

    await kuberay.until_ready()


async def test_g6_while_the_journal_is_silent_the_traffic_waits_for_its_first_word_but_not_for_ever(
    ray, journal, proxy, kuberay
):
    journal.down = True
    proxy.settings["journal_first_within_s"] = "6"
    proxy.move()

    await kuberay.declares(app("shop"))
    await ray.until({"shop": "RUNNING"})
    assert not await looks(kuberay, times=4)
    assert kuberay.operator.applications["holdfast"] == "DEPLOYING"

    await kuberay.until_ready()


async def test_g6_a_rayservice_that_declares_nothing_waits_too(ray, journal, kuberay):
    journal.put(app("slow", "never_ready"), by="shop-b")

    await kuberay.declares()
    await ray.until({"slow": "DEPLOYING"})

    assert not await looks(kuberay)


async def test_g2_what_the_rayservice_marks_as_dynamic_is_not_shown_to_kuberay(ray, journal, kuberay, developer):
    journal.policy = Policy(dynamic=("model-*",))
    await kuberay.declares(app("shop"), app("model-1", "broken"))
    await ray.until({"shop": "RUNNING", "model-1": "DEPLOY_FAILED"})

    await kuberay.until_ready()
    assert set(kuberay.operator.applications) == {"shop"}
    assert (await developer.put_app(app("model-1"))).status == 409

"""G5 carry over: a blank head gets its dynamic applications back, once, after the static ones."""

import pytest

from tests.ray.configs import app, tuned
from tests.ray.conftest import ENDS, NOTEBOOK
from tests.ray.stages import eventually

pytestmark = [pytest.mark.usefixtures("dynamic"), pytest.mark.on(lambda version, real: real or version.text in ENDS)]


async def has(journal, *names):
    async def so():
        return journal.names() == set(names)

    await eventually(so, within_s=20)


async def told(journal, finding):
    """The applications that were reported so."""

    async def so():
        return any(report.finding == finding for report in journal.reports)

    await eventually(so, within_s=30)
    return {name for report in journal.reports if report.finding == finding for name in report.applications}


async def a_new_head(ray, proxy, kuberay, *, same_pod=False):
    """Without fault tolerance: nothing of the old one is left. KubeRay finds an empty list and sends its PUT."""
    await ray.restart_head()
    proxy.restart() if same_pod else proxy.move()
    await served(ray, kuberay)


async def served(ray, kuberay):
    """Reconciled until the static application runs."""

    async def so():
        await kuberay.operator.reconcile()
        return (await ray.statuses()).get("shop") == "RUNNING"

    await eventually(so)


async def test_g5_a_new_head_gets_its_applications_back_after_the_static_ones(ray, journal, proxy, kuberay):
    await has(journal, "guest")

    await a_new_head(ray, proxy, kuberay)

    await ray.until({"shop": "RUNNING", "guest": "RUNNING"})
    assert await told(journal, "CarriedOver") == {"guest"}
    assert (await ray.applications())["guest"]["deployed_app_config"] == app("guest")


async def test_g5_a_head_that_is_killed_in_its_pod_gets_them_back_with_the_journal_away(ray, journal, proxy, kuberay):
    """The sidecar's own copy is enough."""
    await has(journal, "guest")
    await journal.hang_up()

    proxy.settings["journal_first_within_s"] = "2"
    await a_new_head(ray, proxy, kuberay, same_pod=True)

    await ray.until({"guest": "RUNNING"})
    await journal.listen()


@pytest.mark.on(lambda version, _: version.has("a PUT keeps imperative apps"))
async def test_g5_what_serve_run_had_made_is_listed_as_not_carried(ray, journal, proxy, kuberay):
    async def is_known():
        return journal.journal.clusters["shop-a"].imperative == (NOTEBOOK,)

    await eventually(is_known, within_s=20)

    await a_new_head(ray, proxy, kuberay)

    assert await told(journal, "ImperativeNotCarried") == {NOTEBOOK}
    assert NOTEBOOK not in await ray.statuses()


async def test_g5_a_config_that_ray_refuses_keeps_back_itself_alone(ray, journal, proxy, kuberay, developer):
    await has(journal, "guest")
    for config in (app("one"), {**app("bad"), "import_path": "one:two:three"}, app("two"), app("three")):
        journal.put(config, by="shop-a")

    await a_new_head(ray, proxy, kuberay)

    await ray.until(dict.fromkeys(("one", "two", "three", "guest"), "RUNNING"))
    assert await told(journal, "NotCarriedOver") == {"bad"}
    status = (await developer.get("/-/status")).json
    assert status["not_carried_over"] == [{"name": "bad", "why": "Ray refused its config (400)"}]
    assert "bad" in journal.names()


async def test_g5_a_route_that_a_static_application_has_keeps_back_itself_alone(ray, journal, proxy, kuberay):
    await has(journal, "guest")
    journal.put({**app("thief"), "route_prefix": "/shop"}, by="shop-a")

    await a_new_head(ray, proxy, kuberay)

    await ray.until({"guest": "RUNNING"})
    assert await told(journal, "NotCarriedOver") == {"thief"}
    assert "thief" not in await ray.statuses()


async def test_g5_it_happens_once(ray, journal, proxy, kuberay):
    await has(journal, "guest")
    await a_new_head(ray, proxy, kuberay)
    await ray.until({"guest": "RUNNING"})
    before = await ray.replicas("guest", "shop")

    proxy.restart()
    await kuberay.restarts()
    await ray.kill_controller()

    await ray.until({"guest": "RUNNING", "shop": "RUNNING"})
    assert before == await ray.replicas("guest", "shop")
    await told(journal, "CarriedOver")
    assert [report.finding for report in journal.reports].count("CarriedOver") == 1


async def test_g5_a_sidecar_that_is_killed_between_kuberays_put_and_its_own_goes_on(ray, journal, proxy, kuberay):
    await has(journal, "guest")
    await ray.restart_head()
    proxy.move()

    await kuberay.operator.reconcile()
    proxy.restart()
    await served(ray, kuberay)

    await ray.until({"guest": "RUNNING"})


async def test_g3_what_its_owner_deleted_is_not_carried_over(ray, journal, proxy, kuberay, developer):
    await developer.put_app(app("stays"))
    await has(journal, "guest", "stays")

    deleted = await developer.delete_app("guest", wait_s=60)
    assert deleted.headers["X-Holdfast-Journal"] == "written"
    await a_new_head(ray, proxy, kuberay)

    await ray.until({"stays": "RUNNING"})
    assert "guest" not in await ray.statuses()


async def test_g3_what_serve_delete_took_away_is_not_carried_over(ray, journal, proxy, kuberay):
    """Seen as DELETING; or, if nobody looked in the two seconds of that, missing for a while."""
    await has(journal, "guest")
    proxy.settings["absent_for_s"] = "3"
    proxy.restart()
    await ray.serve_delete("guest")

    async def is_gone():
        await kuberay.operator.reconcile()
        return "guest" not in journal.names()

    await eventually(is_gone, within_s=20)


async def test_g3_a_deletion_that_nobody_saw_counts_after_a_while(ray, journal, proxy, kuberay):
    await has(journal, "guest")
    proxy.settings["absent_for_s"] = "2"
    proxy.restart()
    assert await ray.put(app("shop"), http_options=ray.http_options) == 200
    await ray.until({"guest": None})

    async def is_gone():
        await kuberay.operator.reconcile()
        return "guest" not in journal.names()

    await eventually(is_gone, within_s=30)


async def test_g5_a_controller_that_restarts_deletes_nothing_from_the_journal(ray, journal, proxy, kuberay):
    await has(journal, "guest")
    proxy.settings["absent_for_s"] = "1"
    proxy.restart()

    await ray.kill_controller()
    for _ in range(10):
        await kuberay.operator.reconcile()

    await ray.until({"guest": "RUNNING"})
    assert journal.names() == {"guest"}


async def test_g5_an_answer_says_whether_the_journal_has_the_change(journal, developer):
    await has(journal, "guest")
    written = await developer.put_app(tuned("guest", 5))
    journal.down = True
    queued = await developer.put_app(tuned("guest", 6))
    journal.down = False

    async def is_there():
        return b"6" in bytes(journal.journal.entries["guest"].config)

    await eventually(is_there, within_s=20)
    assert (written.headers["X-Holdfast-Journal"], queued.headers["X-Holdfast-Journal"]) == ("written", "queued")


async def test_g5_a_journal_that_was_lost_is_filled_again_over_another_certificate(journal):
    await has(journal, "guest")

    await journal.hang_up()
    journal.lose()
    await journal.listen()

    await has(journal, "guest")


async def test_g12_a_sidecar_that_the_journal_does_not_know_goes_on_without(journal, proxy, developer):
    await has(journal, "guest")
    journal.clusters.clear()

    answer = await developer.put_app(app("more"), wait_s=60)

    assert answer.headers["X-Holdfast-Journal"] == "queued"
    status = (await developer.get("/-/status")).json["journal"]
    assert (status["reachable"], status["queued"]) == (False, 1)
    assert "token" not in proxy.log.read_text().lower().replace("journal_token_file", "")

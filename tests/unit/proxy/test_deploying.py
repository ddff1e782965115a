import asyncio
from dataclasses import replace

import pytest

from proxy import leftovers
from proxy.deploying import Deployments, Order
from proxy.http.local import Answer
from proxy.journal.copy import JournalCopy
from proxy.journal.observing import Observer
from proxy.metrics import Metrics
from proxy.record import Record
from proxy.settings import Settings
from serveconfig import plans
from serveconfig.callers import Caller
from serveconfig.errors import OutcomeUnknownError, UnknownStateError
from tests.doubles import PlayedRay, names
from tests.words import app, config, imperative, running, shown

FAST = replace(Settings(), settle_timeout_s=0.05)


@pytest.fixture
def metrics():
    return Metrics("test")


@pytest.fixture
def record(tmp_path, metrics):
    return Record(tmp_path, metrics)


@pytest.fixture
def changes():
    return []


@pytest.fixture
def deployments(record, metrics, changes, tmp_path):
    observer = Observer(JournalCopy(tmp_path, metrics), record, "cluster", 60.0)
    return Deployments(record, FAST, metrics, observer, on_change=lambda: changes.append(1))


def order(ray, asked, by=Caller.KUBERAY, key=None, headers=()):
    plan = plans.declare if by is Caller.KUBERAY else plans.upsert
    return Order(lambda now: plan(asked, now), by, key or (by, asked.print()), headers, ray)


async def test_g1_a_put_is_merged_with_what_runs(deployments):
    ray = PlayedRay(shown(app("model")))

    done = await deployments.carry_out(order(ray, config(app("static"))))

    assert [names(put) for put in ray.puts] == [["static", "model"]]
    assert done.accepted


async def test_g3_only_what_ray_accepted_is_declared(deployments, record):
    ray = PlayedRay()
    ray.put_answer = Answer(400)

    done = await deployments.carry_out(order(ray, config(app("static"))))

    assert not done.accepted
    assert record.declared.config is None
    assert frozenset() == record.declared.retirable


async def test_g1_the_same_put_again_is_not_sent(deployments):
    ray = PlayedRay()
    await deployments.carry_out(order(ray, config(app("static"))))
    await deployments.finish(1)

    done = await deployments.carry_out(order(ray, config(app("static"))))

    assert len(ray.puts) == 1
    assert done.accepted
    assert done.answer is None


async def test_g1_the_same_put_while_the_first_is_under_way_joins_it(deployments):
    ray = PlayedRay()
    ray.put_late_s = 0.05

    first, second = await asyncio.gather(*(deployments.carry_out(order(ray, config(app("static")))) for _ in range(2)))

    assert first is second
    assert len(ray.puts) == 1


async def test_g1_a_put_goes_on_when_its_sender_hangs_up(deployments, record):
    ray = PlayedRay()
    ray.put_late_s = 0.05
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(deployments.carry_out(order(ray, config(app("static")))), 0.01)

    await deployments.finish(1)

    assert {"static"} == record.declared.names


async def test_g10_of_many_writers_at_once_none_loses_an_update(deployments):
    ray = PlayedRay()
    ray.put_late_s = 0.001

    await asyncio.gather(
        *(deployments.carry_out(order(ray, config(app(f"m-{n}")), Caller.OTHER)) for n in range(50)),
        *(deployments.carry_out(order(ray, config(app("static", v=n)))) for n in range(5)),
    )

    assert {"static", *(f"m-{n}" for n in range(50))} == set(ray.entries)


async def test_g4_nothing_is_sent_while_ray_cannot_be_read(deployments):
    ray = PlayedRay(shown(app("model")))
    ray.down = UnknownStateError("down")

    with pytest.raises(UnknownStateError):
        await deployments.carry_out(order(ray, config(app("static"))))

    assert ray.puts == []


@pytest.mark.parametrize("exists", [True, None], ids=["there is one", "the GCS does not answer"])
async def test_g4_a_list_without_a_controller_is_not_believed_if(deployments, exists):
    ray = PlayedRay()
    ray.controller, ray.controller_exists = False, exists

    with pytest.raises(UnknownStateError):
        await deployments.carry_out(order(ray, config(app("static"))))

    assert ray.puts == []


async def test_g4_a_list_without_a_controller_is_believed_if_there_is_none(deployments):
    ray = PlayedRay()
    ray.controller, ray.controller_exists = False, False

    await deployments.carry_out(order(ray, config(app("static"))))

    assert [names(put) for put in ray.puts] == [["static"]]


async def test_g3_what_a_put_without_an_answer_may_have_created_stays_kuberays(deployments):
    ray = PlayedRay(shown(app("model")))
    ray.put_answer = OutcomeUnknownError("no answer")
    with pytest.raises(OutcomeUnknownError):
        await deployments.carry_out(order(ray, config(app("static"), app("model"))))
    ray.entries |= dict([shown(app("static"))])
    ray.put_answer = Answer(200)

    await deployments.carry_out(order(ray, config(app("other"))))

    assert names(ray.puts[-1]) == ["other", "model"]


async def test_g3_what_was_never_sent_is_not_kuberays(deployments, record):
    ray = PlayedRay()
    ray.put_answer = UnknownStateError("cannot connect")

    with pytest.raises(UnknownStateError):
        await deployments.carry_out(order(ray, config(app("static"))))

    assert frozenset() == record.declared.retirable


async def test_g3_what_somebody_else_creates_after_kuberays_attempt_is_not_kuberays(deployments, record):
    ray = PlayedRay()
    await record.keep(record.declared.attempting(["model"]))

    await deployments.carry_out(order(ray, config(app("model")), Caller.OTHER))

    assert frozenset() == record.declared.retirable


async def test_g1_the_next_order_waits_until_ray_shows_what_it_accepted(deployments):
    class SlowToShow(PlayedRay):
        def show(self, body):
            asyncio.get_running_loop().call_later(0.02, super().show, body)

    ray = SlowToShow()
    first = deployments.carry_out(order(ray, config(app("one")), Caller.OTHER))
    second = deployments.carry_out(order(ray, config(app("two")), Caller.OTHER))

    await asyncio.gather(first, second)

    assert names(ray.puts[-1]) == ["one", "two"]


async def test_a_ray_that_never_shows_what_it_accepted_does_not_block_the_next_order(deployments):
    class Forgetful(PlayedRay):
        def show(self, body):
            pass

    ray = Forgetful()
    await deployments.carry_out(order(ray, config(app("one")), Caller.OTHER))

    assert (await deployments.carry_out(order(ray, config(app("two")), Caller.OTHER))).accepted


async def test_whoever_looks_is_told_of_a_change_and_not_of_none(deployments, changes):
    ray = PlayedRay(shown(app("static")))
    await deployments.carry_out(order(ray, config(app("static"))))
    assert changes == []

    await deployments.carry_out(order(ray, config(app("static", v=2))))

    assert changes == [1]


async def test_the_last_put_is_told(deployments, metrics):
    ray = PlayedRay(shown(app("old")), shown(app("model")), imperative("m"))
    await deployments.carry_out(order(ray, config(app("old"))))

    await deployments.carry_out(order(ray, config(app("static"), app("m", "/free"))))

    last = deployments.last_put
    assert (
        last.by,
        last.outcome,
        last.kept,
        last.retired,
        last.taken_over,
    ) == ("kuberay", "forwarded", ("model",), ("old",), ("m",))
    assert b"holdfast_apps_would_have_been_deleted_total 2.0" in metrics.print()
    assert b'holdfast_puts_total{caller="kuberay",outcome="unchanged"} 1.0' in metrics.print()
    assert b'holdfast_puts_total{caller="kuberay",outcome="forwarded"} 1.0' in metrics.print()


async def test_a_fault_of_ours_is_told_to_the_sender_and_the_next_order_is_fine(deployments):
    def broken(_now):
        raise ZeroDivisionError

    ray = PlayedRay()
    with pytest.raises(ZeroDivisionError):
        await deployments.carry_out(Order(broken, Caller.OTHER, "broken", (), ray))

    assert (await deployments.carry_out(order(ray, config(app("static"))))).accepted


async def test_g3_what_ray_runs_on_after_its_deletion_is_deleted_again(deployments, monkeypatch):
    class Forgetful(PlayedRay):
        def show(self, body):
            lost = "model" in self.entries and len(self.puts) == 2
            super().show(body)
            if lost:
                self.entries |= dict([shown(name="model")])

    monkeypatch.setattr(leftovers, "PAUSE_S", 0.001)
    ray = Forgetful()
    await deployments.carry_out(order(ray, config(app("static"), app("model"))))
    await deployments.carry_out(order(ray, config(app("static"))))

    for _ in range(1000):
        await asyncio.sleep(0.001 if "model" in ray.entries else 0)

    assert [names(put) for put in ray.puts] == [["static", "model"], ["static"], ["static"]]


async def test_a_deletion_is_watched_until_it_is_done_also_when_ray_is_down_meanwhile(monkeypatch):
    monkeypatch.setattr(leftovers, "PAUSE_S", 0.001)
    answers = [UnknownStateError("down"), running(shown(app("model"), status="DELETING")), running()]
    dropped = []

    async def look():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    await leftovers.see_off({"model": 0.0}, look, lambda: dropped.append(1))

    assert (answers, dropped) == ([], [])

"""What is brought to a cluster, when, and what becomes of what is refused."""

import asyncio
from dataclasses import replace

import pytest

from proxy.app import Sidecar
from proxy.http.local import Answer
from proxy.journal import carrying as module
from proxy.ray import RayRefusedError
from proxy.settings import Settings
from serveconfig import following
from serveconfig.declared import Declared
from serveconfig.errors import UnknownStateError
from serveconfig.journal import Finding
from tests.doubles import PlayedRay, names
from tests.unit.serveconfig.test_following import entry, page
from tests.words import app, config, imperative, shown

BAD = {**app("bad"), "import_path": "one:two:three"}


class Choosy(PlayedRay):
    """Refuses a config as a whole if one application of it is bad."""

    async def put(self, headers, body):
        self.put_answer = Answer(400 if b"one:two:three" in body else 200)
        return await super().put(headers, body)


@pytest.fixture
def ray():
    return Choosy(shown(app("static")))


@pytest.fixture
async def carrying(tmp_path):
    fast = replace(Settings(), settle_timeout_s=0.05, bring_every_s=0.01, state_dir=str(tmp_path))
    sidecar = Sidecar.create(fast, "test")
    known = Declared().accepting(config(app("static")), keep_receipts=False)
    await sidecar.deployments.record.keep(known)
    return sidecar.carrying


def told(carrying, *configs, **how):
    """The journal has these."""
    copy = following.reading(
        carrying.copy.now, page(*map(entry, configs), is_whole=True, **how), "shop-a", follows=True
    )
    carrying.copy.take(copy)


async def test_g5_what_the_journal_has_is_put_once_beside_what_runs(carrying, ray):
    told(carrying, app("a"), app("b"))

    for _ in range(3):
        await carrying.step(ray)

    assert [names(put) for put in ray.puts] == [["static", "a", "b"]]
    assert carrying.copy.now.is_replayed
    assert set(carrying.copy.now.carried) == {"a", "b"}


async def test_g5_nothing_is_put_before_everything_declared_is_there(carrying, ray):
    told(carrying, app("a"))
    ray.entries = {}

    await carrying.step(ray)

    assert ray.puts == []
    assert not carrying.copy.now.is_replayed


async def test_g5_of_many_the_bad_ones_are_left_out(carrying, ray):
    told(carrying, *(app(f"a{n}") for n in range(7)), BAD)

    await carrying.step(ray)
    await carrying.step(ray)

    assert set(ray.entries) == {"static", *(f"a{n}" for n in range(7))}
    assert carrying.copy.now.refused == {"bad": "Ray refused its config (400)"}
    assert carrying.copy.now.is_replayed


async def test_g5_nobody_is_blamed_while_ray_refuses_what_runs_here_already(carrying, ray):
    told(carrying, app("a"), app("b"))
    ray.entries |= dict([shown(BAD)])
    with pytest.raises(RayRefusedError):
        await carrying.step(ray)
    assert carrying.copy.now.refused == {}
    del ray.entries["bad"]

    await carrying.step(ray)

    assert set(ray.entries) == {"static", "a", "b"}


async def test_g5_one_that_is_bad_alone_is_blamed(carrying, ray):
    told(carrying, BAD)

    await carrying.step(ray)

    assert carrying.copy.now.refused == {"bad": "Ray refused its config (400)"}


async def test_g3_a_deletion_that_ray_refuses_is_tried_again(carrying, ray):
    told(carrying, app("a"), app("b"))
    await carrying.step(ray)
    told(carrying, app("b"))
    ray.entries |= dict([shown(BAD)])
    with pytest.raises(RayRefusedError):
        await carrying.step(ray)
    del ray.entries["bad"]

    await carrying.step(ray)

    assert set(ray.entries) == {"static", "b"}


async def test_g5_a_name_that_serve_run_has_taken_here_is_reported(carrying, ray):
    ray.entries |= dict([imperative("a")])
    told(carrying, app("a"))

    await carrying.step(ray)

    assert carrying.copy.now.refused == {"a": "serve.run has made an application of that name"}
    assert ray.puts == []


async def test_g4_where_it_is_not_known_what_runs_nothing_is_put(carrying, ray):
    told(carrying, app("a"))
    ray.down = UnknownStateError("down")

    with pytest.raises(UnknownStateError):
        await carrying.step(ray)

    assert ray.puts == []


async def test_g5_another_refusal_than_of_the_config_is_tried_again(carrying, ray):
    told(carrying, app("a"))
    ray.status = 401
    with pytest.raises(RayRefusedError):
        await carrying.step(ray)
    ray.status = 200

    await carrying.step(ray)

    assert set(ray.entries) == {"static", "a"}


async def test_g3_what_was_deleted_elsewhere_is_deleted_here(carrying, ray):
    told(carrying, app("a"), app("b"))
    await carrying.step(ray)
    told(carrying, app("b"))

    await carrying.step(ray)

    assert set(ray.entries) == {"static", "b"}
    assert carrying.copy.now.dropped == frozenset()


async def test_g5_what_serve_run_had_made_is_named_when_all_else_is_here(carrying, ray, monkeypatch):
    reports = []
    monkeypatch.setattr(type(carrying.syncing), "report", lambda _self, report: reports.append(report))
    told(carrying, app("a"), imperative=("notebook", "static"))

    await carrying.step(ray)
    await carrying.step(ray)

    assert [(each.finding, each.applications) for each in reports] == [
        (Finding.CARRIED_OVER, ("a",)),
        (Finding.IMPERATIVE_NOT_CARRIED, ("notebook",)),
    ]
    assert carrying.left_behind == ("notebook",)


async def test_g11_a_fault_of_our_own_is_logged_without_its_values(carrying, ray, caplog, monkeypatch):
    monkeypatch.setattr(module, "_TICK_S", 0.001)

    async def faulty(_ray):
        raise KeyError("secret")

    monkeypatch.setattr(type(carrying), "step", lambda _self, ray: faulty(ray))
    told(carrying, app("a"))
    task = asyncio.create_task(carrying.run(ray))
    await asyncio.sleep(0.05)
    task.cancel()

    assert "carrying over failed" in caplog.text
    assert "secret" not in caplog.text

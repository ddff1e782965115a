import json

import pytest

from proxy.journal.copy import JournalCopy
from proxy.journal.observing import Observer
from proxy.metrics import Metrics
from proxy.record import Record
from serveconfig.declared import Declared
from serveconfig.running import Running
from serveconfig.view import Listing
from tests.words import app, config, listing, shown


@pytest.fixture
def now():
    return [1000.0]


@pytest.fixture
async def observer(tmp_path, now):
    metrics = Metrics("test")
    record = Record(tmp_path, metrics)
    await record.keep(Declared().accepting(config(app("static")), keep_receipts=False))
    return Observer(JournalCopy(tmp_path, metrics), record, "shop-a", 60.0, clock=lambda: now[0])


def list_of(*entries, **top):
    return Running.parse(listing(*entries, **top))


def model(at=5.0, status="RUNNING", **more):
    return shown(app("model"), status=status, last_deployed_time_s=at, **more)


async def test_g3_what_was_deleted_and_is_shown_once_more_stays_deleted(observer):
    observer.saw(list_of(model()))
    observer.was_dropped({"model": 5.0})
    observer.was_deleted(["model"])

    observer.saw(list_of(model()))
    observer.saw(list_of(model(status="DELETING")))
    observer.saw(list_of(model()))

    assert observer.copy.now.held == {}


async def test_g5_what_is_deployed_anew_after_its_deletion_is_held(observer):
    observer.was_dropped({"model": 5.0})

    observer.saw(list_of(model(at=6.0)))

    assert observer.copy.now.held.keys() == {"model"}


async def test_g5_what_was_gone_and_comes_again_is_held(observer):
    observer.was_dropped({"model": 5.0})
    observer.saw(list_of(controller=False))
    observer.saw(list_of())

    observer.saw(list_of(model()))

    assert observer.copy.now.held.keys() == {"model"}


async def test_g3_what_is_missing_for_a_minute_was_deleted(observer, now):
    observer.saw(list_of(model()))
    observer.saw(list_of())
    now[0] += 59
    observer.saw(list_of())
    assert observer.copy.now.held.keys() == {"model"}

    now[0] += 1
    observer.saw(list_of())

    assert observer.copy.now.held == {}


async def test_g3_what_was_missing_for_less_was_not(observer, now):
    observer.saw(list_of(model()))
    for _ in range(3):
        observer.saw(list_of())
        now[0] += 40
        observer.saw(list_of(model()))

    assert observer.copy.now.held.keys() == {"model"}


async def test_a_list_with_the_same_applications_is_read_once(observer):
    entries = [shown(app(f"model-{n}", noise="x" * 200)) for n in range(100)]
    first = Listing.parse(listing(*entries, health=1))
    again = Listing.parse(listing(*entries, health=2), first)
    observer.saw_list(first)
    observer.copy.take(observer.copy.now.unmarked([]))
    held = observer.copy.now

    observer.saw_list(again)

    assert again.applications is first.applications
    assert observer.copy.now is held


async def test_g4_a_list_with_a_state_that_cannot_be_read_is_left(observer):
    answer = json.dumps({"controller_info": {"a": "b"}, "applications": {"x": {"status": 5}}}).encode()

    observer.saw_list(Listing.parse(answer))

    assert observer.copy.now.held == {}


async def test_g5_after_a_shutdown_of_serve_nothing_is_held(observer):
    observer.saw(list_of(model()))

    observer.was_shut_down()

    assert observer.copy.now.held == {}


async def test_g3_a_put_just_before_the_deletion_that_was_not_shown_yet_does_not_bring_it_back(observer):
    observer.saw(list_of(model(at=5.0)))
    observer.was_dropped({"model": 7.0})
    observer.was_deleted(["model"])

    observer.saw(list_of(model(at=6.5)))

    assert observer.copy.now.held == {}

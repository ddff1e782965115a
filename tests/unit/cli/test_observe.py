import json

import pytest

from cli.demo.observe import Seen, Tally, is_settled, sighting, statuses


def answer(applications, controller_info=None):
    info = {"actor_id": "c"} if controller_info is None else controller_info
    return json.dumps({"controller_info": info, "applications": applications}).encode()


def running(*actors):
    return Seen("RUNNING", frozenset(actors))


REPLICAS = [
    {"actor_id": "b", "pid": 12, "state": "RUNNING"},
    {"actor_id": "a", "pid": 11, "state": "RUNNING"},
    {"actor_id": "old", "pid": 10, "state": "STOPPING"},
    {"state": "STARTING"},
]


def test_a_sighting_has_the_replicas_that_run_and_no_others():
    body = answer({"shop": {"status": "RUNNING", "deployments": {"Greeter": {"replicas": REPLICAS}}}})

    assert {"shop": Seen("RUNNING", frozenset({"a", "b"}), (11, 12))} == sighting(body)


def test_an_application_that_is_being_built_has_no_replicas():
    body = answer({"shop": {"status": "DEPLOYING", "deployments": {}}})

    assert {"shop": Seen("DEPLOYING")} == sighting(body)


def test_an_answer_without_a_controller_is_no_evidence():
    assert sighting(answer({}, controller_info={})) is None
    assert sighting(answer({})) == {}


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b"{}", b"<html>", b"\xff", b'{"controller_info": {"a": 1}, "applications": [1]}'],
)
def test_what_is_no_answer_of_ray_serve_is_named_so(body):
    with pytest.raises(ValueError, match=r".+"):
        sighting(body)


def test_kuberay_reads_the_statuses_and_nothing_else():
    assert statuses(b'{"applications": {"shop": {"status": "RUNNING", "deployments": 5}}}') == {"shop": "RUNNING"}
    assert statuses(b'{"applications": {}}') == {}
    with pytest.raises(ValueError, match="applications"):
        statuses(b"{}")


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (None, True),
        (Seen("RUNNING"), True),
        (Seen("DEPLOY_FAILED"), True),
        (Seen("UNHEALTHY"), True),
        (Seen("DEPLOYING"), False),
        (Seen("DELETING"), False),
        (Seen("NOT_STARTED"), False),
    ],
)
def test_what_lasts(seen, expected):
    assert expected is is_settled(seen)


@pytest.mark.parametrize(
    ("sightings", "lost", "restarted"),
    [
        pytest.param([{"a": running("1")}] * 3, (), (), id="nothing happens"),
        pytest.param([{"a": running("1")}, {}], ("a",), (), id="gone"),
        pytest.param([{"a": running("1")}, {}, {}], ("a",), (), id="gone is counted once"),
        pytest.param([{"a": running("1")}, {"a": Seen("DELETING")}, {}], ("a",), (), id="deleting is as good as gone"),
        pytest.param([{"a": running("1")}, {"a": running("2")}], (), ("a",), id="a replica replaced"),
        pytest.param([{"a": running("1")}, {"a": running("1", "2")}], (), (), id="a replica more"),
        pytest.param(
            [{"a": running("1")}, {"a": Seen("DEPLOYING")}, {"a": running("1")}], (), (), id="the flicker after a PUT"
        ),
        pytest.param(
            [{"a": running("1")}, {"a": Seen("DEPLOYING")}, {"a": running("2")}], (), ("a",), id="replaced meanwhile"
        ),
        pytest.param([{"a": running("1"), "b": running("2")}, {"b": running("2")}], ("a",), (), id="one of two"),
        pytest.param([{"a": Seen("DEPLOY_FAILED")}, {}], ("a",), (), id="what does not run can be lost too"),
        pytest.param([{}, {"a": running("1")}], (), (), id="coming is no loss"),
        pytest.param([{"a": running("1")}, {}, {"a": running("2")}, {}], ("a", "a"), (), id="lost twice"),
    ],
)
def test_what_is_lost_and_what_is_restarted(sightings, lost, restarted):
    tally = Tally()
    for seen in sightings:
        tally = tally.seen(seen)

    assert (lost, restarted) == (tally.lost, tally.restarted)


def test_what_an_owner_does_to_an_application_is_no_loss_and_no_restart():
    tally = Tally().seen({"a": running("1"), "b": running("2")}).owner_acts("a", "b")
    tally = tally.seen({"a": running("3")}).owner_done("a", "b").seen({"a": running("3")})

    assert (tally.lost, tally.restarted) == ((), ())


def test_from_the_moment_its_owner_is_done_an_application_counts_again():
    tally = Tally().owner_acts("a").seen({"a": running("1")}).owner_done("a")

    assert tally.seen({}).lost == ("a",)
    assert tally.seen({"a": running("2")}).restarted == ("a",)


def test_an_owner_who_acts_excuses_only_the_own_application():
    tally = Tally().seen({"a": running("1"), "b": running("2")}).owner_acts("a").seen({})

    assert tally.lost == ("b",)

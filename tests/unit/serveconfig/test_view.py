import json

import pytest

from serveconfig.errors import UnreadableAnswerError
from serveconfig.view import NOT_KNOWN_YET, PLACEHOLDER, Listing
from tests.words import app, imperative, listing, shown

STATIC = shown(app("static"))
DYNAMIC = [shown(app("broken"), status="DEPLOY_FAILED"), imperative("slow", status="DEPLOYING")]


def test_g2_the_view_with_dynamic_applications_is_the_view_without_them():
    alone = json.loads(Listing.parse(listing(STATIC)).view({"static"}))

    assert alone == json.loads(Listing.parse(listing(DYNAMIC[0], STATIC, DYNAMIC[1])).view({"static"}))


def test_g2_where_nothing_is_hidden_the_answer_is_rays_byte_for_byte():
    answer = listing(STATIC)

    assert answer == Listing.parse(answer).view({"static"})


def test_g2_while_nothing_declared_is_known_the_list_is_empty():
    assert json.loads(Listing.parse(listing(STATIC)).view(None))["applications"] == {}


def test_a_rayservice_that_declares_nothing_sees_one_placeholder_that_runs():
    (only,) = json.loads(Listing.parse(listing(*DYNAMIC)).view(frozenset()))["applications"].values()

    assert (only["name"], only["status"]) == (PLACEHOLDER, "RUNNING")


def test_g4_without_a_controller_there_is_no_placeholder():
    assert json.loads(Listing.parse(listing(controller=False)).view(frozenset()))["applications"] == {}


def test_the_other_members_pass_as_they_are():
    answer = listing(STATIC, *DYNAMIC, target_capacity=1.0, later={"x": 1.50})

    shown_to_kuberay = Listing.parse(answer).view({"static"})

    assert b'"target_capacity":1.0' in shown_to_kuberay
    assert b'"later":{"x": 1.5}' in shown_to_kuberay


@pytest.mark.parametrize("answer", [b"", b"nonsense", b"[]", b'{"applications": []}', b'{"applications": null}'])
def test_g4_what_is_no_list_of_applications_is_no_view(answer):
    with pytest.raises(UnreadableAnswerError):
        Listing.parse(answer)


MANY = [shown(app(f"app-{n}", args={"x": "y" * 40})) for n in range(200)]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(listing(*MANY, target_capacity=2), id="only what follows has changed"),
        pytest.param(listing(*MANY), id="nothing follows any more"),
        pytest.param(listing(*MANY[1:]), id="an application has gone"),
        pytest.param(listing(*MANY, controller=False), id="what stands before has changed"),
        pytest.param(listing(*MANY)[:-1] + b', "applications": {}}', id="the applications are named again"),
        pytest.param(listing(*MANY)[:-1] + b', "controller_info": {}}', id="the controller is named again"),
        pytest.param(listing(*MANY)[:-1] + b" \n}", id="white space follows"),
        pytest.param(listing(*MANY)[:-1] + b', "later": [1.50]}', id="something unknown follows"),
    ],
)
@pytest.mark.parametrize("declared", [None, set(), {"app-7"}, {name for name, _ in MANY}])
def test_a_second_look_sees_what_a_first_would(answer, declared):
    before = Listing.parse(listing(*MANY, target_capacity=1.5))

    first, second = Listing.parse(answer), Listing.parse(answer, before)

    assert json.loads(second.view(declared)) == json.loads(first.view(declared))
    assert second.has_controller is first.has_controller


@pytest.mark.parametrize("end", [b"", b"]", b", }", b"} }", b"}, 1", b',"a"}', b":1}"])
def test_g4_a_second_look_refuses_what_a_first_would(end):
    before = Listing.parse(listing(*MANY))

    with pytest.raises(UnreadableAnswerError):
        Listing.parse(listing(*MANY)[:-1] + end, before)


@pytest.mark.parametrize("copy", [b'{"copy": %s', b'{"copy": {"of": %s}'])
def test_a_second_look_is_spared_only_where_the_same_bytes_are_the_applications(copy):
    text = listing(*MANY)
    applications = text[text.index(b'"applications": ') + len(b'"applications": ') : -1]
    twice = copy % applications + b', "applications": ' + applications + b', "a": 1}'
    before = Listing.parse(twice)

    again = Listing.parse(twice.replace(b'"a": 1', b'"a": 2'), before)

    assert list(json.loads(again.view({"app-7"}))["applications"]) == ["app-7"]


def test_a_third_look_is_spared_too():
    before = Listing.parse(listing(*MANY, target_capacity=1))
    for capacity in range(3):
        before = Listing.parse(listing(*MANY, target_capacity=capacity), before)

    assert json.loads(before.view({"app-7"}))["target_capacity"] == 2


def seen(answer, declared, *arriving):
    apps = json.loads(Listing.parse(answer).view(declared, frozenset(arriving)))["applications"]
    return {name: app["status"] for name, app in apps.items()}


def test_g6_what_is_to_arrive_is_shown_as_ray_shows_it_and_deploying_while_ray_does_not():
    answer = listing(STATIC, *DYNAMIC)

    assert seen(answer, {"static"}, "slow", "absent") == {
        "static": "RUNNING",
        "slow": "DEPLOYING",
        "absent": "DEPLOYING",
    }


def test_g6_a_rayservice_that_declares_nothing_waits_too():
    assert seen(listing(), frozenset(), "absent") == {"absent": "DEPLOYING"}


def test_g6_kuberays_put_comes_before_what_is_to_arrive():
    """Until what it declared is there the list stays empty: that makes KubeRay send its PUT."""
    assert seen(listing(), {"static"}, "absent") == {}
    assert seen(listing(controller=False), frozenset(), "absent") == {}
    assert seen(listing(STATIC), None, "absent") == {}


def test_g6_while_the_journal_has_not_answered_the_placeholder_is_deploying():
    assert seen(listing(STATIC), {"static"}, *NOT_KNOWN_YET) == {"static": "RUNNING", PLACEHOLDER: "DEPLOYING"}

"""What is told of each application, whether it runs here or not."""

from dataclasses import replace

import pytest

from proxy.listed import LONGEST_MESSAGE, MADE_BY_SERVE_RUN, applications, shortened
from proxy.openapi import DOCUMENT
from serveconfig.declared import Declared
from serveconfig.localcopy import Carried, LocalCopy
from tests.unit.serveconfig.test_following import BLANK, entry, read
from tests.words import app, config, imperative, running, shown

DECLARED = Declared().accepting(config(app("static")), keep_receipts=False)
TO_COME = read(BLANK, entry(app("model")), is_whole=True)


def told(*entries, copy=None, declared=DECLARED, left_behind=(), has_journal=True):
    runs = running(shown(app("static")), *entries)
    rows = applications(runs, declared, copy or LocalCopy(), left_behind, has_journal=has_journal)
    return {row["name"]: row for row in rows}


def test_what_kuberay_declares_is_kuberays_and_not_the_journals_to_keep():
    assert told()["static"] == {
        "name": "static",
        "owner": "kuberay",
        "origin": "declarative",
        "state": "RUNNING",
        "message": "",
        "route_prefix": "/static",
        "deployed_at": None,
        "journal": None,
        "carried_over": None,
        "not_carried": None,
        "arriving": False,
    }


def test_when_it_was_deployed_is_told():
    assert told(shown(app("model"), last_deployed_time_s=60.0))["model"]["deployed_at"] == "1970-01-01T00:01:00+00:00"


def test_every_application_has_the_members_that_the_openapi_document_promises():
    rows = told(shown(app("model")), imperative("m"), copy=TO_COME.refusing("bad", "why"), left_behind=["notebook"])

    status = DOCUMENT["components"]["schemas"]["Status"]["properties"]
    assert {frozenset(row) for row in rows.values()} == {frozenset(status["applications"]["items"]["required"])}


def test_what_is_not_declared_is_dynamic_and_told_how_it_came_to_be():
    rows = told(shown(app("model")), imperative("m"))

    assert {name: (row["owner"], row["origin"]) for name, row in rows.items()} == {
        "static": ("kuberay", "declarative"),
        "model": ("dynamic", "declarative"),
        "m": ("dynamic", "imperative"),
    }


def test_while_nobody_knows_what_kuberay_declares_the_owner_is_unknown():
    assert told(declared=Declared())["static"]["owner"] == "unknown"


def test_g5_what_is_still_to_come_is_listed_with_its_route():
    row = told(copy=TO_COME)["model"]

    assert (row["state"], row["arriving"], row["route_prefix"], row["journal"]) == (None, True, "/model", "written")


def test_g5_what_was_carried_over_says_whence_and_when():
    copy = TO_COME.brought(["model"], 60.0)

    row = told(shown(app("model"), status="DEPLOYING"), copy=copy)["model"]

    assert row["carried_over"] == {"from": "shop-b", "at": "1970-01-01T00:01:00+00:00"}
    assert (row["state"], row["arriving"]) == ("DEPLOYING", True)


def test_g5_what_was_carried_over_and_has_settled_is_not_arriving():
    brought = TO_COME.brought(["model"], 0.0)
    copy = replace(brought, carried={"model": Carried("shop-b", 0.0, is_settled=True)})

    assert told(shown(app("model")), copy=copy)["model"]["arriving"] is False


def test_g5_what_could_not_be_carried_says_why():
    row = told(copy=TO_COME.refusing("model", "its route is taken"))["model"]

    assert (row["state"], row["not_carried"], row["arriving"]) == (None, "its route is taken", False)


def test_g5_what_serve_run_had_made_is_listed_as_not_carried_until_it_runs_again():
    gone = told(left_behind=["m"])["m"]

    assert (gone["origin"], gone["not_carried"], gone["route_prefix"]) == ("imperative", MADE_BY_SERVE_RUN, None)
    assert told(imperative("m"), left_behind=["m"])["m"]["not_carried"] is None


def test_g5_an_application_of_serve_run_that_stands_in_the_way_is_told_of_the_one_that_could_not_come():
    row = told(imperative("model"), copy=TO_COME.refusing("model", "serve.run has made one of that name"))["model"]

    assert (row["state"], row["not_carried"]) == ("RUNNING", "serve.run has made one of that name")


def test_what_kuberay_declares_and_ray_does_not_show_is_listed_with_its_route():
    declared = Declared().accepting(config(app("static"), app("late")), keep_receipts=False)

    row = told(declared=declared)["late"]

    assert (row["owner"], row["state"], row["route_prefix"]) == ("kuberay", None, "/late")


def test_what_ray_shows_comes_first_and_the_others_by_name():
    copy = TO_COME.refusing("b", "why").refusing("a", "why")

    assert list(told(shown(app("z")), copy=copy)) == ["static", "z", "a", "b", "model"]


@pytest.mark.parametrize(
    ("copy", "has_journal", "says"),
    [
        (LocalCopy(), True, "none"),
        (TO_COME, True, "written"),
        (TO_COME, False, "none"),
        (replace(TO_COME, unsent={"model": 0}), True, "queued"),
    ],
    ids=["not held", "held", "no journal", "unsent"],
)
def test_whether_the_journal_has_it(copy, has_journal, says):
    assert told(shown(app("model")), copy=copy, has_journal=has_journal)["model"]["journal"] == says


def test_of_a_long_message_the_beginning_and_the_end_are_told():
    message = "Deploying app failed:\n" + "  File x\n" * 500 + "ModuleNotFoundError: No module named 'torch'"

    short = shortened(message)

    assert len(short) == LONGEST_MESSAGE
    assert short.startswith("Deploying app failed:\n")
    assert short.endswith("ModuleNotFoundError: No module named 'torch'")
    assert "\n[...]\n" in short
    assert shortened("x" * LONGEST_MESSAGE) == "x" * LONGEST_MESSAGE

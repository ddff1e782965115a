import json

import pytest

from serveconfig.errors import UnreadableAnswerError
from serveconfig.view import PLACEHOLDER, Listing
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

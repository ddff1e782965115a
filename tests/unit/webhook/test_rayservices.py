"""What no folder shows of RayServices: limits, other people's hands in our annotations, many writers in turn."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook import rayservices
from webhook.names import ADDED_BY, DYNAMIC_APPS, DYNAMIC_WRITERS, HELD_APPS
from webhook.rayservices import MAX_HELD_BYTES, Outcome
from webhook.writers import Writer
from webhook.yamltext import ServeText

GITOPS, PLATFORM = Writer("argocd", "argocd-controller"), Writer("platform", "python")
M1 = "applications: [{name: m-1, route_prefix: /m-1}]\n"
UNREADABLE = "applications: [\n"


def rayservice(text: str, **annotations: str) -> dict:
    keys = {"globs": DYNAMIC_APPS, "writers": DYNAMIC_WRITERS, "added_by": ADDED_BY, "held": HELD_APPS}
    about = {"annotations": {keys[key]: value for key, value in annotations.items()}}
    return {"metadata": about, "spec": {"serveConfigV2": text}}


def test_what_is_too_large_to_hold_is_said_to_be_lost():
    """Annotations of an object have 256 KiB in all; a warning is better than a refused update."""
    large = f"applications: [{{name: m-1, args: '{'x' * MAX_HELD_BYTES}'}}]\n"

    decision = rayservices.admit(rayservice(UNREADABLE, globs="m-*"), rayservice(large, globs="m-*"), GITOPS)

    assert decision.outcome is Outcome.UNREADABLE
    assert "too much to hold" in decision.warnings[1]
    assert HELD_APPS not in (decision.changed or {"metadata": {}})["metadata"].get("annotations", {})


@pytest.mark.parametrize("held", ["[no json", '{"a": 1}', "[1, 2]"])
def test_somebodys_hand_in_our_annotation_stops_nothing(held):
    old = rayservice(UNREADABLE, globs="m-*", held=held)

    decision = rayservices.admit(rayservice(M1, globs="m-*"), old, GITOPS)

    assert decision.denial is None
    assert HELD_APPS not in (decision.changed or {})["metadata"]["annotations"]


def test_held_applications_survive_a_second_text_that_cannot_be_read():
    first = rayservices.admit(rayservice(UNREADABLE, globs="m-*"), rayservice(M1, globs="m-*"), GITOPS)
    second = rayservices.admit(rayservice("- x\n", globs="m-*"), first.changed, GITOPS)
    third = rayservices.admit(rayservice("applications: []\n", globs="m-*"), second.changed, GITOPS)

    assert third.outcome is Outcome.PUT_BACK
    assert {"m-1"} == set(ServeText.parse(third.changed["spec"]["serveConfigV2"]).named())


def test_many_names_are_counted_in_a_warning():
    many = "applications:\n" + "".join(f"- {{name: m-{n}, route_prefix: /{n}}}\n" for n in range(9))

    decision = rayservices.admit(rayservice("", globs="m-*"), rayservice(many, globs="m-*"), GITOPS)

    assert "m-0, m-1, m-2, m-3, m-4 and 4 more" in decision.warnings[0]


def test_two_that_shared_a_route_before_may_go_on():
    """It was so before Holdfast came, and Ray has decided between them."""
    both = "applications: [{name: m-1, route_prefix: /x}, {name: web, route_prefix: /x}]\n"
    web = "applications: [{name: web, route_prefix: /x}]\n"

    decision = rayservices.admit(rayservice(web, globs="m-*"), rayservice(both, globs="m-*"), GITOPS)

    assert decision.outcome is Outcome.PUT_BACK


def test_applications_without_a_route_clash_with_nobody():
    old = "applications: [{name: m-1, route_prefix: null}]\n"
    new = "applications: [{name: web, route_prefix: null}]\n"

    decision = rayservices.admit(rayservice(new, globs="m-*"), rayservice(old, globs="m-*"), GITOPS)

    assert decision.outcome is Outcome.PUT_BACK


names = st.sets(st.sampled_from(["web", "api", "m-1", "m-2", "m-3"]), max_size=4)


@given(st.lists(st.tuples(st.sampled_from([GITOPS, PLATFORM]), names), max_size=8))
def test_g7_no_writer_ever_loses_an_application_to_another(updates):
    """Two writers in any order, each sending the whole list: what the platform added stays until it says otherwise."""
    stored, owned = rayservice("applications: []\n", writers="platform"), set()
    for writer, wanted in updates:
        present = set(ServeText.parse(stored["spec"]["serveConfigV2"]).named())
        text = json.dumps({"applications": [{"name": name, "route_prefix": f"/{name}"} for name in sorted(wanted)]})
        sent = rayservice(text, writers="platform")

        decision = rayservices.admit(sent, stored, writer)
        stored = decision.changed or sent
        after = set(ServeText.parse(stored["spec"]["serveConfigV2"]).named())

        owned = (owned & wanted) | (wanted - present) if writer is PLATFORM else owned
        assert decision.denial is None
        assert after == wanted | owned
        assert owned == set(json.loads(stored["metadata"]["annotations"].get(ADDED_BY, "{}")))

"""What is told of an application, for everything that may be known of it."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from cli.explain.facts import Facts, Told, close_to, naming
from cli.explain.report import ago, text
from cli.explain.story import Sentence, story
from serveconfig.journal import Entry
from webhook.journal.document import Cluster, Deletion, Journal
from webhook.writers import Ownership

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
APP = {
    "name": "model",
    "owner": "dynamic",
    "origin": "declarative",
    "state": "RUNNING",
    "message": "",
    "route_prefix": "/model",
}
ENTRY = Entry(msgspec.Raw(b"{}"), 12, "shop-a", int(NOW.timestamp()) - 7200)
NO_ONE, BY_NAME = Ownership((), (), {}), Ownership(("model*",), (), {})
JOURNAL = Journal("j", 12, entries={"model": ENTRY})


def facts(app=APP, **more):
    return Facts("model", "RayService team/shop", app, more.pop("ownership", NO_ONE), **more)


def told(of):
    now = story(of)
    return " ".join(each.text for each in (*now.is_so, *now.happened, *now.comes))


@pytest.mark.parametrize(
    ("app", "more", "says"),
    [
        ({}, {}, "Its config came by a PUT; the RayService does not declare it."),
        ({}, {}, "Every PUT of KubeRay keeps it."),
        ({"journal": "written"}, {}, "a new head and a new cluster get it, too"),
        ({"journal": "queued"}, {}, "does not have it yet; the sidecar keeps the change"),
        ({"journal": "none"}, {}, "No journal has it: a head that is lost takes it along"),
        ({}, {}, "No journal has it"),
        ({"origin": "imperative"}, {}, "serve.run made it; the RayService does not"),
        ({"origin": "imperative"}, {}, "Ray 2.11 and newer keep it"),
        ({"origin": "imperative"}, {}, "Deployed over REST (holdfast apps apply) it would come along."),
        ({"origin": "unknown"}, {}, "Ray does not say how it was made"),
        ({"owner": "kuberay"}, {}, "KubeRay keeps it as spec.serveConfigV2"),
        ({"owner": "kuberay"}, {"ownership": None}, "KubeRay keeps it as spec.serveConfigV2"),
        ({"owner": "kuberay"}, {"ownership": BY_NAME}, "An update of the RayService by anybody else keeps it."),
        (
            {"owner": "kuberay"},
            {"ownership": Ownership((), ("platform",), {"model": "platform"})},
            "The RayService marks it as dynamic; it is platform's to drop.",
        ),
        ({"owner": "unknown"}, {}, "what the RayService declares is not known yet"),
        ({"state": "DEPLOY_FAILED", "message": "no\nmodule"}, {}, "Ray says: no module"),
        ({"state": "DEPLOY_FAILED"}, {}, "its failure holds nobody up"),
        ({}, {"journal": JOURNAL}, "Its config was put on cluster shop-a (revision 12 of the journal)."),
        ({"carried_over": {"from": "shop-a", "at": NOW.isoformat()}}, {}, "carried over from cluster shop-a"),
        ({"carried_over": {"from": "shop-a", "at": None}}, {}, "carried over from cluster shop-a"),
        ({"deployed_at": NOW.isoformat()}, {}, "Ray was given it for the last time."),
        ({}, {"unread": ("its journal (403 forbidden)",)}, "Not read: its journal (403 forbidden)."),
    ],
)
def test_of_one_that_runs_it_is_told(app, more, says):
    assert says in told(facts({**APP, **app}, **more))


@pytest.mark.parametrize(
    ("app", "journal", "says"),
    [
        ({}, JOURNAL, "it is brought here once everything that is declared is there"),
        ({"not_carried": "its route is taken"}, JOURNAL, "It was not brought here: its route is taken. It stays"),
        (
            {},
            Journal("j", deleted={"model": 7}, deletions={"model": Deletion("shop-b", 1)}),
            "deleted on cluster shop-b",
        ),
        ({}, Journal("j", deleted={"model": 7}), "It was deleted (revision 7 of the journal). It stays deleted."),
        ({}, Journal("j", clusters={"a": Cluster(None, ("model",))}), "serve.run had made it"),
        ({}, Journal("j"), "it does not come back by itself"),
        (
            {"owner": "dynamic", "origin": "imperative", "state": None, "not_carried": "x"},
            None,
            "serve.run had made it",
        ),
        ({"owner": "kuberay", "origin": "declarative", "state": None}, None, "KubeRay's next PUT names it"),
    ],
)
def test_of_one_that_does_not_run_it_is_told(app, journal, says):
    of = facts(app and {"name": "model", **app}, journal=journal)

    assert (story(of).state, says in told(of)) == ("does not run", True)


@pytest.mark.parametrize(
    ("of", "is_known"),
    [
        (facts(), True),
        (facts({}, journal=JOURNAL), True),
        (facts({}, journal=Journal("j", deleted={"model": 7})), True),
        (facts({}, journal=Journal("j", clusters={"a": Cluster(None, ("model",))})), True),
        (facts({}, events=(Told(NOW, "CarriedOver", "model"),)), True),
        (facts({}, journal=Journal("j")), False),
        (facts({}), False),
    ],
)
def test_somebody_knows_it_or_nobody(of, is_known):
    assert of.is_known == is_known


def event(message, minutes, component="holdfast", **more):
    at = (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"source": {"component": component}, "reason": "R", "message": message, "lastTimestamp": at, **more}


def test_only_events_of_holdfast_that_name_it_count_the_oldest_first():
    events = [
        event("shop-b: model, other", 1),
        event("shop-b: model-2", 2),
        event("shop-b: my-model", 3),
        event("put back application 'model'.", 4, count=3),
        event("model", 5, component="kuberay"),
        {**event("model", 6), "lastTimestamp": None},
        event("model.v2", 7),
    ]

    found = list(naming(events, "model"))

    assert [(each.message, each.times) for each in found] == [
        ("put back application 'model'.", 3),
        ("shop-b: model, other", 1),
    ]


def test_what_happened_is_told_in_order_and_what_has_no_time_first():
    events = (Told(NOW - timedelta(minutes=5), "CarriedOver", "shop-b: model", 2),)
    journal = Journal("j", entries={"model": ENTRY}, deleted={"model": 7})

    happened = story(facts(journal=journal, events=events)).happened

    assert [each.at and each.at.hour for each in happened] == [None, 10, 11]
    assert happened[-1] == Sentence("CarriedOver (2 times): shop-b: model", events[0].at)


def test_a_story_as_text():
    app = {**APP, "journal": "written", "carried_over": {"from": "shop-a", "at": "2026-12-01T11:57:00+00:00"}}
    of = facts(app, journal=Journal("j", 12, entries={"model": ENTRY}, deleted={"model": 7}))

    assert text(of, story(of), NOW) == (
        "model of RayService team/shop: RUNNING at /model\n"
        "Its config came by a PUT; the RayService does not declare it.\n"
        "\n"
        "time not known                    It was deleted (revision 7 of the journal).\n"
        "2026-12-01T10:00:00Z     2 h ago  Its config was put on cluster shop-a (revision 12 of the journal).\n"
        "2026-12-01T11:57:00Z   3 min ago  It was carried over from cluster shop-a.\n"
        "\n"
        "Every PUT of KubeRay keeps it. `holdfast apps delete` or serve.delete deletes it.\n"
        "The journal has it: a new head and a new cluster get it, too.\n"
    )
    bare = facts({}, journal=Journal("j"))
    assert text(bare, story(bare), NOW).startswith("model of RayService team/shop: does not run\n\nNobody has its")


@pytest.mark.parametrize(
    ("seconds", "words"), [(-5, "just now"), (0, "just now"), (59, "59 s ago"), (90000, "1 d ago")]
)
def test_times_are_told_in_the_largest_unit(seconds, words):
    assert ago(NOW - timedelta(seconds=seconds), NOW) == words


def test_who_mistypes_is_told_what_there_is():
    assert close_to("modle", ["model", "fruit"]) == ["model"]

import json

import msgspec

from serveconfig import carriable, changing
from serveconfig.journal import Role
from serveconfig.localcopy import LocalCopy
from serveconfig.running import Running
from tests.words import app, config, imperative, listing, shown

HERE = "shop-a"
KUBERAYS = frozenset(("static",))


def running(*entries, instance="one", controller=True):
    answer = json.loads(listing(*entries, controller=controller))
    if controller:
        answer["controller_info"]["actor_id"] = instance
    return Running.parse(json.dumps(answer).encode())


def observed(*entries, copy=None, declared=KUBERAYS, **how):
    return changing.observing(copy or LocalCopy(), running(*entries, **how), declared, HERE, 1000.0)


def configs(copy):
    return {name: json.loads(bytes(held.config)) for name, held in copy.held.items()}


def test_g5_what_ray_shows_and_kuberay_did_not_declare_is_held_and_to_be_sent():
    copy = observed(shown(app("static")), shown(app("model")), imperative("notebook"))

    assert {"model": app("model")} == configs(copy)
    assert copy.held["model"].is_here
    assert copy.unsent == {"model": 0}


def test_g5_the_same_list_again_changes_nothing():
    copy = observed(shown(app("model")))

    assert copy == observed(shown(app("model")), copy=copy)


def test_g5_another_config_is_a_change_on_top_of_the_last_revision():
    copy = observed(shown(app("model")))
    sent = msgspec.structs.replace(copy.held["model"], revision=7)
    copy = observed(shown(app("model", args={"n": 2})), copy=LocalCopy(held={"model": sent}, instance="one"))

    assert {"model": app("model", args={"n": 2})} == configs(copy)
    assert copy.unsent == {"model": 7}


def test_g5_what_ray_made_of_a_config_that_was_sent_is_no_change():
    copy = changing.putting(observed(), config(app("model", num=5)).applications, HERE)
    assert copy.unsent == {"model": 0}
    copy = LocalCopy(held=copy.held, seen=copy.seen, instance="one")

    copy = observed(shown(app("model", num=5.0)), copy=copy)

    assert {"model": app("model", num=5)} == configs(copy)
    assert copy.unsent == {}
    assert observed(shown(app("model", num=5.0)), copy=copy) == copy
    assert observed(shown(app("model", num=6.0)), copy=copy).unsent == {"model": 0}


def test_g5_what_cannot_be_carried_is_not_held_and_stands_in_nobodys_way(monkeypatch):
    monkeypatch.setattr(carriable, "LARGEST_CONFIG_BYTES", 200)
    large = app("large", args={"text": "x" * 200})

    copy = observed(shown(large), shown(app("naïve")), shown(app("model")))
    copy = changing.putting(copy, config(large, app("other")).applications, HERE)

    assert copy.held.keys() == copy.unsent.keys() == {"model", "other"}


def test_g5_what_has_grown_too_large_to_be_carried_leaves_the_journal(monkeypatch):
    monkeypatch.setattr(carriable, "LARGEST_CONFIG_BYTES", 200)
    large = app("model", args={"text": "x" * 200})
    copy = observed(shown(app("model")))
    copy = LocalCopy(held=copy.held, seen=copy.seen, instance="one")

    for grown in (observed(shown(large), copy=copy), changing.putting(copy, config(large).applications, HERE)):
        assert (grown.held, grown.unsent) == ({}, {"model": 0})


def test_g5_the_same_config_put_again_is_not_sent_again():
    copy = observed(shown(app("model")))
    copy = LocalCopy(held=copy.held, instance="one")

    assert changing.putting(copy, config(app("model")).applications, HERE).unsent == {}


def test_before_kuberays_first_put_only_what_is_held_already_is_looked_at():
    copy = observed(shown(app("model")))

    copy = observed(shown(app("model", n=1)), shown(app("maybe-static")), copy=copy, declared=None)

    assert {"model": app("model", n=1)} == configs(copy)


def test_g3_what_is_seen_deleting_is_deleted():
    copy = observed(shown(app("model")))

    copy = observed(shown(app("model"), status="DELETING"), copy=copy)

    assert copy.held == {}
    assert copy.unsent == {"model": 0}


def test_g3_what_its_owner_deletes_over_rest_is_deleted_and_what_is_not_held_is_none_of_ours():
    copy = changing.deleting(observed(shown(app("model"))), ["model", "other"])

    assert copy.held == {}
    assert copy.unsent == {"model": 0}


def test_g5_a_deletion_on_another_serve_instance_than_it_ran_on_is_none():
    copy = observed(shown(app("model")))

    copy = observed(shown(app("model"), status="DELETING"), copy=copy, instance="two")

    assert {"model": app("model")} == configs(copy)


def test_g5_a_head_that_went_blank_has_deleted_nothing_and_everything_is_to_be_brought():
    copy = observed(shown(app("model")), shown(app("static")))

    blank = observed(shown(app("static")), copy=copy, instance="two")

    assert {"model": app("model")} == configs(blank)
    assert changing.missing(blank, running(instance="two")) == frozenset()
    assert blank.to_bring(running(shown(app("static")), instance="two"), KUBERAYS) == ("model",)


def test_g4_a_list_without_a_controller_shows_nothing():
    copy = observed(shown(app("model")))

    assert copy == observed(copy=copy, controller=False)
    assert changing.missing(copy, running(controller=False)) == frozenset()


def test_g3_what_ran_here_and_is_not_shown_is_missing():
    copy = observed(shown(app("model")), shown(app("other")))

    assert changing.missing(copy, running(shown(app("other")))) == {"model"}


def test_a_name_that_kuberay_declares_from_now_on_leaves_the_journal_where_the_traffic_is():
    copy = observed(shown(app("model")))
    theirs = frozenset(("model",))

    assert observed(shown(app("model")), copy=copy, declared=theirs).held.keys() == {"model"}
    serving = LocalCopy(held=copy.held, instance="one", role=Role.ACTIVE)
    assert observed(shown(app("model")), copy=serving, declared=theirs).held == {}


def test_what_serve_run_has_made_counts_once_everything_else_is_here():
    copy = observed(imperative("notebook"), copy=LocalCopy(runs_imperative=("before",), instance="one"))
    assert copy.runs_imperative == ("before",)

    copy = observed(imperative("notebook"), copy=LocalCopy(instance="one", is_replayed=True))
    assert copy.runs_imperative == ("notebook",)


def test_g6_a_carried_application_settles_when_it_runs_or_has_failed():
    copy = observed(shown(app("a")), shown(app("b")), shown(app("c"))).brought(["a", "b", "c"], 5.0)

    states = {"a": "RUNNING", "b": "DEPLOY_FAILED", "c": "DEPLOYING"}
    copy = observed(*(shown(app(name), status=status) for name, status in states.items()), copy=copy)

    assert {name: each.is_settled for name, each in copy.carried.items()} == {"a": True, "b": True, "c": False}
    again = observed(*(shown(app(name), status="DEPLOYING") for name in states), copy=copy)
    assert again.carried["a"].is_settled
    assert again.arriving(frozenset()) == {"c"}


def test_what_kuberay_declares_is_known_in_order_and_since_when():
    assert changing.declaring(LocalCopy(), ["b", "a"]).declared == ("a", "b")
    assert observed().known_since == 1000.0
    assert observed(declared=None).known_since == 0.0


def test_a_list_for_kuberay_does_not_show_what_serve_run_has_made():
    copy = LocalCopy(runs_imperative=("notebook",), instance="one", is_replayed=True)

    seen = changing.observing(copy, running(), KUBERAYS, HERE, 1000.0, is_whole=False)

    assert seen.runs_imperative == ("notebook",)

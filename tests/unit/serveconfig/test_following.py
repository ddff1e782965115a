import json
from dataclasses import replace

import msgspec
import pytest

from serveconfig import changing, following
from serveconfig.journal import Entry, Page, Policy, Role, Taken
from serveconfig.localcopy import LocalCopy
from tests.unit.serveconfig.test_changing import HERE, KUBERAYS, configs, observed, running
from tests.words import app, config, imperative, shown

THERE = "shop-b"


def entry(stored, revision=1, by=THERE):
    return Entry(msgspec.Raw(json.dumps(stored).encode()), revision, by)


def page(*entries, deleted=(), revision=9, journal="j", is_whole=False, role=Role.PENDING, **more):
    apps = {json.loads(bytes(each.config))["name"]: each for each in entries}
    known = {"declared": None, "imperative": (), "policy": Policy(), **more}
    return Page(journal, revision, is_whole, apps, dict.fromkeys(deleted, revision), role=role, **known)


def read(copy, *entries, follows=True, **how):
    return following.reading(copy, page(*entries, **how), HERE, follows=follows)


BLANK = observed(shown(app("static")))


def test_g5_what_a_new_cluster_reads_is_to_be_brought():
    copy = read(BLANK, entry(app("model")), is_whole=True)

    assert copy.to_bring(running(shown(app("static"))), KUBERAYS) == ("model",)
    assert copy.arriving(KUBERAYS) == {"model"}
    assert json.loads(copy.held["model"].application().raw) == app("model")
    assert copy.unsent == {}
    assert (copy.journal, copy.revision, copy.role) == ("j", 9, Role.PENDING)


def test_g5_what_runs_already_is_not_brought_again():
    copy = observed(shown(app("model")))

    copy = read(replace(copy, unsent={}), entry(app("model"), revision=3))

    assert copy.to_bring(running(), KUBERAYS) == ()
    assert copy.held["model"].revision == 3


def test_g5_what_was_changed_here_is_not_overwritten_by_what_is_read():
    copy = read(observed(shown(app("model", n=2))), entry(app("model", n=1)))

    assert {"model": app("model", n=2)} == configs(copy)
    assert copy.unsent == {"model": 0}


def test_g5_a_change_on_the_old_cluster_replaces_what_was_brought():
    copy = read(BLANK, entry(app("model", n=1))).brought(["model"], 1.0)
    copy = observed(shown(app("model", n=1.0)), copy=copy)

    copy = read(copy, entry(app("model", n=2), revision=10))

    assert copy.to_bring(running(shown(app("model", n=1.0))), KUBERAYS) == ("model",)
    assert configs(observed(shown(app("model", n=1.0)), copy=copy)) == {"model": app("model", n=2)}
    copy = copy.brought(["model"], 2.0)
    assert copy.held["model"].is_here
    assert not copy.is_behind(KUBERAYS) or not copy.is_replayed


def test_g5_a_cluster_that_serves_is_not_changed_by_another():
    copy = replace(observed(shown(app("model", n=1))), unsent={}, is_replayed=True, journal="j")

    copy = read(copy, entry(app("model", n=2)), entry(app("new")), follows=False, role=Role.ACTIVE)

    assert {"model": app("model", n=1)} == configs(copy)
    assert copy.to_bring(running(shown(app("model", n=1))), KUBERAYS) == ()


def test_g3_a_deletion_on_the_old_cluster_is_one_on_the_new():
    copy = observed(shown(app("model")), copy=read(BLANK, entry(app("model"))).brought(["model"], 1.0))

    copy = read(replace(copy, unsent={}), deleted=["model"])

    assert copy.held == {}
    assert copy.dropped == {"model"}
    assert copy.is_behind(KUBERAYS)


def test_g5_a_deletion_on_the_new_cluster_leaves_the_one_that_serves_alone():
    copy = replace(observed(shown(app("model"))), unsent={}, is_replayed=True)

    copy = read(copy, deleted=["model"], follows=False)

    assert copy.held.keys() == {"model"}
    assert copy.dropped == frozenset()


def test_g3_what_a_whole_page_lacks_was_deleted_meanwhile():
    copy = read(BLANK, entry(app("model")), entry(app("other")))

    copy = read(copy, entry(app("other")), is_whole=True)

    assert copy.held.keys() == {"other"}
    assert copy.dropped == frozenset()


@pytest.mark.parametrize(("role", "told"), [(Role.ACTIVE, {"mine", "theirs"}), (Role.PENDING, {"mine"})])
def test_g5_a_journal_that_was_lost_is_told_again_by_whoever_runs_the_applications(role, told):
    copy = replace(observed(shown(app("mine"))), unsent={}, journal="lost", role=role)
    copy = following.reading(copy, page(entry(app("theirs")), journal="lost", role=role), HERE, follows=True)
    copy = copy.brought(["theirs"], 1.0)

    copy = read(copy, journal="new", is_whole=True)

    assert told == copy.unsent.keys()
    assert copy.held.keys() == {"mine", "theirs"}


def test_what_was_refused_is_tried_again_once_it_has_changed():
    copy = read(BLANK, entry(app("model", n=1))).refusing("model", "no")
    assert copy.to_bring(running(), KUBERAYS) == ()
    assert read(copy, entry(app("model", n=1))).refused == {"model": "no"}

    assert read(copy, entry(app("model", n=2))).to_bring(running(), KUBERAYS) == ("model",)


def test_what_the_journal_took_is_sent_no_more_and_what_changed_meanwhile_is():
    copy = observed(shown(app("a")), shown(app("b")), shown(app("c")))
    sent = copy.changes(10)
    later = changing.deleting(changing.putting(copy, config(app("b", n=2)).applications, HERE), ["c"])

    copy = following.taken(later, sent, Taken("j", 3, {"a": 1, "b": 2, "c": 3}))

    assert copy.unsent.keys() == {"b", "c"}
    assert (copy.held["a"].revision, copy.held["b"].revision) == (1, 2)
    assert copy.journal == "j"
    deletion = following.taken(copy, copy.changes(10), Taken("j", 5, {"b": 4}))
    assert deletion.unsent == {}


def test_g3_what_has_outlived_its_deletion_is_read_again():
    copy = replace(changing.deleting(observed(shown(app("a"))), ["a"]), revision=8)

    copy = following.taken(copy, copy.changes(10), Taken("j", 9, {}, outlived=("a",)))

    assert (copy.revision, copy.unsent) == (0, {})


def test_g5_a_journal_that_was_lost_before_a_write_is_told_again_of_everything():
    """The write reaches the new journal first: it must not pass for one that is known."""
    copy = replace(observed(shown(app("old")), shown(app("new"))), unsent={"new": 0}, journal="lost", revision=8)

    copy = following.taken(copy, copy.changes(10), Taken("found", 1, {"new": 1}))
    read_again = copy.revision
    copy = following.reading(copy, page(entry(app("new")), journal="found", is_whole=True), HERE, follows=False)

    assert read_again == 0
    assert copy.unsent.keys() == {"old", "new"}
    assert copy.journal == "found"


def test_at_most_so_many_changes_are_sent_at_once_and_deletions_say_what_was_seen():
    copy = observed(shown(app("a")), shown(app("b")))
    copy = following.taken(copy, copy.changes(10), Taken("j", 3, {"a": 2, "b": 3}))
    copy = changing.deleting(copy, ["a", "b"])

    assert [(each.name, each.is_deletion, each.base) for each in copy.changes(1).values()] == [("a", True, 2)]


def test_what_serve_run_holds_the_name_of_is_blocked_and_what_is_being_deleted_only_waits():
    copy = read(BLANK, entry(app("a")), entry(app("b")), is_whole=True)
    runs = running(imperative("a"), shown(app("b"), status="DELETING"))

    assert copy.blocked(runs, KUBERAYS) == ("a",)
    assert copy.to_bring(runs, KUBERAYS) == ()


def test_the_copy_survives_being_printed():
    copy = read(observed(shown(app("model", f=1.0))), entry(app("other")), imperative=("n",)).refusing("x", "why")

    assert copy == msgspec.json.decode(msgspec.json.encode(copy), type=LocalCopy)
    assert b"1.0" in bytes(msgspec.json.decode(msgspec.json.encode(copy), type=LocalCopy).held["model"].config)

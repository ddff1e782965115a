import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from serveconfig.journal import DELETED, Change, Changes, Policy, Role
from webhook.journal import document
from webhook.journal.document import Journal

OLD, NEW = "shop-a", "shop-b"


def put(name, base=0, **config):
    return Change(name, msgspec.Raw(json.dumps({"name": name, **config}).encode()), base)


def delete(name, base=0):
    return Change(name, DELETED, base)


def taking(journal, *changes, by=OLD, **more):
    return journal.taking(Changes(changes=changes, **more), by)


def page(journal, since=0, known=None, by=OLD):
    return journal.page(journal.id if known is None else known, since, by, Policy(), Role.ACTIVE)


def test_g5_every_change_gets_the_next_revision_and_says_who_made_it():
    journal, taken = taking(Journal.new(), put("a"), put("b"))
    journal, _ = taking(journal, put("a", n=2), by=NEW)

    assert (taken.revision, taken.revisions) == (2, {"a": 1, "b": 2})
    assert {name: (each.revision, each.by) for name, each in journal.entries.items()} == {"a": (3, NEW), "b": (2, OLD)}


def test_g5_the_same_again_is_taken_without_a_new_revision():
    once, first = taking(Journal.new(), put("a"), delete("gone"))

    again, second = taking(once, put("a"), delete("gone"))

    assert again == once
    assert second == first


def test_g3_a_deletion_counts_for_what_its_sender_had_seen():
    journal, _ = taking(Journal.new(), put("a"), put("b"))
    journal, _ = taking(journal, put("a", n=2), by=NEW)

    journal, taken = taking(journal, delete("a", base=1), delete("b", base=2))

    assert taken.outlived == ("a",)
    assert journal.entries.keys() == {"a"}
    journal, taken = taking(journal, delete("a", base=3))
    assert (journal.entries, taken.outlived) == ({}, ())


def test_g3_a_sender_may_delete_what_it_has_put_itself_however_often():
    journal, _ = taking(Journal.new(), put("a"), put("a", n=2))

    assert taking(journal, delete("a"))[0].entries == {}


def test_g5_a_page_since_a_revision_has_what_has_changed_since():
    journal, _ = taking(Journal.new(), put("a"), put("b"), put("c"))
    journal, _ = taking(journal, delete("a", base=1), put("b", n=2))

    since = page(journal, since=3)

    assert (since.is_whole, set(since.applications), since.deleted) == (False, {"b"}, {"a": 4})
    assert page(journal, since=5).applications == {}


@pytest.mark.parametrize(("since", "known"), [(0, None), (3, "another"), (99, None), (-1, None)])
def test_g5_who_knows_another_journal_or_none_gets_a_whole_page(since, known):
    journal, _ = taking(Journal.new(), put("a"), put("b"), put("c"))

    whole = page(journal, since, known)

    assert (whole.is_whole, set(whole.applications)) == (True, {"a", "b", "c"})


def test_g3_who_asks_from_before_a_forgotten_deletion_gets_a_whole_page(monkeypatch):
    monkeypatch.setattr(document, "MOST_DELETIONS", 2)
    journal, _ = taking(Journal.new(), *(put(name) for name in "abcd"))
    journal, _ = taking(journal, *(delete(name, base=9) for name in "abc"))

    assert page(journal, since=4).is_whole
    assert page(journal, since=5).deleted == {"b": 6, "c": 7}


def test_what_a_cluster_says_of_itself_is_its_own_and_what_serve_run_made_is_everybodys():
    journal, _ = taking(Journal.new(), declared=("s",), imperative=("m",))
    journal, _ = taking(journal, by=NEW, imperative=("n",))
    journal, _ = taking(journal)

    assert (page(journal).declared, page(journal, by=NEW).declared) == (("s",), None)
    assert page(journal).imperative == ("m", "n")


def test_who_put_and_who_deleted_an_application_and_when_is_written_down(monkeypatch):
    monkeypatch.setattr(document, "MOST_DATED", 2)
    journal, _ = Journal.new().taking(Changes(changes=(put("a"), put("b"), put("c"), put("d"))), OLD, 100)
    journal, _ = journal.taking(Changes(changes=(delete("a"), delete("b"))), OLD, 200)
    journal, _ = journal.taking(Changes(changes=(delete("c"),)), OLD, 300)
    journal, _ = journal.taking(Changes(changes=(put("b"),)), NEW, 400)

    assert {name: (each.by, each.at) for name, each in journal.entries.items()} == {"d": (OLD, 100), "b": (NEW, 400)}
    assert {name: (each.by, each.at) for name, each in journal.deletions.items()} == {"c": (OLD, 300)}
    assert set(journal.deleted) == {"a", "c"}


def test_of_clusters_the_ones_written_last_are_remembered(monkeypatch):
    monkeypatch.setattr(document, "MOST_CLUSTERS", 2)
    journal = Journal.new()
    for cluster in ("a", "b", "a", "c"):
        journal, _ = taking(journal, by=cluster, declared=(cluster, str(journal.clusters.keys())))

    assert list(journal.clusters) == ["a", "c"]


changes = st.lists(
    st.builds(
        lambda name, n, base: put(name, base, n=n) if n else delete(name, base),
        st.sampled_from("abc"),
        st.integers(0, 2),
        st.integers(0, 6),
    ),
    max_size=4,
)


@given(st.lists(st.tuples(changes, st.sampled_from((OLD, NEW))), max_size=6), st.integers(0, 12))
def test_g5_whatever_was_sent_a_page_since_then_on_top_of_then_is_the_whole_of_now(batches, since):
    journal = Journal.new()
    then = {}
    for batch, by in batches:
        journal, _ = taking(journal, *batch, by=by)
        if journal.revision <= since:
            then = dict(journal.entries)
            seen = journal.revision
    if not batches or not then:
        return
    later = page(journal, since=seen)

    built = {} if later.is_whole else {name: each for name, each in then.items() if name not in later.deleted}
    assert {**built, **later.applications} == journal.entries

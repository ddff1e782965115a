"""The pages are written by machine: what they leave out or mix up, nobody will notice."""

from tests.cluster.pages import baseline, compatibility
from tests.cluster.records import Record, read


def record(kuberay, ray, **more):
    return Record("a. it holds", "Somebody does something.", kuberay, ray, holdfast=False, **more)


def test_pairs_are_columns_in_the_order_of_their_numbers():
    page = baseline([record("1.10.0", "2.60.0", holds=True), record("1.9.0", "2.9.3", holds=False)])

    assert "| story | 1.9.0 x 2.9.3 | 1.10.0 x 2.60.0 |" in page
    assert "| a. it holds | no | yes |" in page


def test_a_story_not_told_with_a_pair_leaves_a_dash_and_one_that_broke_off_says_so():
    other = Record("b. it stands", "Nobody does.", "1.2.2", "2.9.3", holdfast=False)
    page = baseline([record("1.6.2", "2.60.0", holds=True), other])

    assert "| a. it holds | - | yes |" in page
    assert "| b. it stands | broke off | - |" in page


def test_everything_a_story_noted_is_a_row():
    saw = {
        "fates": {"by-rest": "lost", "by-cr": "kept"},
        "seconds_to_switch": 28.6,
        "declared": [],
        "ready": None,
        "ports": [8265, 28265],
        "capacities": [None, 50.0],
        "said": "one\nor | two\n",
    }
    page = baseline([record("1.6.2", "2.60.0", holds=False, saw=saw)])

    assert "| fates | by-cr: kept<br>by-rest: lost |" in page
    assert "| seconds to switch | 29 |" in page
    assert "| declared | none |" in page
    assert "| ready | never |" in page
    assert "| ports | 8265, 28265 |" in page
    assert "| capacities | none, 50 |" in page
    assert r"| said | one<br>or \| two |" in page


def test_what_only_one_pair_noted_is_a_dash_with_the_others():
    page = baseline([record("1.0.0", "2.9.3", saw={"kuberay_says": "no"}), record("1.6.2", "2.60.0")])

    assert "| kuberay says | no | - |" in page


def test_what_comes_out_otherwise_without_holdfast_stands_beside_it():
    ours = [record("1.0.0", "2.9.3", holds=True), record("1.6.2", "2.60.0", holds=True)]
    page = compatibility(ours, [record("1.0.0", "2.9.3", holds=False), record("1.6.2", "2.60.0", holds=True)])

    assert "| a. it holds | yes (no) | yes |" in page


def test_a_story_that_only_holdfast_tells_has_nothing_beside_it():
    page = compatibility([record("1.6.2", "2.60.0", holds=True)], [])

    assert "| a. it holds | yes |" in page


def test_the_last_record_of_a_story_and_pair_counts(tmp_path):
    file = tmp_path / "records.jsonl"
    for holds in (False, True):
        record("1.6.2", "2.60.0", holds=holds).keep(file)

    assert [each.holds for each in read(file)] == [True]

import pytest

from cli.demo.kuberay import Operator
from cli.demo.observe import Seen, Tally
from cli.demo.scene import Row, operator_line, outcome, rows
from cli.demo.story import SEARCH, SHOP, TRANSLATE

CAST = (SHOP, SEARCH, TRANSLATE)
SHOP_SEEN = Seen("RUNNING", frozenset({"a"}), (11, 12))
READY = Operator(shown={"shop": "RUNNING"})


def test_a_row_says_who_how_what_ray_says_and_what_kuberay_sees():
    table = rows(CAST, {"shop": SHOP_SEEN}, {"shop": "DEPLOYING"}, Tally(), frozenset())

    assert (Row("shop", "platform", "RayService", "RUNNING", "DEPLOYING", "11 12", ""),) == table


def fate_and_status(tally, *, sighting=None, retired=()):
    (row,) = rows((TRANSLATE,), sighting or {}, {}, tally, frozenset(retired))
    return row.fate, row.ray


@pytest.mark.parametrize(
    ("tally", "there", "retired", "expected"),
    [
        pytest.param(Tally(in_hand=frozenset({"translate"})), False, False, ("", "-"), id="not yet there"),
        pytest.param(Tally(lost=("translate",)), False, False, ("lost", "gone"), id="lost"),
        pytest.param(Tally(lost=("translate",) * 2), False, False, ("lost 2 times", "gone"), id="lost again"),
        pytest.param(Tally(lost=("translate",)), True, False, ("lost", "RUNNING"), id="lost and deployed again"),
        pytest.param(Tally(restarted=("translate",)), True, False, ("restarted", "RUNNING"), id="restarted"),
        pytest.param(Tally(), False, True, ("retired", "gone"), id="retired and gone"),
        pytest.param(Tally(), True, True, ("NOT RETIRED", "RUNNING"), id="retired and still there"),
        pytest.param(
            Tally(in_hand=frozenset({"translate"})), True, True, ("retired", "RUNNING"), id="retired this moment"
        ),
    ],
)
def test_what_became_of_an_application(tally, there, retired, expected):
    sighting = {"translate": Seen("RUNNING")} if there else {}

    assert expected == fate_and_status(tally, sighting=sighting, retired=("translate",) if retired else ())


def test_what_was_never_seen_and_nobody_deploys_has_no_row():
    assert rows(CAST, {}, {}, Tally(), frozenset()) == ()


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (Operator(), "0 PUTs sent; the RayService is NOT ready"),
        (Operator(shown={"a": "RUNNING"}, puts=1), "1 PUT sent; the RayService is ready"),
        (Operator(puts=2, trouble="timed out"), "2 PUTs sent; timed out"),
    ],
)
def test_what_the_operator_does_in_one_line(operator, expected):
    assert expected == operator_line(operator)


@pytest.mark.parametrize(
    ("after", "operator", "unretired", "expected"),
    [
        pytest.param(Tally(), READY, (), "nothing lost, nothing restarted", id="all well"),
        pytest.param(Tally(lost=("a", "b", "a")), READY, (), "lost: a, b", id="lost"),
        pytest.param(Tally(restarted=("a",)), READY, (), "restarted: a", id="restarted"),
        pytest.param(Tally(), READY, ("search",), "not retired: search", id="not retired"),
        pytest.param(Tally(), Operator(), (), "the RayService is stuck", id="not ready"),
        pytest.param(
            Tally(),
            Operator(shown=READY.shown, trouble="timed out"),
            (),
            "nothing lost, nothing restarted",
            id="passing",
        ),
        pytest.param(
            Tally(lost=("a",)),
            Operator(trouble="its PUT was answered 409: no", refused=True),
            (),
            "lost: a; KubeRay is in trouble: its PUT was answered 409: no",
            id="trouble",
        ),
    ],
)
def test_what_a_chapter_came_to(after, operator, unretired, expected):
    assert expected == outcome(Tally(), after, {"shop": SHOP_SEEN}, operator, unretired=unretired)


def test_a_chapter_answers_only_for_its_own_losses_but_does_not_hide_the_earlier_ones():
    before = Tally(lost=("a", "b"))

    assert outcome(before, before, {}, READY) == "nothing more lost; still gone: a, b"
    assert outcome(before, before, {"a": SHOP_SEEN, "b": SHOP_SEEN}, READY) == "nothing lost, nothing restarted"

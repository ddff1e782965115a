import json

import pytest

from cli.demo.kuberay import Operator
from cli.demo.report import ChapterRecord, Record, as_json, closing_line, exit_code
from cli.demo.scene import Row


def record(lost=(), restarted=(), unretired=(), refused=(), *, stuck=False, holdfast=True):
    chapter = ChapterRecord(
        "The operator restarts", "as it was", (Row("shop", "p", "REST", "RUNNING", "-", "1", ""),), Operator(puts=2)
    )
    return Record(holdfast, (chapter,), lost, restarted, unretired, refused, stuck)


STOCK = record(("translate", "forecast", "translate", "forecast"), stuck=True, holdfast=False)


@pytest.mark.parametrize(
    ("without", "with_holdfast", "expected"),
    [
        pytest.param(
            STOCK,
            record(),
            "without Holdfast: 2 of 3 dynamic applications lost, 1 RayService stuck; "
            "with Holdfast: 0 lost, 0 restarted",
            id="as it should be",
        ),
        pytest.param(
            record(holdfast=False),
            record(("notebook",), ("translate", "translate"), ("search",), stuck=True),
            "without Holdfast: 0 of 3 dynamic applications lost; "
            "with Holdfast: 1 lost, 1 restarted, 1 RayService stuck, 1 not retired",
            id="nothing is taken for granted",
        ),
        pytest.param(
            record(("shop", "notebook"), ("forecast",), holdfast=False),
            record(("shop",), refused=("forecast (409)",)),
            "without Holdfast: 1 of 3 dynamic applications lost, 1 restarted; "
            "with Holdfast: 1 lost, 0 restarted, 1 refused",
            id="a static application can be lost too",
        ),
    ],
)
def test_the_closing_line_says_what_was_observed(without, with_holdfast, expected):
    assert expected == closing_line(without, with_holdfast)


@pytest.mark.parametrize(
    ("with_holdfast", "expected"),
    [
        (record(), 0),
        (record(lost=("notebook",)), 1),
        (record(restarted=("notebook",)), 1),
        (record(unretired=("search",)), 1),
        (record(refused=("forecast (409)",)), 1),
        (record(stuck=True), 1),
    ],
)
def test_the_exit_code_is_holdfasts(with_holdfast, expected):
    assert expected == exit_code(with_holdfast)


def test_the_observations_are_json():
    written = json.loads(json.dumps(as_json("2.60.0", (STOCK, record()), "the end")))

    assert (written["ray"], written["summary"]) == ("2.60.0", "the end")
    assert [telling["holdfast"] for telling in written["tellings"]] == [False, True]
    assert (written["tellings"][0]["chapters"][0]["operator"]) == {
        "shown": {},
        "ready": False,
        "puts": 2,
        "trouble": "",
    }

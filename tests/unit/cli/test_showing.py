import json
import re

import yaml

from cli.apps.showing import merged, shown
from cli.apps.waiting import Progress

RUNNING = {
    "name": "a",
    "origin": "declarative",
    "owner": "dynamic",
    "state": "RUNNING",
    "message": "",
    "route_prefix": "/a",
    "etag": '"e1"',
}
FAILED = {**RUNNING, "name": "b", "state": "DEPLOY_FAILED", "message": "no such\nmodule " + "x" * 90, "etag": None}


def test_a_table_has_a_dash_where_there_is_nothing():
    assert (
        shown([{**RUNNING, "route_prefix": None}], "table").splitlines()[1]
        == "a      declarative   dynamic   RUNNING   -"
    )


def test_wide_has_the_journals_columns_where_the_sidecar_tells_of_them():
    told = [
        {**RUNNING, "journal": "written", "carried_over": {"from": "shop-old", "at": "at-noon"}},
        {"name": "c", "journal": "none", "not_carried": "made by serve.run"},
        {**FAILED, "carried_over": "then"},
    ]

    rows = [re.split(" {3,}", line) for line in shown(told, "wide").splitlines()]

    assert rows == [
        ["NAME", "ORIGIN", "OWNER", "STATE", "ROUTE", "JOURNAL", "CARRIED OVER", "NOT CARRIED", "ETAG", "MESSAGE"],
        [
            "a",
            "declarative",
            "dynamic",
            "RUNNING",
            "/a",
            "written",
            "shop-old at-noon",
            "-",
            "e1",
            "-",
        ],
        ["c", "-", "-", "-", "-", "none", "-", "made by serve.run", "-", "-"],
        ["b", "declarative", "dynamic", "DEPLOY_FAILED", "/a", "-", "then", "-", "-", f"no such module {'x' * 62}..."],
    ]


def test_wide_is_without_them_where_an_older_sidecar_does_not():
    assert shown([RUNNING], "wide").splitlines()[0].split() == [
        "NAME",
        "ORIGIN",
        "OWNER",
        "STATE",
        "ROUTE",
        "ETAG",
        "MESSAGE",
    ]


def test_what_the_status_page_tells_is_put_beside_each_application():
    status = {
        "dynamic": [{"name": "a", "journal": "queued", "state": "DEPLOYING"}],
        "applications": {"other": {"journal": "none"}},
        "not_carried_over": [{"name": "gone", "why": "why"}],
    }

    together = merged([FAILED, RUNNING], status)

    assert [each["name"] for each in together] == ["a", "b", "gone"]
    assert (together[0]["journal"], together[0]["state"]) == ("queued", "RUNNING")
    assert together[2] == {"name": "gone", "not_carried": "why"}


def test_members_that_this_version_does_not_know_are_shown_to_programs():
    new = [{**RUNNING, "later": {"x": 1.0}}]

    assert json.loads(shown(new, "json"))["applications"] == new
    assert yaml.safe_load(shown(new, "yaml"))["applications"] == new


def test_a_state_has_its_colour_on_a_terminal_and_the_columns_stay():
    plain, coloured = (shown([RUNNING, FAILED], "table", colours=colours) for colours in (False, True))

    assert "\x1b[32mRUNNING\x1b[0m" in coloured
    assert "\x1b[31mDEPLOY_FAILED\x1b[0m" in coloured
    assert coloured.replace("\x1b[32m", "").replace("\x1b[31m", "").replace("\x1b[0m", "") == plain


class Lines:
    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def writelines(self, lines):
        self.text += "".join(lines)

    def flush(self):
        pass


def test_progress_on_a_terminal_is_one_line_that_is_written_over():
    out = Lines()
    progress = Progress(out, is_terminal=True, colours=False)

    progress.tell({"a": "DEPLOYING"})
    progress.tell({"a": "DEPLOYING"})
    progress.tell({"a": "RUNNING"})
    progress.end()

    assert out.text == "\r\x1b[Ka DEPLOYING\r\x1b[Ka RUNNING\n"


def test_progress_elsewhere_is_a_line_a_change():
    out = Lines()
    progress = Progress(out, is_terminal=False, colours=False)

    progress.tell({"a": "DEPLOYING", "b": "RUNNING"})
    progress.tell({"a": "RUNNING", "b": "RUNNING"})
    progress.end()

    assert out.text == "a DEPLOYING\nb RUNNING\na RUNNING\n"

"""The dashboard is what its questions make of it, and something that Grafana can show.

Grafana itself is not asked. What its panels ask, a real Prometheus answers in tests/monitoring.
"""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from manifests.monitoring import dashboard, grafana

ROOT = Path(__file__).parents[3]
MONITORING = ROOT / "manifests" / "monitoring"
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
PANELS = DASHBOARD["panels"]
TARGETS = [(panel, target) for panel in PANELS for target in panel.get("targets", ())]

UNITS = {"s", "short", "reqps", "cps"}
"""Of Grafana's units those that are in use: seconds, a number, requests and counts a second."""

LOOKED_AT_BY_NOBODY: dict[str, str] = {}
"""A metric that neither the dashboard nor an alert asks for, and why it is there all the same."""


def names(text):
    """The metrics that an expression asks for; a histogram is one."""
    return {re.sub("_bucket$", "", name) for name in re.findall(r"\bholdfast_[a-z_]+", text)}


def asked():
    rules = yaml.safe_load((MONITORING / "rules.yaml").read_text())["groups"][0]["rules"]
    return names(" ".join([*(target["expr"] for _, target in TARGETS), *(rule["expr"] for rule in rules)]))


def documented():
    return set(re.findall(r"^\| `(holdfast_[a-z_]+)`", (ROOT / "docs" / "metrics.md").read_text(), re.MULTILINE))


def test_the_file_is_what_the_questions_make_of_it():
    assert dashboard.FILE.read_text() == dashboard.printed(), "run: make dashboard"


def test_it_asks_for_every_metric_that_there_is_and_for_no_other():
    assert asked() | LOOKED_AT_BY_NOBODY.keys() == documented()
    assert not asked() & LOOKED_AT_BY_NOBODY.keys()


def test_every_row_is_a_question():
    rows = [panel["title"] for panel in PANELS if panel["type"] == "row"]

    assert rows == list(dashboard.ROWS)
    assert all(title.endswith("?") for title in rows)


def test_no_two_panels_are_one_or_lie_on_each_other():
    def covers(grid):
        return {(grid["x"] + x, grid["y"] + y) for x in range(grid["w"]) for y in range(grid["h"])}

    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    assert len({panel["title"] for panel in PANELS}) == len(PANELS)
    for one, other in combinations(PANELS, 2):
        assert not covers(one["gridPos"]) & covers(other["gridPos"]), (one["title"], other["title"])
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in PANELS)


@pytest.mark.parametrize(
    "panel", [panel for panel in PANELS if panel["type"] != "row"], ids=lambda panel: panel["title"]
)
def test_a_panel_has_a_unit_and_queries_that_can_be_told_apart(panel):
    letters = [target["refId"] for target in panel["targets"]]

    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    assert letters
    assert len(set(letters)) == len(letters)
    assert panel["type"] in {"stat", "timeseries"}


def test_everything_is_asked_of_the_prometheus_that_was_chosen():
    variables = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
    asking = [*(panel for panel, _ in TARGETS), *(target for _, target in TARGETS)]
    asking += [variable for variable in variables.values() if variable["type"] == "query"]

    assert list(variables) == ["datasource", "namespace", "rayservice"]
    assert variables["datasource"]["type"] == "datasource"
    assert {each["datasource"]["uid"] for each in asking} == {"${datasource}"}


def test_a_question_about_sidecars_is_about_those_that_were_chosen():
    sidecars = (ROOT / "docs" / "metrics.md").read_text().partition("## The webhook")[0]

    for _, target in TARGETS:
        if target["expr"].startswith("count by (version)"):
            continue  # both parts have one
        is_of_heads = any(f"`{name}`" in sidecars for name in names(target["expr"]))
        assert is_of_heads == (grafana.HEADS in target["expr"]), target["expr"]


def test_grafana_reads_the_version_and_its_sidecar_finds_the_configmap():
    (generated,) = yaml.safe_load((MONITORING / "kustomization.yaml").read_text())["configMapGenerator"]

    assert (DASHBOARD["schemaVersion"], DASHBOARD["uid"]) == (39, "holdfast")
    assert generated["files"] == [dashboard.FILE.name]
    assert generated["options"]["labels"] == {"grafana_dashboard": "1"}


@pytest.mark.parametrize(
    ("cluster", "rayservice"),
    [("shop-raycluster-x7k2p", "shop"), ("shop-x7k2p", "shop"), ("my-shop-2-abcde", "my-shop-2")],
    ids=["until-1.3", "since-1.4", "with-dashes"],
)
def test_the_rayservice_is_told_from_the_clusters_name(cluster, rayservice):
    monitors = yaml.safe_load_all((MONITORING / "monitors.yaml").read_text())
    (rule,) = next(monitors)["spec"]["podMetricsEndpoints"][0]["relabelings"]

    assert re.fullmatch(rule["regex"], cluster)[1] == rayservice
    assert (rule["targetLabel"], rule["replacement"]) == ("rayservice", "$1")

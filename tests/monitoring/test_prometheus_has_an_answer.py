"""Every question of the dashboard and of the alerts, asked of a real Prometheus after something has happened."""

import json
import math
import re

import pytest
import yaml

from tests.monitoring.prometheus import MONITORING

pytestmark = pytest.mark.asyncio(loop_scope="session")

DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
RULES = yaml.safe_load((MONITORING / "rules.yaml").read_text())["groups"][0]["rules"]
VARIABLES = {"$namespace": "team", "$rayservice": "shop", "$__rate_interval": "1m", "$__range": "1m"}
TARGETS = [
    (f"{panel['title']} {target['refId']}", target)
    for panel in DASHBOARD["panels"]
    for target in panel.get("targets", ())
]


def chosen(query):
    for variable, value in VARIABLES.items():
        query = query.replace(variable, value)
    return query


@pytest.mark.parametrize("target", [target for _, target in TARGETS], ids=[title for title, _ in TARGETS])
async def test_a_panel_shows_data_and_its_legend_is_not_empty(prometheus, target):
    series = await prometheus.ask(chosen(target["expr"]))

    assert [each for each in series if math.isfinite(float(each["value"][1]))], target["expr"]
    for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
        assert all(each["metric"].get(label) for each in series), label


def selectors(expr):
    """Each selector of an expression, one for every outcome that it names."""
    for name, labels in re.findall(r"\b((?:holdfast|process)_[a-z_]+)(\{[^}]*\})?", expr):
        several = re.search(r'outcome=~"([^"]+)"', labels)
        for outcome in several[1].split("|") if several else [""]:
            yield name + (labels.replace(several[0], f'outcome="{outcome}"') if several else labels)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
async def test_an_alert_asks_for_series_that_are_there(prometheus, rule):
    loaded = (await prometheus.rules())[rule["alert"]]
    asked = list(selectors(rule["expr"]))

    assert (loaded["health"], loaded.get("lastError")) == ("ok", None)
    assert asked
    for selector in asked:
        assert await prometheus.ask(selector), selector


@pytest.mark.parametrize(
    "happened",
    [
        'holdfast_kuberay_last_request_timestamp_seconds{rayservice="shop"} > time() - 300',
        'holdfast_apps_would_have_been_deleted_total{namespace="team"} > 0',
        'holdfast_puts_total{caller="kuberay",outcome="forwarded"} > 0',
        'holdfast_puts_total{caller="other",outcome="refused"} > 0',
        "holdfast_apps_retired_total > 0",
        "holdfast_apps_carried_over_total > 0",
        "holdfast_apps_not_carried_over_total > 0",
        "holdfast_stale_answers_total > 0",
        'holdfast_journal_calls_total{call="write",outcome="done"} > 0',
        'holdfast_journal_requests_total{outcome="unauthorized"} > 0',
        'holdfast_admissions_total{resource="pods",outcome="lookup_failed"} > 0',
        "holdfast_certificate_expiry_timestamp_seconds > time()",
    ],
)
async def test_what_has_happened_is_counted(prometheus, happened):
    assert await prometheus.ask(happened)


async def test_those_alerts_fire_that_should(prometheus):
    firing = await prometheus.ask('ALERTS{alertstate="firing"}')

    assert {each["metric"]["alertname"] for each in firing} == {"HoldfastNotCarriedOver", "HoldfastAdmissionsFail"}

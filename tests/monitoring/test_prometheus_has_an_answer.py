"""Every question of the dashboard and of the alerts, asked of a real Prometheus after something has happened."""

import re

import pytest
import yaml

from tests.monitoring import dashboard
from tests.monitoring.prometheus import MONITORING

pytestmark = pytest.mark.asyncio(loop_scope="session")

RULES = yaml.safe_load((MONITORING / "rules.yaml").read_text())["groups"][0]["rules"]


@pytest.mark.parametrize("question", dashboard.questions(), ids=lambda question: question.title)
async def test_a_panel_shows_data_and_its_legend_is_not_empty(prometheus, question):
    series = await prometheus.ask(question.about("team", "shop"))

    assert question.missing_in(series) == []


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

"""The alert rules ask for metrics that exist, and say the same to Prometheus and to its operator."""

import re
from pathlib import Path

import pytest
import yaml

from certs.metrics import CertificateMetrics
from proxy.metrics import Metrics as SidecarMetrics
from webhook.metrics import Metrics as WebhookMetrics

MONITORING = Path(__file__).parents[3] / "manifests" / "monitoring"
RULES = yaml.safe_load((MONITORING / "rules.yaml").read_text())["groups"]


def series():
    """Every series that a sidecar or a webhook gives, as Prometheus stores it."""
    webhook = WebhookMetrics("test")
    CertificateMetrics(webhook.registry)
    pages = SidecarMetrics("test").print() + webhook.print()
    return set(re.findall(r"^([a-z_]+)(?:\{| )", pages.decode(), re.MULTILINE))


@pytest.mark.parametrize("rule", RULES[0]["rules"], ids=lambda rule: rule["alert"])
def test_an_alert_asks_for_what_there_is_and_says_what_to_do(rule):
    asked = set(re.findall(r"\b((?:holdfast|process)_[a-z_]+)", rule["expr"]))

    assert asked
    assert asked <= series()
    assert rule["labels"]["severity"] in ("info", "warning", "critical")
    assert rule["annotations"].keys() == {"summary", "description"}


def test_the_outcomes_that_alerts_name_exist():
    named = set()
    for rule in RULES[0]["rules"]:
        for words in re.findall(r'outcome=~"([^"]+)"', rule["expr"]):
            named |= set(words.split("|"))

    webhook = WebhookMetrics("test").print() + SidecarMetrics("test").print()
    assert named <= set(re.findall(r'outcome="([a-z_]+)"', webhook.decode()))


def test_prometheus_operator_gets_the_same_rules():
    wrapped = yaml.safe_load((MONITORING / "prometheus-rule.yaml").read_text())

    assert wrapped["kind"] == "PrometheusRule"
    assert wrapped["spec"]["groups"] == RULES

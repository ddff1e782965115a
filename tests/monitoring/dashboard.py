"""The questions of the Grafana dashboard, and whether an answer gives its panel something to show."""

import json
import math
import re
from dataclasses import dataclass

from tests.monitoring.prometheus import MONITORING


@dataclass(frozen=True, slots=True)
class Question:
    """One query of one panel, as it stands in the dashboard."""

    title: str
    query: str
    legend: str

    def about(self, namespace: str, rayservice: str) -> str:
        """The query with what a person chooses at the top filled in, over the last minute."""
        chosen = {"namespace": namespace, "rayservice": rayservice, "__rate_interval": "1m", "__range": "1m"}
        return re.sub(r"\$(\w+)", lambda found: chosen[found[1]], self.query)

    def missing_in(self, series: list[dict]) -> list[str]:
        """What the panel would lack: "data", or labels that its legend names."""
        if not any(math.isfinite(float(each["value"][1])) for each in series):
            return ["data"]
        labels = re.findall(r"\{\{(\w+)\}\}", self.legend)
        return [label for label in labels if not all(each["metric"].get(label) for each in series)]


def questions() -> list[Question]:
    """All of them, in the order of the panels."""
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    return [
        Question(f"{panel['title']} {target['refId']}", target["expr"], target["legendFormat"])
        for panel in panels
        for target in panel.get("targets", ())
    ]

"""Grafana's JSON around questions, panels and queries. What is asked stands in dashboard.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SCHEMA_VERSION = 39
"""Grafana 11. A newer one migrates it."""

HEADS = '{namespace=~"$namespace",rayservice=~"$rayservice"}'
"""The sidecars that the variables choose. The webhook is one for all namespaces, and has no such selector."""

_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS = 24
_A_LINE = 3
_HEIGHT = 7


@dataclass(frozen=True, slots=True)
class Query:
    """In PromQL, with the legend of each series in it."""

    expr: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """``unit`` is Grafana's name of it. ``is_now``: a number, not a curve."""

    title: str
    unit: str
    queries: tuple[Query, ...]
    text: str = ""
    is_now: bool = False


def dashboard(rows: Mapping[str, tuple[Panel, ...]]) -> dict[str, Any]:
    """The dashboard: a row for each question, three panels a line."""
    return {
        "title": "Holdfast",
        "uid": "holdfast",
        "tags": ["ray", "kuberay", "holdfast"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": list(_variables())},
        "panels": list(_panels(rows)),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    asked = {
        "namespace": "label_values(holdfast_declared_known, namespace)",
        "rayservice": 'label_values(holdfast_declared_known{namespace=~"$namespace"}, rayservice)',
    }
    for name, query in asked.items():
        yield {
            "name": name,
            "type": "query",
            "datasource": _DATASOURCE,
            "definition": query,
            "query": {"query": query, "refId": name},
            "refresh": 2,  # whenever the time range changes
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        }


def _panels(rows: Mapping[str, tuple[Panel, ...]]) -> Iterator[dict[str, Any]]:
    number, top = 0, 0
    for question, panels in rows.items():
        number += 1
        grid = {"x": 0, "y": top, "w": _COLUMNS, "h": 1}
        yield {"id": number, "type": "row", "title": question, "collapsed": False, "panels": [], "gridPos": grid}
        top += 1
        for first in range(0, len(panels), _A_LINE):
            line = panels[first : first + _A_LINE]
            width = _COLUMNS // len(line)
            for column, panel in enumerate(line):
                number += 1
                grid = {"x": column * width, "y": top, "w": width, "h": _HEIGHT}
                yield {"id": number, "gridPos": grid, **_panel(panel)}
            top += _HEIGHT


def _panel(panel: Panel) -> dict[str, Any]:
    now, curve = {"reduceOptions": {"calcs": ["lastNotNull"]}}, {"legend": {"displayMode": "list"}}
    return {
        "type": "stat" if panel.is_now else "timeseries",
        "title": panel.title,
        "description": panel.text,
        "datasource": _DATASOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": now if panel.is_now else curve,
        "targets": [
            {
                "refId": chr(ord("A") + place),
                "datasource": _DATASOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
                "instant": panel.is_now,
                "range": not panel.is_now,
            }
            for place, query in enumerate(panel.queries)
        ],
    }

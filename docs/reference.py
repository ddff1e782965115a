"""Writes the reference pages that can be read off the code: `make docs`. A test holds the pages to the code.

python docs/reference.py     writes docs/settings.md and docs/metrics.md
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import fields
from pathlib import Path

from proxy.metrics import Metrics
from proxy.settings import PREFIX, Settings

HERE = Path(__file__).parent


def settings_page() -> str:
    """Every setting: its variable, its default as one would write it, and what the code says of it."""
    rows = [
        f"### `{PREFIX}{field.name.upper()}`\n\nDefault: `{_as_variable(field.default)}`\n\n{_said_of(field.name)}\n"
        for field in fields(Settings)
    ]
    intro = (
        "# Settings of the sidecar\n\nEach is an environment variable; the first six are also options of `holdfast "
        "proxy`. Times are in seconds, sizes in bytes.\n\nWritten by `make docs` from `proxy/settings.py`.\n"
    )
    return "\n".join((intro, *rows))


def metrics_page() -> str:
    """Every metric with its help text and labels."""
    lines = Metrics("VERSION").print().decode().splitlines()
    helps = dict(line.removeprefix("# HELP ").split(" ", 1) for line in lines if line.startswith("# HELP "))
    kinds = dict(line.removeprefix("# TYPE ").split(" ", 1) for line in lines if line.startswith("# TYPE "))
    rows = [f"| `{name}` | {kinds[name]} | {text} |" for name, text in helps.items() if name.startswith("holdfast_")]
    intro = (
        "# Metrics of the sidecar\n\nAt `/-/metrics`, in Prometheus' text format, beside the usual `process_*`. No "
        "label holds a name of an application.\n\nWritten by `make docs` from `proxy/metrics.py`.\n"
    )
    return "\n".join((intro, "| name | type | what it counts |", "|---|---|---|", *rows, ""))


def _said_of(name: str) -> str:
    """The text below the field in the class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - for the type checker
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.target.id == name:
            assert isinstance(text, ast.Expr)  # noqa: S101 - as above
            return " ".join(ast.literal_eval(text.value).split())
    raise LookupError(name)


def _as_variable(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


PAGES = {"settings.md": settings_page, "metrics.md": metrics_page}

if __name__ == "__main__":
    for page, write in PAGES.items():
        (HERE / page).write_text(write())

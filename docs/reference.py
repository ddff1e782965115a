"""Writes the reference pages that can be read off the code: `make docs`. A test holds the pages to the code.

python -m docs.reference     writes docs/settings.md, docs/metrics.md, docs/cli.md, docs/messages.md and docs/check.md
"""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import cli.main
import proxy.metrics
import proxy.settings
import webhook.metrics
import webhook.settings
from serveconfig import errors
from tests.unit.cli import ways
from webhook import injection, services
from webhook.notices import WHAT_TO_DO

HERE = Path(__file__).parent


def settings_page() -> str:
    """Every setting: its variable, its default as one would write it, and what the code says of it."""
    parts = (
        (
            "The sidecar",
            "The first six are also options of `holdfast proxy`.",
            proxy.settings.PREFIX,
            proxy.settings.Settings,
        ),
        ("The webhook", "", webhook.settings.PREFIX, webhook.settings.Settings),
    )
    rows = [
        row for title, text, prefix, settings in parts for row in (f"## {title}\n\n{text}\n", *_rows(prefix, settings))
    ]
    intro = (
        "# Settings\n\nEach is an environment variable. Times are in seconds, sizes in bytes.\n\n"
        "Written by `make docs` from `proxy/settings.py` and `webhook/settings.py`.\n"
    )
    return "\n".join((intro, *rows))


def _rows(prefix: str, settings: type[Any]) -> Iterator[str]:
    for field in fields(settings):
        variable = prefix + field.name.upper()
        yield f"### `{variable}`\n\nDefault: `{_as_variable(field.default)}`\n\n{_said_of(settings, field.name)}\n"


def metrics_page() -> str:
    """Every metric with its help text."""
    parts = {
        "The sidecar, at `/-/metrics` of its port": proxy.metrics.Metrics("VERSION").print(),
        "The webhook, at `/metrics`": webhook.metrics.Metrics("VERSION").print(),
    }
    rows = [line for title, page in parts.items() for line in (f"## {title}\n", *_metrics(page), "")]
    intro = (
        "# Metrics\n\nIn Prometheus' text format, beside the usual `process_*`. No label holds a name of an "
        "application or of an object.\n\nWritten by `make docs` from `proxy/metrics.py` and `webhook/metrics.py`.\n"
    )
    return "\n".join((intro, *rows))


def _metrics(page: bytes) -> Iterator[str]:
    lines = page.decode().splitlines()
    helps = dict(line.removeprefix("# HELP ").split(" ", 1) for line in lines if line.startswith("# HELP "))
    kinds = dict(line.removeprefix("# TYPE ").split(" ", 1) for line in lines if line.startswith("# TYPE "))
    yield from ("| name | type | what it counts |", "|---|---|---|")
    yield from (
        f"| `{name}` | {kinds[name]} | {text} |" for name, text in helps.items() if name.startswith("holdfast_")
    )


def messages_page() -> str:
    """Every Event and every refusal, with what to do about it."""
    events = (
        f"| `{reason}` | {'Warning' if reason.is_warning else 'Normal'} | {what} | {todo} |"
        for reason, (what, todo) in WHAT_TO_DO.items()
    )
    refusals = (f"| {each.status} | {each.title} | {_first_sentences(each)} |" for each in _refusals())
    heads = (f"| {text} |" for text in (*injection.REFUSED.values(), *services.REFUSED.values()))
    return "\n".join(
        (
            "# What Holdfast says\n\nWritten by `make docs` from the code.\n",
            "## Events on a RayService\n\n`kubectl describe rayservice NAME`\n",
            "| reason | type | what has happened | what to do |\n|---|---|---|---|",
            *events,
            "\n## Why a head gets no sidecar, or its Service no redirect\n\n| because |\n|---|",
            *heads,
            "\n## Refusals of the sidecar\n\nAs `application/problem+json`; `detail` says what to do about the case.\n",
            "| status | title | |\n|---|---|---|",
            *refusals,
            "",
        )
    )


def check_page() -> str:
    """What `holdfast check` says first where something is broken, from the table that its tests go by."""
    intro = (
        "# What `holdfast check` finds\n\n"
        "One line a check, and beside one that fails what to do. The checks come in an order that finds a cause before "
        "what it causes: **begin with the first line that failed**. `-n NAMESPACE` looks at the RayServices of one "
        "namespace, `--pre` before an installation, `-o json` is for programs; exit codes are in [cli.md](cli.md).\n\n"
        "A line that says `not checked` names the right that is missing. To see everything takes the rights to read "
        "what Holdfast installs, RayServices, pods, Services and NetworkPolicies, `pods/proxy` (what each sidecar says "
        "of itself) and `subjectaccessreviews` (what the webhook may do). Nothing is changed.\n\n"
        "Written by `make docs` from the table of its tests: `shop` is a RayService in namespace `team`, at "
        "2026-12-01 12:00.\n\n"
    )
    return f"{intro}{ways.page()}\n"


def _refusals() -> list[type[errors.Refusal]]:
    kinds = (each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.Refusal))
    return sorted((each for each in kinds if each is not errors.Refusal), key=lambda each: (each.status, each.title))


def _first_sentences(kind: type[errors.Refusal]) -> str:
    return " ".join((inspect.getdoc(kind) or "").split()).replace("``", "`")


def cli_page() -> str:
    """Every command with its options, as `--help` has them."""
    commands = (_command(each, path) for each, path in _parsers(cli.main.parser({"HOME": "~"}), "holdfast") if path)
    intro = (
        "# The command line\n\n`holdfast COMMAND`, or `kubectl holdfast COMMAND`: pip installs it under both names. "
        "Completion: `holdfast completion --help`.\n\n"
        "Ctrl-C ends any command with 130. `NO_COLOR` and a pipe switch colours off. An error is one sentence; "
        "`HOLDFAST_DEBUG=1` shows the traceback of a bug (exit code 70).\n\n"
        "`apps` and `diff` send Ray's token from `RAY_AUTH_TOKEN`, or the file `RAY_AUTH_TOKEN_PATH`, as Ray's own "
        "command does.\n\nWritten by `make docs` from the parsers.\n"
    )
    return "\n".join((intro, *commands))


def _parsers(parser: argparse.ArgumentParser, path: str) -> Iterator[tuple[argparse.ArgumentParser, str]]:
    """Every command that does something, in the order of `--help`."""
    nested = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001 - no other way
    if not nested or " " in path:  # `holdfast` itself is the page
        yield parser, path
    for sub in nested:
        for name, each in sub.choices.items():
            yield from _parsers(each, f"{path} {name}")


def _command(parser: argparse.ArgumentParser, path: str) -> str:
    rows = [f"| `{_spelled(each)}` | {_help(each)} |" for each in parser._actions if "-h" not in each.option_strings]  # noqa: SLF001 - as above
    table = "\n".join(("| | |", "|---|---|", *rows, "")) if rows else ""
    epilog = f"\n{parser.epilog}\n" if parser.epilog else ""
    return f"## `{path}`\n\n{parser.description}\n{epilog}\n{table}"


def _spelled(action: argparse.Action) -> str:
    words = "|".join(map(str, action.choices or ()))
    value = "" if action.nargs == 0 else str(action.metavar or words or action.dest.upper())
    if not action.option_strings:
        return f"{value}..." if action.nargs == "+" else value
    return f"{', '.join(action.option_strings)} {value}".strip().replace("|", "\\|")


def _help(action: argparse.Action) -> str:
    text = (action.help or "").replace("%(default)s", f"`{action.default}`")
    return text.replace("|", "\\|")


def _said_of(settings: type[Any], name: str) -> str:
    """The text below the field in the class."""
    body = ast.parse(textwrap.dedent(inspect.getsource(settings))).body[0]
    assert isinstance(body, ast.ClassDef)  # noqa: S101 - for the type checker
    for field, text in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and field.target.id == name:
            assert isinstance(text, ast.Expr)  # noqa: S101 - as above
            return " ".join(ast.literal_eval(text.value).split())
    raise LookupError(name)


def _as_variable(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)


PAGES = {
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "cli.md": cli_page,
    "messages.md": messages_page,
    "check.md": check_page,
}

if __name__ == "__main__":
    for page, write in PAGES.items():
        (HERE / page).write_text(write())

"""Findings as lines for a person, or as JSON for a program. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from cli.check.findings import Finding, Level

_MARK = {Level.OK: "ok     ", Level.WARNING: "WARNING", Level.FAILED: "FAILED "}


def lines(findings: Iterable[Finding]) -> str:
    """One line a finding, with what to do beside it; a last line with the sum."""
    found = list(findings)
    text = "".join(f"{_MARK[each.level]} {each.text}{_fix(each)}\n" for each in found)
    return text + f"{summary(found)}\n"


def as_json(findings: Iterable[Finding]) -> str:
    """``{"ok": bool, "findings": [{"check", "level", "text", "fix"}, ...]}``."""
    found = list(findings)
    listed = [{"check": each.check, "level": each.level, "text": each.text, "fix": each.fix} for each in found]
    return json.dumps({"ok": is_well(found), "findings": listed}, indent=2) + "\n"


def summary(findings: Iterable[Finding]) -> str:
    """The last line."""
    levels = [each.level for each in findings]
    wrong, warned = levels.count(Level.FAILED), levels.count(Level.WARNING)
    if wrong:
        return f"{wrong} of {len(levels)} checks failed."
    return f"All {len(levels)} checks passed" + (f", {warned} with a warning." if warned else ".")


def is_well(findings: Iterable[Finding]) -> bool:
    """Did no check fail? Warnings do not count."""
    return all(each.level is not Level.FAILED for each in findings)


def _fix(finding: Finding) -> str:
    return f" -> {finding.fix}" if finding.fix else ""

"""What is printed and written: tables for people, one JSON for comparing runs. Only `machine` reads anything."""

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from tests.perf.contenders import DIRECT, LUA
from tests.perf.footprint import Polled, Start, Uploaded
from tests.perf.measuring import Outcome
from tests.perf.serve import Comparison

WIDTHS = (8, 16, 9, 17, 9, 11, 8, 9)
HEAD = ("apps", "", "p50 ms", "rounds' p50", "p99 ms", "CPU us/req", "x direct", "x Lua")


@dataclass(frozen=True, slots=True)
class Results:
    """All that one run found."""

    comparisons: Sequence[Comparison] = ()
    starts: Sequence[Start] = ()
    polled: Sequence[Polled] = ()
    uploaded: Sequence[Uploaded] = ()

    def __add__(self, other: "Results") -> "Results":
        """All of both."""
        return Results(*([*getattr(self, part.name), *getattr(other, part.name)] for part in fields(self)))


def machine() -> dict:
    """Where the figures come from; a run elsewhere can be compared in its ratios only."""
    model = next((line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), "unknown")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "packages": {name: version(name) for name in ("uvloop", "msgspec", "aiohttp")},
    }


def _cpuinfo() -> list[str]:
    return Path("/proc/cpuinfo").read_text().splitlines()


def tables(results: Results) -> str:
    """A table for each kind of figure that there is."""
    printed = (
        (comparison_tables, results.comparisons),
        (start_table, results.starts),
        (polled_table, results.polled),
        (upload_table, results.uploaded),
    )
    return "\n".join(table(found) for table, found in printed if found)


def comparison_tables(comparisons: Sequence[Comparison]) -> str:
    """One table a title, the sizes below one another."""
    lines = []
    for title, group in groupby(comparisons, key=lambda each: each.title):
        lines += ["", title, _row(HEAD)]
        for comparison in group:
            lines += [_row(_cells(comparison, outcome)) + outcome.note for outcome in comparison.outcomes]
    return "\n".join(lines)


def _cells(comparison: Comparison, outcome: Outcome) -> tuple[str, ...]:
    if not outcome.rounds:
        return (f"{comparison.apps:,}" if comparison.apps else "", outcome.contender, *[""] * (len(WIDTHS) - 2))
    low, high = outcome.spread_ms
    direct, lua = comparison.of(DIRECT), comparison.of(LUA)
    return (
        f"{comparison.apps:,}" if comparison.apps else "",
        outcome.contender,
        f"{outcome.p50_ms:.3f}",
        f"{low:.3f}-{high:.3f}",
        f"{outcome.p99_ms:.3f}",
        f"{outcome.cpu_us:,.0f}" if outcome.cpu_us else "",
        f"{outcome.ratio_to(direct):.2f}" if direct else "",
        f"{outcome.ratio_to(lua):.2f}" if lua else "",
    )


def _row(cells: Sequence[str]) -> str:
    apps, name, *figures = (cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))
    return "  ".join([apps, name.strip().ljust(WIDTHS[1]), *figures, ""])


def start_table(starts: Sequence[Start]) -> str:
    """Cold start and idle memory."""
    lines = ["", "start to first answer, and resident memory when idle", f"  {'':16}  median s  rounds       RSS MB"]
    for each in starts:
        rounds = f"{min(each.cold_start_s):.2f}-{max(each.cold_start_s):.2f}"
        lines.append(f"  {each.contender:16}  {each.median_start_s:8.2f}  {rounds:11}  {each.median_idle_mb:6.1f}")
    return "\n".join(lines)


def polled_table(polled: Sequence[Polled]) -> str:
    """CPU while KubeRay polls."""
    lines = [
        "",
        "KubeRay polls 1,000 applications every 2 s",
        f"  {'':16}  polls  CPU ms/poll  % of a core  RSS MB after",
    ]
    for each in polled:
        figures = f"{each.polls:5}  {each.cpu_ms_per_poll:11.2f}  {each.core_percent:11.3f}  {each.memory_mb:12.1f}"
        lines.append(f"  {each.contender:16}  {figures}")
    return "\n".join(lines)


def upload_table(uploaded: Sequence[Uploaded]) -> str:
    """Throughput and memory of an upload."""
    size = uploaded[0].size_mb
    lines = ["", f"upload of {size} MB", f"  {'':16}  status      MB/s   CPU s  RSS growth MB, each round"]
    for each in uploaded:
        growth = " ".join(f"{mb:.1f}" for mb in each.growth_mb)
        lines.append(f"  {each.contender:16}  {each.status:6}  {each.mb_per_s:8,.0f}  {each.cpu_s:6.2f}  {growth}")
    return "\n".join(lines)


def as_json(results: Results) -> dict:
    """The same figures, unrounded; latencies of single requests are left out."""
    return {
        "comparisons": [
            {
                "title": each.title,
                "apps": each.apps,
                "contenders": [_outcome_json(each, outcome) for outcome in each.outcomes],
            }
            for each in results.comparisons
        ],
        "starts": [asdict(each) for each in results.starts],
        "polled": [asdict(each) for each in results.polled],
        "uploaded": [asdict(each) | {"mb_per_s": each.mb_per_s} for each in results.uploaded],
    }


def _outcome_json(comparison: Comparison, outcome: Outcome) -> dict:
    if not outcome.rounds:
        return {"name": outcome.contender, "note": outcome.note}
    direct, lua = comparison.of(DIRECT), comparison.of(LUA)
    return {
        "name": outcome.contender,
        "requests": sum(len(each.latencies_ms) for each in outcome.rounds),
        "p50_ms": outcome.p50_ms,
        "p50_ms_of_rounds": [each.p50_ms for each in outcome.rounds],
        "p99_ms": outcome.p99_ms,
        "cpu_us_per_request": outcome.cpu_us,
        "times_direct": outcome.ratio_to(direct) if direct else None,
        "times_nginx_lua": outcome.ratio_to(lua) if lua else None,
        "note": outcome.note,
    }

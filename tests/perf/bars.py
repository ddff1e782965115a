"""The numbers that Holdfast means to hold, beside what this run found. Nothing fails on them: a report, not a test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.perf.contenders import DIRECT, HOLDFAST, LUA
from tests.perf.measuring import Outcome
from tests.perf.report import Results
from tests.perf.serve import Comparison


@dataclass(frozen=True, slots=True)
class Bar:
    """A promise in words, the most it allows, and what was measured."""

    promise: str
    limit: float
    found: float
    unit: str

    @property
    def holds(self) -> bool:
        return self.found <= self.limit


def bars(results: Results) -> list[Bar]:
    """As far as this run measured them."""
    return [*_small(results), *_serve(results), *_footprint(results)]


def table(found: Sequence[Bar]) -> str:
    """One line a promise."""
    lines = ["", "the numbers to hold"]
    for bar in found:
        verdict = "holds" if bar.holds else "MISSED"
        lines.append(f"  {verdict:6}  {bar.promise:58} {bar.found:9.3f} {bar.unit:3} (at most {bar.limit:g})")
    return "\n".join(lines)


def _pair(results: Results, title: str, apps: int | None, other: str) -> tuple[Outcome, Outcome] | None:
    for comparison in results.comparisons:
        mine, theirs = comparison.of(HOLDFAST), comparison.of(other)
        if comparison.title.startswith(title) and comparison.apps == apps and mine and theirs:
            return mine, theirs
    return None


def _small(results: Results) -> Iterator[Bar]:
    if pair := _pair(results, "small GET", None, DIRECT):
        yield Bar("small GET: p50 above direct", 0.25, pair[0].above(pair[1]), "ms")
        yield Bar("small GET: p99 above direct", 2, pair[0].above(pair[1], "p99_ms"), "ms")


def _serve(results: Results) -> Iterator[Bar]:
    for kind in ("half of them dynamic", "all declared"):
        title = f"KubeRay's GET, {kind}"
        if pair := _pair(results, title, 1_000, DIRECT):
            yield Bar(f"GET of 1,000, {kind}: CPU", 5, pair[0].cpu_us / 1000, "ms")
        if pair := _pair(results, title, 1_000, LUA):
            yield Bar(f"GET of 1,000, {kind}: time beside nginx+Lua", 0.4, pair[0].ratio_to(pair[1]), "x")
        yield from _linear(results, title, f"GET, {kind}")
    if pair := _pair(results, "KubeRay's PUT of 3 applications", 1_000, DIRECT):
        yield Bar("PUT of 3, merged with 1,000 kept: p50", 20, pair[0].p50_ms, "ms")
    for declared in ("3", "as many"):
        title = f"KubeRay's PUT of {declared} applications"
        yield from _linear(results, title, f"PUT of {declared}")


def _linear(results: Results, title: str, what: str) -> Iterator[Bar]:
    at: dict[int | None, Comparison] = {each.apps: each for each in results.comparisons if each.title.startswith(title)}
    if {1_000, 10_000} <= at.keys() and (thousand := at[1_000].of(HOLDFAST)) and (most := at[10_000].of(HOLDFAST)):
        yield Bar(f"{what}: CPU an application, 10,000 beside 1,000", 1.25, most.cpu_us / thousand.cpu_us / 10, "x")


def _footprint(results: Results) -> Iterator[Bar]:
    for start in (each for each in results.starts if each.contender == HOLDFAST):
        yield Bar("idle: resident memory", 45, start.median_idle_mb, "MB")
        yield Bar("start to first answer", 0.5, start.median_start_s, "s")
    for polled in (each for each in results.polled if each.contender == HOLDFAST):
        yield Bar("1,000 applications polled every 2 s: share of a core", 0.2, polled.core_percent, "%")
    for uploaded in (each for each in results.uploaded if each.contender == HOLDFAST):
        yield Bar(f"upload of {uploaded.size_mb} MB: memory growth, worst round", 8, max(uploaded.growth_mb), "MB")

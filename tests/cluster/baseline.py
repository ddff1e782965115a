"""docs/baseline.md, written from the records and from nothing else: what stock versions do to dynamic applications."""

from collections.abc import Iterable, Mapping
from typing import Any

from tests.cluster.node.paths import REPOSITORY
from tests.cluster.pairs import Pair
from tests.cluster.records import Record, read

FILE = REPOSITORY / "docs" / "baseline.md"

_PREFACE = """\
# What stock KubeRay and Ray do to dynamic applications

Written by `make cluster-baseline` from what it measured on a real Kubernetes node, without Holdfast. Each story is a
file of `tests/cluster/stories/`; columns are KubeRay x Ray. "yes": what users wish came true. "no": it did not.
"-": not told with this pair. Applications bear the name of where they came from: declared in the RayService (`static`),
put into it by another writer (`by-cr`), deployed over REST (`by-rest`), or by `serve.run` (`by-serve-run`).
"""


def write() -> None:
    """Write the page anew."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(render([record for record in read() if not record.holdfast]))


def render(records: Iterable[Record]) -> str:
    """The page for these records. Pure."""
    told = sorted(records, key=lambda record: (record.story, _pair(record)))
    pairs = sorted({_pair(record) for record in told})
    stories: dict[str, dict[Pair, Record]] = {}
    for record in told:
        stories.setdefault(record.story, {})[_pair(record)] = record
    overview = [[story, *(_verdict(by_pair.get(pair)) for pair in pairs)] for story, by_pair in stories.items()]
    return "\n".join([_PREFACE, _table(["story", *_headings(pairs)], overview), *map(_story, stories.values())])


def _story(by_pair: Mapping[Pair, Record]) -> str:
    """One story's own table: a row for everything it noted."""
    first = next(iter(by_pair.values()))
    noted = list(dict.fromkeys(key for record in by_pair.values() for key in record.saw))
    rows = [[_words(key), *(_cell(record.saw.get(key)) for record in by_pair.values())] for key in noted]
    return f"## {first.story}\n\n{first.tells}\n\n" + _table(["", *_headings(by_pair)], rows)


def _headings(pairs: Iterable[Pair]) -> list[str]:
    return [f"{pair.kuberay} x {pair.ray}" for pair in pairs]


def _pair(record: Record) -> Pair:
    return Pair.parse(f"{record.kuberay}x{record.ray}")


def _verdict(record: Record | None) -> str:
    if record is None:
        return "-"
    return {True: "yes", False: "no", None: "broke off"}[record.holds]


def _cell(value: Any) -> str:
    """A value as a person reads it: fates as lists, seconds without decimals."""
    if isinstance(value, dict):
        return "<br>".join(f"{key}: {each}" for key, each in sorted(value.items()))
    if isinstance(value, list):
        return ", ".join(value) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "never"}[value]
    return f"{value:.0f}" if isinstance(value, float) else str(value)


def _words(key: str) -> str:
    return key.replace("_", " ")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

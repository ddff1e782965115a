"""docs/baseline.md and docs/compatibility.md, written from the records and from nothing else.

The first says what stock versions do to dynamic applications, the second what becomes of them with Holdfast.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.cluster.node.paths import REPOSITORY
from tests.cluster.pairs import Pair
from tests.cluster.records import FILE, KEPT, Record, read
from tests.cluster.records import write as keep

_DOCS = REPOSITORY / "docs"
_WORDS = """\
"-": not told with this pair. Applications bear the name of where they came from: declared in the RayService (`static`),
put into it by another writer (`by-cr`), deployed over REST (`by-rest`), or by `serve.run` (`by-serve-run`).
"""
_BASELINE = """\
# What stock KubeRay and Ray do to dynamic applications

Written by `make cluster-baseline` from what it measured on a real Kubernetes node, without Holdfast. Each story is a
file of `tests/cluster/stories/`; columns are KubeRay x Ray. "yes": what users wish came true. "no": it did not.
"""
_COMPATIBILITY = """\
# What becomes of dynamic applications with Holdfast

Written by `make cluster-with-holdfast` from what it measured on a real Kubernetes node, with unmodified KubeRay and Ray
and Holdfast installed as [install.md](install.md) says. Each story is a file of `tests/cluster/stories/`; columns are
KubeRay x Ray. "yes": what users wish came true. "no": it did not; what is promised today stands in the story's file.
In brackets: the same story without Holdfast ([baseline.md](baseline.md)), where it came out otherwise.
"""


def write() -> None:
    """Write both pages anew, each if there is a record for it, from what was told before and now."""
    records = read(KEPT, FILE)
    keep(records, KEPT)
    stock = [record for record in records if not record.holdfast]
    ours = [record for record in records if record.holdfast]
    if stock:
        _write(_DOCS / "baseline.md", baseline(stock))
    if ours:
        _write(_DOCS / "compatibility.md", compatibility(ours, stock))


def baseline(stock: Iterable[Record]) -> str:
    """The page for records without Holdfast. Pure."""
    return _page(_BASELINE + _WORDS, stock, beside=())


def compatibility(ours: Iterable[Record], stock: Iterable[Record]) -> str:
    """The page for records with Holdfast, and how the same stories came out without. Pure."""
    return _page(_COMPATIBILITY + _WORDS, ours, beside=stock)


def _write(file: Path, page: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page)


def _page(preface: str, records: Iterable[Record], *, beside: Iterable[Record]) -> str:
    told, other = _by_story(records), _by_story(beside)
    pairs = sorted({pair for by_pair in told.values() for pair in by_pair})
    overview = [
        [story, *(_compared(by_pair.get(pair), other.get(story, {}).get(pair)) for pair in pairs)]
        for story, by_pair in told.items()
    ]
    return "\n".join([preface, _table(["story", *_headings(pairs)], overview), *map(_story, told.values())])


def _by_story(records: Iterable[Record]) -> dict[str, dict[Pair, Record]]:
    """Stories by letter, each with its pairs by number."""
    stories: dict[str, dict[Pair, Record]] = {}
    for record in sorted(records, key=lambda record: (record.story, _pair(record))):
        stories.setdefault(record.story, {})[_pair(record)] = record
    return stories


def _compared(record: Record | None, other: Record | None) -> str:
    verdict, without = _verdict(record), _verdict(other)
    return verdict if record is None or other is None or verdict == without else f"{verdict} ({without})"


def _story(by_pair: Mapping[Pair, Record]) -> str:
    """One story's own table: a row for everything it noted."""
    first = next(iter(by_pair.values()))
    noted = list(dict.fromkeys(key for record in by_pair.values() for key in record.saw))
    rows = [[_words(key), *(_cell(record.saw.get(key, "-")) for record in by_pair.values())] for key in noted]
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
    """A value as a person reads it, in one line of a table: fates as lists, seconds without decimals."""
    if isinstance(value, dict):
        return "<br>".join(f"{_cell(key)}: {_cell(each)}" for key, each in sorted(value.items()))
    if isinstance(value, list):
        return ", ".join("none" if each is None else _cell(each) for each in value) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "never"}[value]
    text = f"{value:.0f}" if isinstance(value, float) else str(value)
    return text.strip().replace("|", "\\|").replace("\n", "<br>")


def _words(key: str) -> str:
    return key.replace("_", " ")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

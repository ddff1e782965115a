"""What is to be seen at one moment, in words: the table's rows, the operator's line, a chapter's outcome. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cli.demo.kuberay import Operator
from cli.demo.observe import Sighting, Tally
from cli.demo.story import Application

GONE = "gone"
NOT_SHOWN = NOT_YET = "-"
GOOD = "nothing lost, nothing restarted"


@dataclass(frozen=True, slots=True)
class Row:
    """One application, as the table has it."""

    application: str
    owner: str
    made: str
    ray: str
    kuberay: str
    pid: str
    fate: str
    """What became of it, beside what its owner wanted. Empty: nothing."""


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment of a telling."""

    heading: str
    chapter: str
    sentences: str
    rows: tuple[Row, ...]
    kuberay: str
    doing: str


def rows(
    cast: Iterable[Application], sighting: Sighting, shown: Mapping[str, str], tally: Tally, retired: frozenset[str]
) -> tuple[Row, ...]:
    """A row for each application of the story that has been seen, or whose absence says something."""
    return tuple(
        _row(application, sighting, shown, _fate(application.name, sighting, tally, retired))
        for application in cast
        if application.name in sighting or application.name in {*tally.lost, *tally.in_hand, *retired}
    )


def _row(application: Application, sighting: Sighting, shown: Mapping[str, str], fate: str) -> Row:
    seen = sighting.get(application.name)
    return Row(
        application=application.name,
        owner=application.owner,
        made=application.made,
        ray=seen.status if seen else GONE if fate else NOT_YET,
        kuberay=shown.get(application.name, NOT_SHOWN),
        pid=" ".join(map(str, seen.pids)) if seen else "",
        fate=fate,
    )


def _fate(name: str, sighting: Sighting, tally: Tally, retired: frozenset[str]) -> str:
    fates = [
        f"{word}{_times(of.count(name))}"
        for word, of in (("lost", tally.lost), ("restarted", tally.restarted))
        if name in of
    ]
    if name in retired:
        fates.append("NOT RETIRED" if name in sighting and name not in tally.in_hand else "retired")
    return ", ".join(fates)


def _times(count: int) -> str:
    return f" {count} times" if count > 1 else ""


def operator_line(operator: Operator) -> str:
    """What KubeRay has done and concluded, in one line."""
    puts = f"{operator.puts} PUT{'' if operator.puts == 1 else 's'} sent"
    if operator.trouble:
        return f"{puts}; {operator.trouble}"
    return f"{puts}; the RayService is {'ready' if operator.ready else 'NOT ready'}"


def outcome(
    before: Tally,
    after: Tally,
    sighting: Sighting,
    operator: Operator,
    *,
    unretired: Iterable[str] = (),
    refused: Iterable[str] = (),
) -> str:
    """What a chapter came to, in a few words: what happened since `before`, and what KubeRay makes of it."""
    parts = [
        *_said("lost", after.lost[len(before.lost) :]),
        *_said("restarted", after.restarted[len(before.restarted) :]),
        *_said("not retired", unretired),
        *_said("refused", refused),
    ]
    if operator.refused:
        parts.append(f"KubeRay is in trouble: {operator.trouble}")
    elif not operator.ready:
        parts.append("the RayService is stuck")
    if parts:
        return "; ".join(parts)
    gone = [name for name in dict.fromkeys(after.lost) if name not in sighting]
    return f"nothing more lost; still gone: {', '.join(gone)}" if gone else GOOD


def _said(word: str, names: Iterable[str]) -> list[str]:
    listed = ", ".join(dict.fromkeys(names))
    return [f"{word}: {listed}"] if listed else []

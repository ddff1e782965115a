"""What was observed in the tellings, and what it comes to: the last line, the exit code, the JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from cli.demo.kuberay import Operator
from cli.demo.scene import Row
from cli.demo.story import CAST, DYNAMIC

DYNAMIC_NAMES = frozenset(application.name for application in DYNAMIC)


@dataclass(frozen=True, slots=True)
class ChapterRecord:
    """What was observed at the end of a chapter."""

    title: str
    outcome: str
    rows: tuple[Row, ...]
    operator: Operator


@dataclass(frozen=True, slots=True)
class Record:
    """What was observed in one telling."""

    holdfast: bool
    chapters: tuple[ChapterRecord, ...]
    lost: tuple[str, ...]
    restarted: tuple[str, ...]
    unretired: tuple[str, ...]
    """Static applications that KubeRay took off its list and that still run."""
    refused: tuple[str, ...]
    """Dynamic applications whose deployment was answered 409, each with the answer."""
    stuck: bool
    """Whether a chapter ended with a RayService whose start, upgrade or change does not finish."""


def closing_line(without: Record, with_holdfast: Record) -> str:
    """The last line of the demo."""
    lost = _count(name for name in without.lost if name in DYNAMIC_NAMES)
    parts = [f"{lost} of {len(DYNAMIC_NAMES)} dynamic applications lost", *_beyond(without)]
    if without.restarted:
        parts.append(f"{_count(without.restarted)} restarted")
    kept = [
        f"{_count(with_holdfast.lost)} lost",
        f"{_count(with_holdfast.restarted)} restarted",
        *_beyond(with_holdfast),
    ]
    return f"without Holdfast: {', '.join(parts)}; with Holdfast: {', '.join(kept)}"


def _beyond(record: Record) -> list[str]:
    parts = ["1 RayService stuck"] if record.stuck else []
    if record.unretired:
        parts.append(f"{len(record.unretired)} not retired")
    if record.refused:
        parts.append(f"{len(record.refused)} refused")
    return parts


def _count(names: Iterable[str]) -> int:
    return len(set(names))


def exit_code(with_holdfast: Record) -> int:
    """0 if Holdfast kept every application as its owner wanted it and KubeRay content, else 1."""
    record = with_holdfast
    return 1 if record.lost or record.restarted or record.unretired or record.refused or record.stuck else 0


def as_json(ray_version: str, records: Iterable[Record], closing: str) -> dict[str, object]:
    """The observations, JSON-able."""
    return {
        "ray": ray_version,
        "applications": [asdict(application) for application in CAST],
        "tellings": [_telling(record) for record in records],
        "summary": closing,
    }


def _telling(record: Record) -> dict[str, object]:
    telling = asdict(record)
    for chapter, told in zip(telling["chapters"], record.chapters, strict=True):
        chapter["operator"] = {
            "shown": told.operator.shown,
            "ready": told.operator.ready,
            "puts": told.operator.puts,
            "trouble": told.operator.trouble,
        }
    return telling

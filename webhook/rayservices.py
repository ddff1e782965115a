"""An update of a RayService by one writer does not drop the applications of another (G7, G8). Pure.

1. Dynamic applications (``webhook.writers``) that an update drops, and that are not its writer's to drop, are put back
   into the text; everything else in it stays byte for byte (``webhook.yamltext``).
2. If what is put back and what the update brings claim one route, the update is denied, with both names: Ray would hand
   the route over silently.
3. A text that KubeRay cannot read is admitted as it is, with a warning; KubeRay says what is wrong with it. Until it
   can be read again the dynamic applications are held in an annotation.
4. What changes nothing here is not read: status, finalizers and labels cost nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from webhook import rolling
from webhook.heads import Manifest, is_opted_out, metadata
from webhook.names import ADDED_BY, DYNAMIC_APPS, HELD_APPS
from webhook.notices import Notice, Reason
from webhook.review import Decision
from webhook.writers import Ownership, Writer
from webhook.yamlnodes import UnreadableTextError
from webhook.yamltext import Application, ServeText, print_json, route_prefix

MAX_HELD_BYTES = 64 << 10
"""How much is held in an annotation. All annotations of an object together may have 256 KiB, and ``kubectl apply``
keeps a copy of the object there, too."""


class Outcome(StrEnum):
    """What became of a RayService. The value is a metric label and a log field: do not rename."""

    UNTOUCHED = "untouched"
    OPTED_OUT = "opted_out"
    RECORDED = "recorded"  # annotations of ours changed: who added what, what is held, the hash of the static config
    PUT_BACK = "put_back"
    UNREADABLE = "unreadable"
    CLASH = "clash"


@dataclass(frozen=True, slots=True)
class _Config:
    """``serveConfigV2`` of one object; ``read`` is None where KubeRay could not read it, ``fault`` says why."""

    text: str
    read: ServeText | None
    fault: str = ""

    @classmethod
    def of(cls, rayservice: Manifest) -> _Config:
        text = str(rolling.at(rayservice, ("spec",)).get("serveConfigV2") or "")
        try:
            return cls(text, ServeText.parse(text))
        except UnreadableTextError as error:
            return cls(text, None, str(error))

    def named(self) -> dict[str, Application]:
        """Its applications, by name."""
        return self.read.named() if self.read else {}


def admit(new: Manifest, old: Manifest | None, writer: Writer) -> Decision:
    """What becomes of a RayService. ``old`` is what is stored, None where there is nothing yet."""
    annotations, stored = metadata(new, "annotations"), metadata(old or {}, "annotations")
    if is_opted_out(annotations):
        return Decision(Outcome.OPTED_OUT)
    ownership = Ownership.of(annotations, stored)
    concerns = ownership.is_in_use or HELD_APPS in stored or rolling.is_wanted(annotations) or rolling.written_hash(old)
    if not concerns:
        return Decision(Outcome.UNTOUCHED)
    if old is not None and _text(new) == _text(old):
        return _carried(new, old, ownership)
    return _Update(new, old, writer, ownership, stored).decision()


def _text(rayservice: Manifest) -> object:
    return rolling.at(rayservice, ("spec",)).get("serveConfigV2")


def _carried(new: Manifest, old: Manifest, ownership: Ownership) -> Decision:
    """The text is what it was: ours is carried, should the update have left it out, and nothing is read."""
    held = metadata(old, "annotations").get(HELD_APPS)
    changed = _annotated(new, {ADDED_BY: ownership.annotation(), HELD_APPS: held})
    changed = rolling.rolled(changed, rolling.written_hash(old))
    warning = rolling.warning(new) if rolling.is_wanted(metadata(new, "annotations")) else None
    warnings = (warning,) if warning else ()
    return _decision(new, changed, Outcome.UNTOUCHED, warnings)


@dataclass(frozen=True, slots=True)
class _Update:
    """An object that comes with another text than the stored one."""

    new: Manifest
    old: Manifest | None
    writer: Writer
    ownership: Ownership
    stored: Mapping[str, str]

    def decision(self) -> Decision:
        config, before = _Config.of(self.new), _Config.of(self.old or {})
        present, brought = {**_held(self.stored), **before.named()}, config.named()
        if config.read is None:
            return self._unreadable(config, {k: v for k, v in present.items() if self.ownership.is_dynamic(k)})
        lost = {
            name: app
            for name, app in present.items()
            if name not in brought and not self.ownership.may_drop(self.writer, name)
        }
        if clash := _clash(lost, brought, present):
            return Decision(Outcome.CLASH, denial=self._clash_text(*clash))
        return self._readable(config.read, before, lost, set(present))

    def _readable(self, read: ServeText, before: _Config, lost: dict[str, Application], present: set[str]) -> Decision:
        names = set(read.named())
        ownership = self.ownership.after(self.writer, names - present, names | set(lost))
        changed = _annotated(self.new, {ADDED_BY: ownership.annotation(), HELD_APPS: None})
        if lost:
            changed = rolling.replaced(changed, ("spec", "serveConfigV2"), read.adding(list(lost.values())))
        changed = rolling.rolled(changed, self._hash(read, before, ownership))
        warnings = [self._put_back_text(lost)] if lost else []
        notices = tuple(Notice(Reason.PUT_BACK_APPLICATIONS, text) for text in warnings)
        if rolling.is_wanted(metadata(self.new, "annotations")) and (warning := rolling.warning(self.new)):
            warnings.append(warning)
        outcome = Outcome.PUT_BACK if lost else Outcome.UNTOUCHED
        return _decision(self.new, changed, outcome, tuple(warnings), notices)

    def _hash(self, read: ServeText, before: _Config, ownership: Ownership) -> str | None:
        """The hash to stand in the head template (``webhook.rolling``, rule 2)."""
        written = rolling.written_hash(self.old)
        if not rolling.is_wanted(metadata(self.new, "annotations")):
            return written
        now = rolling.static_hash(read, ownership.is_dynamic)
        if self.old is None:
            return now
        then = rolling.static_hash(before.read, ownership.is_dynamic) if before.read else written
        return now if then not in (None, now) else written

    def _unreadable(self, config: _Config, dynamic: dict[str, Application]) -> Decision:
        warnings = [f"serveConfigV2 is admitted as it is, but KubeRay cannot read it: {config.fault}"]
        held = print_json(list(dynamic.values())) if dynamic else None
        if held is not None and len(held.encode()) > MAX_HELD_BYTES:
            warnings.append(
                f"its {len(dynamic)} dynamic applications are more than {MAX_HELD_BYTES >> 10} KiB, too much to hold: "
                "their writers have to add them again"
            )
            held = None
        elif held is not None:
            warnings.append(f"{_listed(dynamic)}: held in {HELD_APPS} until it can be read")
        changed = _annotated(self.new, {ADDED_BY: self.ownership.annotation(), HELD_APPS: held})
        changed = rolling.rolled(changed, rolling.written_hash(self.old))
        notice = Notice(Reason.UNREADABLE_SERVE_CONFIG, warnings[0])
        return _decision(self.new, changed, Outcome.UNREADABLE, tuple(warnings), (notice,))

    def _put_back_text(self, lost: Mapping[str, Application]) -> str:
        owners = sorted({self.ownership.owner(name) for name in lost})
        return f"put back {_listed(lost)}: dynamic, and only for {', '.join(owners)} to drop"

    def _clash_text(self, kept: str, brought: str, route: object) -> str:
        return (
            f"application {brought!r} claims route {route}, which the dynamic application {kept!r} has "
            f"(added by {self.ownership.owner(kept)}), and Ray would hand it over silently. Give {brought!r} another "
            f"route_prefix, or have {kept!r} dropped by its writer or taken out of {DYNAMIC_APPS}"
        )


def _clash(
    lost: Mapping[str, Application], brought: Mapping[str, Application], present: Mapping[str, Application]
) -> tuple[str, str, object] | None:
    """Two applications that would claim one route, and did not before: which is kept, which comes, and the route."""
    routes = {route: name for name, app in lost.items() if isinstance(route := route_prefix(app), str)}
    for name, app in brought.items():
        route = route_prefix(app)
        if (
            isinstance(route, str)
            and route in routes
            and route != route_prefix(present.get(name, {"route_prefix": None}))
        ):
            return routes[route], name, route
    return None


def _held(stored: Mapping[str, str]) -> dict[str, Application]:
    try:
        held = json.loads(stored.get(HELD_APPS) or "[]")
    except (ValueError, RecursionError):
        return {}  # somebody has written into it: nothing can be known of what it was
    apps = [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []
    return {str(each.get("name", "default")): each for each in apps}


def _annotated(rayservice: Manifest, ours: Mapping[str, str | None]) -> dict[str, Any]:
    """The object with our annotations; None takes one away."""
    before = dict(metadata(rayservice, "annotations"))
    after = {key: value for key, value in {**before, **ours}.items() if value is not None}
    return dict(rayservice) if after == before else rolling.replaced(rayservice, ("metadata", "annotations"), after)


def _decision(
    new: Manifest, changed: Manifest, outcome: Outcome, warnings: tuple[str, ...], notices: tuple[Notice, ...] = ()
) -> Decision:
    if changed == new:
        return Decision(outcome, None, warnings, notices=notices)
    return Decision(Outcome.RECORDED if outcome is Outcome.UNTOUCHED else outcome, changed, warnings, notices=notices)


def _listed(names: Mapping[str, Application], most: int = 5) -> str:
    """Some names, and how many more."""
    first = ", ".join(list(names)[:most])
    return first if len(names) <= most else f"{first} and {len(names) - most} more"

"""Which Events are worth writing. Pure; given the time, in seconds.

1. The same again within ten minutes is not another Event: the count of the first goes up.
2. One RayService gets 25 at once and one every 5 min after that, counts included: the limits of Kubernetes' own clients
   (client-go, ``tools/record/events_cache.go``), so that a fault that repeats does not fill etcd.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

SAME_WITHIN_S = 600.0
BURST = 25
ONE_EVERY_S = 300.0

_MOST_KEPT = 4096
"""How many Events and RayServices are remembered; the oldest are forgotten first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An Event that was written: its name, when first, how often."""

    name: str
    first_s: float
    count: int


@dataclass(slots=True)
class Ledger:
    """What has been written."""

    _entries: OrderedDict[tuple[str, ...], tuple[float, Entry]] = field(default_factory=OrderedDict)
    _allowances: OrderedDict[tuple[str, ...], tuple[float, float]] = field(default_factory=OrderedDict)

    def enter(self, about: tuple[str, ...], text: tuple[str, ...], name: str, now_s: float) -> Entry | None:
        """How to write it: with count 1 as a new Event ``name``, else as another count of an old one; None: not at all.

        ``about`` is the RayService, ``text`` what is said of it.
        """
        if not self._allowed(about, now_s):
            return None
        key = (*about, *text)
        last_s, entry = self._entries.pop(key, (float("-inf"), Entry(name, now_s, 0)))
        if now_s - last_s > SAME_WITHIN_S:
            entry = Entry(name, now_s, 0)
        entry = Entry(entry.name, entry.first_s, entry.count + 1)
        self._entries[key] = (now_s, entry)
        if len(self._entries) > _MOST_KEPT:
            self._entries.popitem(last=False)
        return entry

    def _allowed(self, about: tuple[str, ...], now_s: float) -> bool:
        last_s, left = self._allowances.pop(about, (now_s, float(BURST)))
        left = min(float(BURST), left + (now_s - last_s) / ONE_EVERY_S)
        allowed = left >= 1
        self._allowances[about] = (now_s, left - 1 if allowed else left)
        if len(self._allowances) > _MOST_KEPT:
            self._allowances.popitem(last=False)
        return allowed

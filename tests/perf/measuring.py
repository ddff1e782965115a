"""How it is measured: in rounds, every contender in each, one connection, one request at a time.

The machine is never quiet. So contenders take turns within each round, in another order each time; a figure is the
median of its rounds; a comparison is made within a round and then the median taken; and the spread is shown.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import cycle
from statistics import median, quantiles

from tests.perf.client import Connection, UnexpectedAnswerError
from tests.perf.contenders import DIRECT, HOLDFAST, Started

WARM_UP = 3


class WrongAnswerError(Exception):
    """A contender answered otherwise than 200 while it was measured."""


@dataclass(frozen=True, slots=True)
class Load:
    """How much is asked in one round. A round ends after ``seconds``, with at least two requests made."""

    rounds: int
    requests: int
    seconds: float = 2.0
    pause_s: float = 0.0
    """After each request, so that what is done after the answer delays no other. It counts as CPU time all the same."""


@dataclass(frozen=True, slots=True)
class Round:
    """One contender's turn: the time of each request, and the CPU time that the turn cost the contender."""

    latencies_ms: tuple[float, ...]
    cpu_ms: float

    @property
    def p50_ms(self) -> float:
        return median(self.latencies_ms)

    @property
    def p99_ms(self) -> float:
        return quantiles(self.latencies_ms, n=100, method="inclusive")[98]


@dataclass(frozen=True, slots=True)
class Outcome:
    """All rounds of one contender in one comparison; none if it failed.

    ``note`` says what its answers got wrong, if anything, or why it failed.
    """

    contender: str
    rounds: tuple[Round, ...]
    note: str = ""

    @property
    def p50_ms(self) -> float:
        return median(each.p50_ms for each in self.rounds)

    @property
    def p99_ms(self) -> float:
        return median(each.p99_ms for each in self.rounds)

    @property
    def spread_ms(self) -> tuple[float, float]:
        """The best and the worst round's p50."""
        return min(each.p50_ms for each in self.rounds), max(each.p50_ms for each in self.rounds)

    @property
    def cpu_us(self) -> float:
        """CPU time of the contender's processes, microseconds a request, over all rounds."""
        return 1000 * sum(each.cpu_ms for each in self.rounds) / sum(len(each.latencies_ms) for each in self.rounds)

    def ratio_to(self, other: "Outcome") -> float:
        """How many times ``other``'s p50 this one takes."""
        return median(mine.p50_ms / theirs.p50_ms for mine, theirs in zip(self.rounds, other.rounds, strict=True))

    def above(self, other: "Outcome", percentile: str = "p50_ms") -> float:
        """Milliseconds more than ``other``, at the percentile."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return median(getattr(mine, percentile) - getattr(theirs, percentile) for mine, theirs in pairs)


@dataclass(frozen=True, slots=True)
class Seat:
    """A contender, the connection to it, and what it is asked next."""

    contender: Started
    connection: Connection
    requests: Iterator[bytes]


def interleave(
    contenders: Sequence[Started], requests: Sequence[bytes], load: Load, notes: dict[str, str] | None = None
) -> list[Outcome]:
    """Put the same ``requests``, over and over, to every contender. A peer that fails is asked no more.

    Raises: WrongAnswerError when Holdfast, or Ray's stand-in itself, answers otherwise than 200.
    """
    rounds: dict[str, list[Round]] = {contender.name: [] for contender in contenders}
    said = dict(notes or {})
    with ExitStack() as stack:
        seats = [Seat(each, stack.enter_context(Connection(each.port)), cycle(requests)) for each in contenders]
        warm_up = replace(load, requests=min(WARM_UP, load.requests))
        for load_of_round in [warm_up] + [load] * load.rounds:
            for seat in list(seats):
                name = seat.contender.name
                try:
                    rounds[name].append(_turn(seat, load_of_round))
                except WrongAnswerError as error:
                    if name in (HOLDFAST, DIRECT):
                        raise
                    said[name], rounds[name] = f"FAILED: {error}", []
                    seats.remove(seat)
            seats = seats[1:] + seats[:1]
    return [Outcome(name, tuple(taken[1:]), said.get(name, "")) for name, taken in rounds.items()]


def _turn(seat: Seat, load: Load) -> Round:
    group = seat.contender.group
    cpu_before = group.cpu_ms() if group else 0.0
    latencies: list[float] = []
    begun = time.perf_counter()
    while len(latencies) < load.requests:
        asked = time.perf_counter()
        _ask(seat)
        done = time.perf_counter()
        latencies.append((done - asked) * 1000)
        if load.pause_s:
            time.sleep(load.pause_s)
        if done - begun > load.seconds and len(latencies) > 1:
            break
    cpu_after = group.cpu_ms() if group else 0.0
    return Round(tuple(latencies), cpu_after - cpu_before)


def _ask(seat: Seat) -> None:
    name = seat.contender.name
    try:
        answer = seat.connection.ask(next(seat.requests))
    except (OSError, UnexpectedAnswerError) as error:
        raise WrongAnswerError(f"{name}: {error}") from error
    if answer.status != 200:
        raise WrongAnswerError(f"{name} answered {answer.status}: {bytes(answer.body[:300])!r}")

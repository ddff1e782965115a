"""`python -m tests.perf`: what the proxy costs, beside doing without it and beside what one would write instead.

Everything runs on this machine in one go, so that ratios mean something: a stand-in for Ray's dashboard, Holdfast, and
its peers, all on loopback, all ended at the end. Prints tables; writes `build/perf.json`. No figure makes it fail.
"""

import argparse
import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.perf import bars, report
from tests.perf.contenders import START, Ground, answers
from tests.perf.footprint import polling, starts, uploads
from tests.perf.measuring import Load, WrongAnswerError
from tests.perf.processes import DidNotStartError, Group, free_port
from tests.perf.report import Results
from tests.perf.serve import get_filter, put_merge, small_requests


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything: the whole report, or a quick look. The keys are numbers of applications."""

    small: Load
    half: dict[int, Load]
    every: dict[int, Load]
    put: dict[int, Load]
    put_many: dict[int, Load]
    starts: int
    polling_s: float
    upload_mb: int
    uploads: int


WHOLE = Plan(
    small=Load(rounds=9, requests=400),
    half={10: Load(7, 100), 100: Load(7, 60), 1_000: Load(7, 20), 10_000: Load(5, 5)},
    every={10: Load(7, 100), 100: Load(7, 60), 1_000: Load(7, 20), 10_000: Load(5, 5)},
    put={10: Load(7, 20), 100: Load(7, 15), 1_000: Load(7, 8), 10_000: Load(5, 3)},
    put_many={100: Load(5, 10), 1_000: Load(5, 4), 10_000: Load(3, 2)},
    starts=5,
    polling_s=30,
    upload_mb=500,
    uploads=3,
)
QUICK = Plan(
    small=Load(rounds=5, requests=200),
    half={10: Load(3, 50), 100: Load(3, 20), 1_000: Load(5, 8), 10_000: Load(2, 2)},
    every={1_000: Load(5, 8)},
    put={10: Load(3, 10), 1_000: Load(3, 5)},
    put_many={1_000: Load(3, 3)},
    starts=2,
    polling_s=8,
    upload_mb=500,
    uploads=1,
)


SCENARIOS: dict[str, Callable[[Ground, Plan], Results]] = {
    "small": lambda ground, plan: Results(comparisons=small_requests(ground, plan.small)),
    "half": lambda ground, plan: Results(comparisons=get_filter(ground, plan.half, all_declared=False)),
    "all": lambda ground, plan: Results(comparisons=get_filter(ground, plan.every, all_declared=True)),
    "put": lambda ground, plan: Results(comparisons=put_merge(ground, plan.put)),
    "put-many": lambda ground, plan: Results(comparisons=put_merge(ground, plan.put_many, declared=None)),
    "start": lambda ground, plan: Results(starts=starts(ground, plan.starts)),
    "poll": lambda ground, plan: Results(polled=polling(ground, plan.polling_s)),
    "upload": lambda ground, plan: Results(uploaded=uploads(ground, plan.upload_mb, plan.uploads)),
}


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds: about a minute")
    parser.add_argument("--only", nargs="+", default=[], choices=START, metavar="NAME", help=", ".join(START))
    parser.add_argument("--scenario", nargs="+", default=list(SCENARIOS), choices=SCENARIOS)
    parser.add_argument("--mitmdump", type=Path, default=Path("/nonexistent/mitmdump"), help="mitmproxy's program")
    parser.add_argument("--out", type=Path, default=Path("build/perf.json"))
    return parser.parse_args()


@contextmanager
def prepared(chosen: argparse.Namespace) -> Iterator[Ground]:
    """The stand-in runs; its port and an empty folder are what the contenders stand on."""
    with TemporaryDirectory(prefix="holdfast-perf-") as folder:
        port = free_port()
        upstream = Group([sys.executable, "-m", "tests.perf.upstream", str(port)], Path(folder) / "upstream.log")
        try:
            upstream.wait_until(lambda: answers(port))
            yield Ground(port, Path(folder), chosen.mitmdump, frozenset(chosen.only))
        finally:
            upstream.stop()


def main() -> int:
    """Run the scenarios one after the other; the exit status tells only whether the run came to its end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended from outside"))
    chosen = options()
    plan, results, begun = QUICK if chosen.quick else WHOLE, Results(), time.monotonic()
    where = report.machine()
    print(f"{where['cores']} cores ({where['cpu']}), load {where['load_average'][0]:.1f}, Python {where['python']}")
    try:
        with prepared(chosen) as ground:
            for name in chosen.scenario:
                found = SCENARIOS[name](ground, plan)
                print(report.tables(found), flush=True)
                results += found
    except (DidNotStartError, WrongAnswerError) as reason:
        print(f"\nstopped: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    _conclude(results, ground, where, chosen.out)
    print(f"\n{time.monotonic() - begun:.0f} s; all figures in {chosen.out}")
    return 0


def _conclude(results: Results, ground: Ground, where: dict, out: Path) -> None:
    found = bars.bars(results)
    for name, reason in ground.absent.items():
        print(f"\nleft out: {name}: {reason}")
    print(bars.table(found))
    text = {"machine": where, "absent": ground.absent, "bars": [asdict(bar) | {"holds": bar.holds} for bar in found]}
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(text | report.as_json(results), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

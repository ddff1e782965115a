"""`python -m tests.cluster`: the users' stories on real KubeRay and real Ray.

With ``KUBECONFIG`` set they run on that cluster; without, on a node of this machine: one that is up already, or one
that is started for them and stopped after.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.cluster import installation, pages
from tests.cluster.node import images, lifecycle
from tests.cluster.node.errors import CannotRunHereError
from tests.cluster.node.paths import KUBECONFIG, REPOSITORY
from tests.cluster.operators import UPGRADE_TO, Operator
from tests.cluster.pairs import Pair

BASELINE_PAIRS = "1.0.0x2.9.3 1.2.2x2.9.3 1.4.2x2.40.0 1.5.1x2.52.1 1.6.2x2.60.0"
_LONGEST_S = 3 * 3600


def main() -> int:
    """Exit code 0 if every story came out as expected, else 1."""
    options = _options()
    pairs = [Pair.parse(each) for each in options.pairs.split()]
    # Ended from outside, we still stop the node: an exception passes through `finally`, a signal does not.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with _cluster(keep=options.keep) as own_node:
            failed = [pair for pair in pairs if not _tell_all(pair, options, own_node=own_node)]
    except CannotRunHereError as error:
        lifecycle.say(str(error))
        return 1
    if options.pages:
        pages.write()
    lifecycle.say(f"pairs told: {len(pairs)}, with a story that came out otherwise: {len(failed)}")
    return 1 if failed else 0


@contextlib.contextmanager
def _cluster(*, keep: bool) -> Iterator[bool]:
    """A cluster to tell stories on; whether it is a node of ours. A node that was up before stays up."""
    if os.environ.get("KUBECONFIG"):
        yield False
        return
    started = lifecycle.up()
    os.environ["KUBECONFIG"] = str(KUBECONFIG)
    try:
        yield True
    finally:
        if started and not keep:
            lifecycle.down()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--pairs", default=BASELINE_PAIRS, help="KubeRay x Ray, for example '1.6.2x2.60.0'")
    parser.add_argument(
        "--core", action="store_true", help="only the stories marked as core, without Holdfast and with"
    )
    parser.add_argument(
        "--pages", action="store_true", help="write docs/baseline.md and compatibility.md from all records"
    )
    parser.add_argument("--holdfast", action="store_true", help="install Holdfast, and expect what it promises")
    parser.add_argument(
        "--walkthroughs",
        action="store_true",
        help="no stories: the pages whose readers type along",
    )
    parser.add_argument("--long", action="store_true", help="also stories that take a quarter of an hour")
    parser.add_argument("--seen", action="store_true", help="also stories that take a browser and a Prometheus")
    parser.add_argument("--keep", action="store_true", help="leave the node up")
    parser.add_argument("-k", dest="only", default="", help="stories whose name matches, as pytest has it")
    return parser.parse_args()


def _tell_all(pair: Pair, options: argparse.Namespace, *, own_node: bool) -> bool:
    """All chosen stories with one pair; whether they came out as expected.

    The core is told both ways: first the bug has to show, then it has to be gone.
    """
    ways = (False, True) if options.core else (options.holdfast,)
    came_out = [_tell(pair, options, own_node=own_node, holdfast=holdfast) for holdfast in ways]
    return all(came_out)


def _tell(pair: Pair, options: argparse.Namespace, *, own_node: bool, holdfast: bool) -> bool:
    started, told_of = time.monotonic(), f"{pair}, {'with' if holdfast else 'without'} Holdfast"
    if own_node:
        for image in _images(pair, holdfast=holdfast):
            images.load(image)
    asyncio.run(_install(pair, holdfast=holdfast))
    lifecycle.say(f"{told_of}: ready after {time.monotonic() - started:.0f} s")
    folder = f"tests/cluster/{'walkthroughs' if options.walkthroughs else 'stories'}"
    command = [sys.executable, "-m", "pytest", folder, f"--pair={pair}", "-v", "--durations=0"]
    command += ["-m", "core or core_with_holdfast" if holdfast else "core"] if options.core else []
    command += ["-k", options.only] if options.only else []
    command += ["--holdfast"] if holdfast else []
    command += [f"--{asked}" for asked in ("long", "seen") if getattr(options, asked)]
    told = subprocess.run(command, cwd=REPOSITORY, check=False, timeout=_LONGEST_S)
    lifecycle.say(f"{told_of}: told in {time.monotonic() - started:.0f} s")
    return told.returncode == 0


async def _install(pair: Pair, *, holdfast: bool) -> None:
    await Operator(pair.kuberay).install()
    if holdfast:
        await installation.install()
    elif await installation.is_there():  # of the pair before
        await installation.uninstall()


def _images(pair: Pair, *, holdfast: bool) -> list[images.Image | images.HoldfastImage]:
    operators = [images.operator(str(version)) for version in sorted({pair.kuberay, UPGRADE_TO})]
    ours = [images.HOLDFAST] if holdfast else []
    return [images.ray(str(pair.ray)), images.REDIS, *operators, *ours]


if __name__ == "__main__":
    sys.exit(main())

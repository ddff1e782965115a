"""How transparent is a proxy? Plays every case through it and prints what did not hold, and the score.

``python -m tests.differential [-v]``                                 ours, and two peers beside it
``python -m tests.differential --through PORT --upstream PORT [-v]``  any proxy that forwards the one port to the other
"""

from __future__ import annotations

import argparse
import asyncio

from tests.differential.cases import CASES
from tests.differential.play import differences
from tests.differential.proxies import running

PATIENCE_S = 3.0
REFUSED_WITHIN_S = 1.0
"""Shorter than in the tests: many a case comes to a standstill in a proxy that is not transparent."""


async def score(name: str, port: int, upstream_port: int, *, verbose: bool):
    held = 0
    for title, case in CASES.items():
        faults = await differences(case, port, upstream_port, PATIENCE_S if case.refused is None else REFUSED_WITHIN_S)
        held += not faults
        if faults and verbose:
            print(f"  {title}")
            for fault in faults:
                print(f"      {fault}")
    print(f"{name}: {held} of {len(CASES)} cases hold", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--through", type=int, help="the port of the proxy")
    parser.add_argument("--upstream", type=int, help="the port that it forwards to, on this machine")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what did not hold")
    options = parser.parse_args()
    if options.through is not None:
        asyncio.run(score("the proxy", options.through, options.upstream, verbose=options.verbose))
        return
    for kind, title in (("relay", "Holdfast's relay"), ("tcp", "a TCP forwarder"), ("naive", "a naive aiohttp proxy")):
        with running("tests.differential.peers", "--kind", kind) as proxy:
            asyncio.run(score(title, proxy.port, proxy.upstream_port, verbose=options.verbose))


if __name__ == "__main__":
    main()

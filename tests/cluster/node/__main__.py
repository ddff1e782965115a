"""`python -m tests.cluster.node up|down|status|build`: a Kubernetes node on this machine, without Docker."""

import argparse
import sys

from tests.cluster.node import lifecycle, machine, programs
from tests.cluster.node.errors import CannotRunHereError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.node", description=__doc__)
    parser.add_argument("action", choices=("build", "up", "down", "status"))
    action = parser.parse_args().action
    try:
        if action == "status":
            return lifecycle.status()
        if action == "build":
            machine.install_packages()
            programs.build((*programs.NODE, *programs.OPERATORS.values()))
        else:
            lifecycle.up() if action == "up" else lifecycle.down()
    except CannotRunHereError as error:
        lifecycle.say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

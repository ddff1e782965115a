"""The tiny Serve application of `holdfast demo`, and, as a program, what a team does inside the cluster: `serve.run`.

The program's one argument is the application's entry in a Serve config, as JSON.
"""

import json
import sys
from pathlib import Path
from typing import TypedDict

import ray
from ray import serve


class Args(TypedDict):
    """`args` of the application in a Serve config."""

    says: str
    weights: str


class Greeter:
    """Answers every request with the same words."""

    def __init__(self, says: str) -> None:
        self._says = says

    async def __call__(self) -> str:
        """The words."""
        return self._says


def application(args: Args) -> serve.Application:
    """Build one.

    Raises:
        FileNotFoundError: it needs weights, and they are not there.
    """
    if args["weights"]:
        Path(args["weights"]).read_bytes()
    deployment = serve.deployment(Greeter, num_replicas=1, ray_actor_options={"num_cpus": 0.01})
    return deployment.bind(args["says"])


if __name__ == "__main__":
    config = json.loads(sys.argv[1])
    ray.init(log_to_driver=False)
    serve.run(application(config["args"]), name=config["name"], route_prefix=config["route_prefix"])

"""The applications of the scenarios, run by real Ray. The fake knows what becomes of each by its name.

`absent` is not here: importing it fails. Deployments cost no CPU to schedule and shut down at once.
"""

import time

from ray import serve

LONG_S = 60
"""Longer than any scenario looks."""
QUICK = {"ray_actor_options": {"num_cpus": 0}, "graceful_shutdown_wait_loop_s": 0.1, "graceful_shutdown_timeout_s": 1}


@serve.deployment(**QUICK)
class Echo:
    """Runs."""

    def reconfigure(self, config):
        self.config = config

    def __call__(self, _request):
        return "here"


@serve.deployment(**QUICK)
class Broken:
    """Fails in its constructor: DEPLOY_FAILED after three tries."""

    def __init__(self):
        raise RuntimeError("this model has no weights")


@serve.deployment(**QUICK)
class Slow:
    """Starts, and is never ready."""

    def __init__(self):
        time.sleep(LONG_S)


def echo(_args: dict):
    return Echo.bind()


def broken(_args: dict):
    return Broken.bind()


def never_ready(_args: dict):
    return Slow.bind()


def never_built(_args: dict):
    time.sleep(LONG_S)
    return Echo.bind()

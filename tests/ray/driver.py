"""What a team does inside the cluster, kept at hand: a driver that takes one JSON command a line and answers on one.

Runs in Ray's environment. Starting a driver costs seconds, so one serves a whole session.
"""

import json
import sys

import ray
import served
from ray import serve

CONTROLLER = "SERVE_CONTROLLER_ACTOR"


def start(port):
    serve.start(http_options={"host": "127.0.0.1", "port": port})


def run(name, builder, port):
    start(port)
    serve.run(getattr(served, builder)({}), name=name, route_prefix=f"/{name}")


def kill_controller():
    ray.kill(ray.get_actor(CONTROLLER, namespace="serve"), no_restart=False)


COMMANDS = {"start": start, "run": run, "delete": serve.delete, "kill_controller": kill_controller}


def main():
    ray.init(logging_level="ERROR", log_to_driver=False)
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        try:
            COMMANDS[command](*arguments)
            answer = "done"
        except Exception as error:  # noqa: BLE001 - told to the other side
            answer = f"{type(error).__name__}: {error}"
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()

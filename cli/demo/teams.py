"""How a team gets its one application into Ray Serve over REST, without Holdfast and with it."""

from __future__ import annotations

import json
from http import HTTPStatus

from cli.demo.observe import DELETING
from cli.demo.story import Application
from cli.demo.wire import Reply, exchange, host

TIMEOUT_S = 60.0
"""Ray may take long on a busy machine, and carries a PUT out even if nobody waits."""
SERVE = "/api/serve/applications/"


class FailedError(Exception):
    """A team's request was not answered with 2xx; the text says what was answered."""


class RefusedError(FailedError):
    """It was answered 409: it would have done damage."""


def with_the_whole_list(url: str, application: Application) -> None:
    """Without Holdfast: read everything Ray has a config for, and send it back with this application in it.

    Raises:
        FailedError: Ray answered with something else than 2xx.
        NoAnswerError: nobody answered.
    """
    running = json.loads(_send(url, "GET", SERVE).body)["applications"]
    configs = {
        name: there["deployed_app_config"]
        for name, there in running.items()
        if there["deployed_app_config"] and there["status"] != DELETING
    }
    configs[application.name] = application.config()
    _send(url, "PUT", SERVE, {"applications": list(configs.values())})


def by_itself(url: str, application: Application) -> None:
    """With Holdfast: send this application.

    Raises:
        FailedError: Holdfast answered with something else than 2xx; RefusedError if with 409.
        NoAnswerError: nobody answered.
    """
    _send(url, "PUT", f"/-/applications/{application.name}", application.config())


def shut_serve_down(url: str) -> None:
    """End Serve and every application on it, and forget their configs."""
    _send(url, "DELETE", SERVE)


def _send(url: str, method: str, target: str, config: object = None) -> Reply:
    body = None if config is None else json.dumps(config).encode()
    headers = [("Host", host(url)), ("User-Agent", "holdfast-demo")]
    if body is not None:
        headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
    answer = exchange(url, method, target, headers=headers, body=body, timeout_s=TIMEOUT_S)
    if not answer.ok:
        failure = RefusedError if answer.status == HTTPStatus.CONFLICT else FailedError
        raise failure(f"{method} {target} was answered {answer.status}: {answer.text}")
    return answer

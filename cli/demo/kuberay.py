"""KubeRay's part: what the operator of KubeRay 1.6 asks of Ray for one RayService, and what it concludes.

The rules are those of v1.6.2 (`rayservice_controller.go`, `dashboard_httpclient.go` under `controllers/ray/`):

* A reconcile GETs, then PUTs if it must, and judges by that earlier GET. The next one is due 2 s after it, at once when
  the RayService changes, and after a failure in 5 ms, doubled with each failure in a row (the default rate limiter of
  controller-runtime).
* It PUTs when it remembers no config for this cluster (first time, operator restart), when what it remembers is not
  `spec.serveConfigV2`, or when the GET showed no application. It remembers a config only after a 2xx.
* The RayService is ready (its first start ends, an upgrade switches to this cluster) when the GET showed an
  application, and all that it showed are RUNNING.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from cli.demo.observe import RUNNING, statuses
from cli.demo.wire import NoAnswerError, Reply, exchange, host

RECONCILE_S = 2.0
FIRST_RETRY_S = 0.005
LAST_RETRY_S = 1000.0
TIMEOUT_S = 2.0
GET_TARGET = "/api/serve/applications/?api_type=declarative"
PUT_TARGET = "/api/serve/applications/"


@dataclass(frozen=True, slots=True)
class Operator:
    """What is known of the operator after a reconcile."""

    remembered: str | None = None
    shown: Mapping[str, str] = field(default_factory=dict)
    """The status of each application in the last answer to its GET."""
    looked_s: float = 0.0
    """When the last GET that was answered with 200 began, on the clock of `time.monotonic`."""
    puts: int = 0
    """How many of its PUTs got a 2xx."""
    trouble: str = ""
    """Why the last reconcile failed. Empty if it did not."""
    refused: bool = False
    """Whether it failed because its PUT was answered 4xx."""
    failures: int = 0
    """How many reconciles in a row have failed."""

    @property
    def ready(self) -> bool:
        """Whether a first start or an upgrade of the RayService would finish now."""
        return bool(self.shown) and all(status == RUNNING for status in self.shown.values())

    @property
    def stuck(self) -> bool:
        """Whether it is not ready, or cannot bring about what the RayService declares."""
        return self.refused or not self.ready

    def next_s(self, reconcile_s: float) -> float:
        """Seconds until the next reconcile, if nothing changes: `reconcile_s`, or less or more after failures."""
        if not self.failures:
            return reconcile_s
        return min(FIRST_RETRY_S * 2.0 ** (self.failures - 1), LAST_RETRY_S)

    def must_put(self, serve_config_v2: str) -> bool:
        """Whether this reconcile sends the config, given what its GET showed."""
        return self.remembered != serve_config_v2 or not self.shown

    def restarted(self) -> Operator:
        """A new operator, of which only the demo knows that it is not the first."""
        return replace(self, remembered=None, failures=0)

    def failed(self, trouble: str, *, refused: bool = False) -> Operator:
        """The reconcile failed. It goes on record, and the next one waits longer."""
        return replace(self, trouble=trouble, refused=refused, failures=self.failures + 1)


def wire_body(serve_config_v2: str) -> bytes:
    """The body of the PUT, as Go's `json.Marshal` writes a map: compact, keys sorted, `<`, `>` and `&` escaped."""
    text = json.dumps(json.loads(serve_config_v2), separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode()


def reconcile(operator: Operator, url: str, serve_config_v2: str) -> Operator:
    """One reconcile of the RayService against the Serve REST API at `url`. A failure is told in `trouble`."""
    began_s = time.monotonic()
    try:
        answer = _get(url)
        if not answer.ok:
            return operator.failed(f"its GET was answered {answer.status}: {answer.text}")
        operator = replace(operator, shown=statuses(answer.body), looked_s=began_s)
        if operator.must_put(serve_config_v2):
            answer = _put(url, wire_body(serve_config_v2))
            if not answer.ok:
                refused = 400 <= answer.status < 500  # noqa: PLR2004 - RFC 9110, 15.5
                return operator.failed(f"its PUT was answered {answer.status}: {answer.text}", refused=refused)
            operator = replace(operator, remembered=serve_config_v2, puts=operator.puts + 1)
    except (NoAnswerError, ValueError) as error:
        return operator.failed(str(error))
    return replace(operator, trouble="", refused=False, failures=0)


def _get(url: str) -> Reply:
    headers = (("Host", host(url)), ("User-Agent", "Go-http-client/1.1"), ("Accept-Encoding", "gzip"))
    return exchange(url, "GET", GET_TARGET, headers=headers, timeout_s=TIMEOUT_S)


def _put(url: str, body: bytes) -> Reply:
    headers = (
        ("Host", host(url)),
        ("User-Agent", "Go-http-client/1.1"),
        ("Content-Length", str(len(body))),
        ("Content-Type", "application/json"),
        ("Accept-Encoding", "gzip"),
    )
    return exchange(url, "PUT", PUT_TARGET, headers=headers, body=body, timeout_s=TIMEOUT_S)


class KubeRay:
    """The operator at work while entered, in a thread of its own, on one RayService whose cluster answers at `url`."""

    def __init__(self, url: str, reconcile_s: float = RECONCILE_S) -> None:
        self._url = url
        self._reconcile_s = reconcile_s
        self._operator = Operator()
        self._serve_config_v2: str | None = None
        self._changed = threading.Condition()
        self._wanted = False
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="kuberay", daemon=True)

    @property
    def operator(self) -> Operator:
        """What is known of the operator after its last reconcile."""
        return self._operator

    def apply(self, serve_config_v2: str) -> None:
        """`kubectl apply`: from now on the RayService's spec is this (JSON, which is YAML). Reconciled at once."""
        with self._changed:
            self._serve_config_v2 = serve_config_v2
            self._wake()

    def restart(self) -> None:
        """Replace the operator by a new one that remembers nothing. It reconciles at once."""
        with self._changed:
            self._operator = self._operator.restarted()
            self._wake()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._stopping = True
            self._wake()
        if kind is None:  # else what it talks to is about to be ended, and nobody wants to wait for its last request
            self._thread.join()

    def _wake(self) -> None:
        self._wanted = True
        self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted, timeout=self._operator.next_s(self._reconcile_s))
                self._wanted = False
                if self._stopping:
                    return
                spec, before = self._serve_config_v2, self._operator
            if spec is None:
                continue
            after = reconcile(before, self._url, spec)
            with self._changed:
                # A restart meanwhile: what the old operator has just learnt is not the new one's.
                self._operator = after if self._operator is before else after.restarted()

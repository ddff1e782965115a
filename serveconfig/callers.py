"""Who is asking, and so: who answers. One table, read from top to bottom; the first row that fits counts.

KubeRay gives no name on its requests. What gives it away (facts on KubeRay: 1.1-1.3):

* ``api_type=declarative`` in the query: KubeRay 1.5 and newer, on every GET
* a User-Agent of Go's own client: every version, when it calls the head Service directly
* a User-Agent ``kuberay-operator``: 1.1 and newer, when it calls through the API server (``--use-kubernetes-proxy``)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from urllib.parse import parse_qsl

SERVE_PATH = "/api/serve/applications/"
OWN_PREFIX = "/-/"

VIA_API_SERVER = "kuberay-operator"
KUBERAY_USER_AGENTS = ("Go-http-client/", VIA_API_SERVER)
"""How the User-Agent of KubeRay may begin."""


BROWSER_MARKS = frozenset(
    (
        "origin",
        "referer",
        "sec-fetch-mode",
        "sec-fetch-dest",
        "sec-fetch-site",
        "sec-fetch-user",
        "access-control-request-method",
        "access-control-request-headers",
    )
)
"""Headers that only a browser sends (Ray 2.51.2+ refuses changes that carry one: its guard against forged requests)."""

BROWSER_USER_AGENT = "Mozilla"


class Caller(StrEnum):
    """Who sends a request. The value is a metric label and a log field: do not rename."""

    KUBERAY = "kuberay"
    OTHER = "other"
    HOLDFAST = "holdfast"  # the sidecar itself: what it carries over


class Handling(StrEnum):
    """What is done with a request. The value is a metric label and a log field: do not rename."""

    VIEW = "view"  # KubeRay's GET: filtered
    DECLARE = "declare"  # KubeRay's PUT: merged with what must be kept
    UPSERT = "upsert"  # anyone else's PUT: adds to what runs
    SHUTDOWN = "shutdown"  # anyone else's DELETE, which is serve.shutdown(): refused without ?force=true
    OWN = "own"  # Holdfast's own routes
    PASS = "pass"  # noqa: S105 - no password: everything else goes to Ray as it came


_ANY = "*"
_TABLE: tuple[tuple[str, str, str, Handling], ...] = (
    # method    path                caller          is
    (_ANY, OWN_PREFIX, _ANY, Handling.OWN),
    ("GET", SERVE_PATH, Caller.KUBERAY, Handling.VIEW),
    ("PUT", SERVE_PATH, Caller.KUBERAY, Handling.DECLARE),
    ("PUT", SERVE_PATH, Caller.OTHER, Handling.UPSERT),
    ("DELETE", SERVE_PATH, Caller.OTHER, Handling.SHUTDOWN),
    (_ANY, _ANY, _ANY, Handling.PASS),
)


def caller(query: str, user_agent: str, agents: Sequence[str] = KUBERAY_USER_AGENTS) -> Caller:
    """Who sends a request with this raw query string (no ``?``) and this User-Agent (empty if there is none)."""
    if first(query, "api_type").lower() == "declarative" or user_agent.startswith(tuple(agents)):
        return Caller.KUBERAY
    return Caller.OTHER


def is_browser(header_names: Iterable[str], user_agent: str) -> bool:
    """Does a request come from a web page? ``header_names`` in lower case."""
    return user_agent.startswith(BROWSER_USER_AGENT) or not BROWSER_MARKS.isdisjoint(header_names)


def handling(method: str, path: str, query: str, who: Caller) -> Handling:
    """What is done with a request. ``path`` is percent-decoded as Ray's router does it, so no spelling gets round."""
    row = next(
        row_handling
        for row_method, row_path, row_caller, row_handling in _TABLE
        if row_method in (_ANY, method) and row_caller in (_ANY, who) and _fits(path, row_path)
    )
    is_meant = row is Handling.SHUTDOWN and first(query, "force").lower() == "true"
    return Handling.PASS if is_meant else row


def first(query: str, key: str) -> str:
    """The first value of a query parameter (Ray, too, takes the first), or an empty text."""
    return next((value for name, value in parse_qsl(query, keep_blank_values=True) if name == key), "")


def _fits(path: str, pattern: str) -> bool:
    return pattern in (_ANY, path) or (pattern == OWN_PREFIX and path.startswith(pattern))

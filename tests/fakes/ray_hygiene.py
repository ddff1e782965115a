"""Whom Ray's dashboard turns away before it looks at what is asked: browsers, the nameless, those without a token."""

from collections.abc import Mapping
from typing import Protocol

from tests.fakes.ray_config import Refusal
from tests.fakes.ray_versions import RayVersion

BROWSER_MARKS = (
    "Origin",
    "Referer",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Dest",
    "Sec-Fetch-Site",
    "Sec-Fetch-User",
    "Access-Control-Request-Method",
    "Access-Control-Request-Headers",
)
OPEN_PATHS = ("/", "/favicon.ico", "/api/authentication_mode", "/api/authenticate", "/api/gcs_healthz")
GOT_ITSELF_IN_TROUBLE = "500 Internal Server Error\n\nServer got itself in trouble"


class Request(Protocol):
    """What of a request decides."""

    method: str
    path: str
    headers: Mapping[str, str]
    cookies: Mapping[str, str]


def turned_away(version: RayVersion, request: Request, token: str) -> Refusal | None:
    """The answer of the outermost layers, or None if the request goes on. An empty `token`: none is needed."""
    headers = request.headers
    if "User-Agent" not in headers and not version.has("a missing User-Agent is fine"):
        return Refusal(500, GOT_ITSELF_IN_TROUBLE)
    if token and version.has("tokens") and request.path not in OPEN_PATHS:
        no = unauthorized(headers, request.cookies, token)
        if no is not None:
            return no
    return not_for_browsers(version, request.method) if is_browser(version, headers) else None


def unauthorized(headers: Mapping[str, str], cookies: Mapping[str, str], token: str) -> Refusal | None:
    """The first credential that is not empty decides."""
    cookie = cookies.get("ray-authentication-token")
    offered = (headers.get("Authorization"), headers.get("x-ray-authorization"), cookie and f"Bearer {cookie}")
    given = next((one for one in offered if one), None)
    if given is None:
        return Refusal(401, "Unauthorized: Missing authentication token")
    return None if given == f"Bearer {token}" else Refusal(403, "Forbidden: Invalid authentication token")


def is_browser(version: RayVersion, headers: Mapping[str, str]) -> bool:
    if headers.get("User-Agent", "").startswith("Mozilla"):
        return True
    return version.has("Origin and the like mark a browser") and any(mark in headers for mark in BROWSER_MARKS)


def not_for_browsers(version: RayVersion, method: str) -> Refusal | None:
    if version.has("browsers may only read"):
        allowed = method in {"GET", "HEAD", "OPTIONS"}
        return None if allowed else Refusal(405, f"'{method}' method not allowed for browser traffic.")
    return Refusal(405, "Method Not Allowed for browser traffic.") if method in {"POST", "PUT"} else None

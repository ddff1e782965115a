"""The page as it is sent. What it looks like, and does, in a browser: tests/page."""

import hashlib
import re
from base64 import b64encode

import pytest

from proxy.app import Sidecar
from proxy.page.document import SCRIPT_HERE, STYLE_HERE, Page
from proxy.settings import Settings
from serveconfig.errors import UnknownStateError
from tests.doubles import PlayedRay, PlayedRequest

PAGE = Page.read()
HEADERS = dict(PAGE.headers)


@pytest.fixture
def ask(tmp_path):
    sidecar, ray = Sidecar.create(Settings(state_dir=str(tmp_path)), "test"), PlayedRay()
    ray.down = UnknownStateError("down")

    async def ask(method, target="/-/"):
        request = PlayedRequest(method, target, Sec_Fetch_Mode="navigate", User_Agent="Mozilla/5.0")
        return await sidecar.route(ray, request.head)(request)

    return ask


async def test_the_page_is_there_without_ray(ask):
    answer = await ask("GET")

    assert (answer.status, b"".join(answer.body)) == (200, PAGE.body)
    assert dict(answer.headers)[b"Content-Type"] == b"text/html; charset=utf-8"


async def test_head_is_answered_like_get(ask):
    assert await ask("HEAD") == await ask("GET")


async def test_nobody_else_may_change_the_page(ask):
    answer = await ask("PUT")

    assert (answer.status, dict(answer.headers)[b"Allow"]) == (405, b"GET, HEAD")


@pytest.mark.parametrize("tag", ["style", "script"])
def test_g12_the_policy_allows_what_is_in_the_page_and_nothing_else(tag):
    (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), PAGE.body, re.DOTALL)
    digest = b64encode(hashlib.sha256(inside).digest()).decode()

    policy = dict(each.split(" ", 1) for each in HEADERS[b"Content-Security-Policy"].decode().split("; "))

    assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    assert (policy["default-src"], policy["connect-src"], policy["frame-ancestors"]) == ("'none'", "'self'", "'none'")
    assert (policy["base-uri"], policy["form-action"], policy["img-src"]) == ("'none'", "'none'", "data:")


def test_g12_the_page_is_not_kept_not_guessed_at_and_tells_nobody_where_it_was():
    assert HEADERS[b"Cache-Control"] == b"no-store"
    assert HEADERS[b"X-Content-Type-Options"] == b"nosniff"
    assert HEADERS[b"Referrer-Policy"] == b"no-referrer"


def test_every_address_in_the_page_is_relative():
    """So it works below any path."""
    addresses = re.findall(rb'(?:href|src|action)="([^"]*)"', PAGE.body) + re.findall(
        rb"fetch\(\"([^\"]*)\"", PAGE.body
    )

    assert {each for each in addresses if not re.match(rb"(data:|#|[a-z.]+/?$)", each)} == set()
    assert b"status" in addresses


def test_the_page_is_whole_and_small():
    assert STYLE_HERE not in PAGE.body
    assert SCRIPT_HERE not in PAGE.body
    assert len(PAGE.body) < 30_000


def test_nothing_in_the_page_is_read_as_markup():
    """Names of applications are other people's text."""
    forbidden = re.compile(rb"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(|\.style\b")

    assert forbidden.findall(PAGE.body) == []

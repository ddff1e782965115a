"""The path that decides who answers is the path that Ray's router will see."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from yarl import URL

from proxy.http.path import path_and_query

SPELLINGS = {
    "plain": (b"/api/serve/applications/", "/api/serve/applications/", b""),
    "with a query": (b"/a?b=c&d", "/a", b"b=c&d"),
    "with a lone question mark": (b"/a?", "/a", b""),
    "with two question marks": (b"/a?b?c", "/a", b"b?c"),
    "with a fragment": (b"/a#b", "/a", b""),
    "with a fragment before the query": (b"/a#b?c", "/a", b""),
    "with a fragment after the query": (b"/a?b#c", "/a", b"b"),
    "an escaped letter": (b"/api/serve/%61pplications/", "/api/serve/applications/", b""),
    "an escaped letter in lower-case hexadecimal": (b"/%6a", "/j", b""),
    "everything escaped": (b"/%61%70%69", "/api", b""),
    "an escaped slash stays": (b"/a%2Fb%2fc", "/a%2Fb%2Fc", b""),
    "an escaped percent sign stays": (b"/a%2561", "/a%2561", b""),
    "an escaped question mark is part of the path": (b"/a%3Fb", "/a?b", b""),
    "a percent sign that escapes nothing": (b"/100%/%zz/%6", "/100%/%zz/%6", b""),
    "escapes that are UTF-8": (b"/caf%C3%A9", "/caf\u00e9", b""),
    "escapes that are not": (b"/caf%E9/%C3", "/caf%E9/%C3", b""),
    "an overlong slash is no slash": (b"/a%C0%AFb", "/a%C0%AFb", b""),
    "raw UTF-8": ("/café".encode(), "/caf\u00e9", b""),
    "raw bytes that are not": (b"/caf\xe9", "/caf\udce9", b""),
    "dot segments stay": (b"/a/../b/./c", "/a/../b/./c", b""),
    "slashes are not merged": (b"//a//b", "//a//b", b""),
    "absolute": (b"http://ray:8265/a?b", "/a", b"b"),
    "absolute without a path": (b"http://ray", "/", b""),
    "absolute with a query only": (b"http://ray?a", "/", b"a"),
    "absolute with a query that holds a path": (b"http://ray?/api", "/", b"/api"),
    "absolute with another scheme": (b"x+y-1.z://ray/a", "/a", b""),
    "absolute in capitals": (b"HTTP://RAY/a", "/a", b""),
    "absolute without an authority": (b"http:/a", "/a", b""),
    "absolute with an empty authority": (b"http:///a", "/a", b""),
    "absolute and escaped": (b"http://ray/%61", "/a", b""),
    "the asterisk": (b"*", "*", b""),
    "an authority": (b"ray:8265", "8265", b""),
    "neither": (b"@a", "@a", b""),
}


@pytest.mark.parametrize(("target", "path", "query"), SPELLINGS.values(), ids=SPELLINGS.keys())
def test_g9_a_path_is_read_as_ray_reads_it(target, path, query):
    assert (path, query) == path_and_query(target)


@settings(max_examples=50)
@given(st.from_regex(rb"/([a-c/%.+;~]|%[0-9a-fA-F]{2}|%(2[fF5]|6[1-4]|[cC]3%[aA]9))*", fullmatch=True))
@example(b"/%C3%28")
@example(b"/%E2%82%AC%E2%82")
@example(b"/%ED%A0%80")
def test_g9_an_escaped_path_is_what_yarl_makes_of_it(target):
    """yarl keeps the case of what it does not decode; no route has such bytes, so case is left out of it."""
    expected = URL.build(path=target.decode(), encoded=True).path_safe

    assert expected.upper() == path_and_query(target)[0].upper()


@settings(max_examples=50)
@given(st.from_regex(rb"https?://[a-z]{1,3}(:[0-9]{2})?(/[a-c%6/.]*)?(\?[a-c/?]*)?(#[a-c/?]*)?", fullmatch=True))
def test_g9_an_absolute_target_is_what_yarl_makes_of_it(target):
    url = URL(target.decode(), encoded=True)

    path, query = path_and_query(target)

    assert (url.path_safe.upper(), url.raw_query_string) == (path.upper(), query.decode())

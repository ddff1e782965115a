import gzip
import zlib

import pytest

from proxy.bodies import ConfigTooLargeError, UnsupportedBodyError, read_config
from proxy.http.local import BodyTooLargeError
from tests.doubles import PlayedRequest

BODY = b'{"applications": []}'


@pytest.mark.parametrize(
    ("content_type", "coding", "body"),
    [
        (None, None, BODY),
        ("application/json", None, BODY),
        ("text/plain", "identity", BODY),
        ("application/json; charset=UTF-8", None, BODY),
        ('application/json; charset="utf-8"', None, BODY),
        (None, "gzip", gzip.compress(BODY)),
        (None, "GZIP", gzip.compress(BODY)),
        (None, "deflate", zlib.compress(BODY)),
    ],
)
async def test_a_body_is_read_as_ray_would(content_type, coding, body):
    request = PlayedRequest("PUT", body=body, Content_Type=content_type, Content_Encoding=coding)

    assert await read_config(request, 1000) == BODY


@pytest.mark.parametrize(
    ("content_type", "coding", "body", "reason"),
    [
        ("application/json; charset=utf-16", None, BODY.decode().encode("utf-16"), "charset other than UTF-8"),
        ("application/json; charset=utf-7", None, BODY, "charset other than UTF-8"),
        ("application/json; CHARSET='latin-1'", None, BODY, "charset other than UTF-8"),
        (None, "br", BODY, "neither gzip nor deflate"),
        (None, "gzip, gzip", BODY, "neither gzip nor deflate"),
        (None, "gzip", BODY, "not what its Content-Encoding says"),
        (None, "gzip", gzip.compress(BODY)[:-4], "ends too early"),
        (None, "gzip", gzip.compress(BODY) + b"x", "something follows"),
    ],
)
async def test_g4_what_ray_would_read_otherwise_is_refused(content_type, coding, body, reason):
    request = PlayedRequest("PUT", body=body, Content_Type=content_type, Content_Encoding=coding)

    with pytest.raises(UnsupportedBodyError, match=reason):
        await read_config(request, 1000)


async def test_a_gzip_bomb_is_not_unpacked_beyond_the_limit():
    request = PlayedRequest("PUT", body=gzip.compress(b" " * 10_000_000), Content_Encoding="gzip")

    with pytest.raises(ConfigTooLargeError, match="over 100000 bytes"):
        await read_config(request, 100_000)


async def test_a_body_over_the_limit_says_which_limit():
    class TooLong(PlayedRequest):
        async def read(self, limit):
            raise BodyTooLargeError(limit)

    with pytest.raises(ConfigTooLargeError, match="HOLDFAST_MAX_CONFIG_BYTES"):
        await read_config(TooLong("PUT"), 100)

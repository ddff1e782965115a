"""What can happen to the certificates' Secret: it is deleted, or the certificate in it is over."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from certs.authority import sign
from certs.bundle import Bundle
from certs.place import Place
from certs.renewal import Terms
from tests.cluster.api import Api, ApiError

_PLACE = Place()
_SECRET = f"/api/v1/namespaces/{_PLACE.namespace}/secrets/{_PLACE.secret}"
_PATIENCE_S = 30


async def delete(api: Api) -> float:
    """Delete the Secret; returns the seconds until there is another. Raises: TimeoutError."""
    uid = (await api.get(_SECRET))["metadata"]["uid"]
    await api.delete(_SECRET)
    return await _until(api, lambda secret: secret["metadata"]["uid"] != uid)


async def end(api: Api) -> float:
    """Share a certificate that ended half an hour ago; returns the seconds until there is a good one.

    Raises: TimeoutError.
    """
    shared = Bundle.from_secret((await api.get(_SECRET))["data"])
    then, short = datetime.now(UTC) - timedelta(minutes=30), Terms(serving_life=timedelta(minutes=1))
    over = Bundle(shared.authority, shared.retired_pem, sign(shared.authority, _PLACE.names(), short, then))
    await api.merge(_SECRET, {"data": over.to_secret()})
    return await _until(api, _is_good)


def _is_good(secret: dict[str, Any]) -> bool:
    certificate = Bundle.from_secret(secret["data"]).serving.certificate()
    return certificate.not_valid_after_utc > datetime.now(UTC)


async def _until(api: Api, holds: Callable[[dict[str, Any]], bool]) -> float:
    started = time.monotonic()
    while True:
        with contextlib.suppress(ApiError):  # deleted, and not there again
            if holds(await api.get(_SECRET)):
                return time.monotonic() - started
        if time.monotonic() - started > _PATIENCE_S:
            raise TimeoutError(f"the certificates' Secret was not mended in {_PATIENCE_S} s")
        await asyncio.sleep(0.1)

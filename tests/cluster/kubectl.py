"""kubectl, as a person uses it: for applying, for exec, for logs. What is asked often goes through `api.py` instead."""

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator
from typing import Any

from tests.cluster.node.programs import BY_NAME


class KubectlError(Exception):
    """kubectl said no; the text is its own."""


def program() -> str:
    """The node's kubectl if it has been built, else the one on the PATH."""
    built = BY_NAME["kubectl"].path
    return str(built) if built.exists() else shutil.which("kubectl") or "kubectl"


async def kubectl(*arguments: str, feed: Any = None, timeout_s: float = 120) -> str:
    """Run kubectl against ``KUBECONFIG`` and return what it printed. ``feed`` is a manifest for ``--filename=-``.

    Raises: KubectlError if it fails, TimeoutError after ``timeout_s``.
    """
    process = await asyncio.create_subprocess_exec(
        program(),
        *arguments,
        stdin=asyncio.subprocess.PIPE if feed is not None else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        given = None if feed is None else json.dumps(feed).encode()
        said, complained = await asyncio.wait_for(process.communicate(given), timeout_s)
    except TimeoutError:
        process.kill()
        raise
    if process.returncode:
        raise KubectlError(f"kubectl {' '.join(arguments)}: {complained.decode()[-2000:]}")
    return said.decode()


@contextlib.asynccontextmanager
async def proxied() -> AsyncIterator[str]:
    """`kubectl proxy`, until the block ends; gives its URL: the API server for a browser, without a login."""
    process = await asyncio.create_subprocess_exec(
        program(), "proxy", "--port=0", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout
    try:
        said = (await asyncio.wait_for(process.stdout.readline(), 30)).decode()  # Starting to serve on 127.0.0.1:1234
        yield f"http://{said.split()[-1]}"
    finally:
        process.terminate()
        await process.wait()

"""kubectl, as a person uses it: for applying, for exec, for logs. What is asked often goes through `api.py` instead."""

import asyncio
import json
import shutil
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

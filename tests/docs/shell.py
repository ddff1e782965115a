"""One shell for a whole page, as its reader has one: variables and what runs in the background stay."""

import asyncio
import contextlib
import os
import secrets
import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path


class Shell:
    """A bash that waits for commands."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._mark = secrets.token_hex(8)

    async def run(self, command: str, *, patience_s: float = 300) -> tuple[int, str]:
        """A command's exit code, and all that it printed. Raises: TimeoutError."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{command}\nprintf '%s %d\\n' {self._mark} $?\n".encode())
        said = ""
        async with asyncio.timeout(patience_s):
            while True:
                line = (await self._process.stdout.readline()).decode()
                before, found, code = line.partition(f"{self._mark} ")
                said += before
                if found or not line:
                    return int(code or 1), said


@contextlib.asynccontextmanager
async def shell(folder: Path, environ: Mapping[str, str]) -> AsyncIterator[Shell]:
    """A shell in a folder. What it has started in the background ends with it."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "--noprofile", "--norc"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folder,
        env={**os.environ, **environ},
        start_new_session=True,
    )
    try:
        yield Shell(process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        await process.wait()

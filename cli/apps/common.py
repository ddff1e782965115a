"""What every command that asks a sidecar does before and after: read a file, find it, end with a code."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO, TypeVar

from cli.apps.asking import Sidecar
from cli.apps.errors import EXIT_DONE, EXIT_REFUSED, CommandError, UsageError
from cli.apps.reaching import Target, headers, reached, token
from cli.apps.waiting import Progress
from cli.options import login
from cli.terminal import has_colour

T = TypeVar("T")

Prepared = Callable[[Sidecar], Awaitable[int]]
"""A command whose input has been read: all that is left is to ask."""


def ended(name: str, command: Callable[[], int], codes: Mapping[int, int] | None = None) -> int:
    """The exit code of a command; what it raises becomes one sentence. ``codes`` are other codes for what it raises."""
    try:
        return command()
    except CommandError as error:
        sys.stderr.write(f"{name}: {error}.\n")
        return (codes or {}).get(error.exit_code, error.exit_code)


def carried_out(prepare: Callable[[], Prepared], options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Read the input, find the sidecar, ask it.

    Raises:
        CommandError: whatever is in the way.
    """
    return asyncio.run(_carried_out(prepare(), target(options, environ)))


async def _carried_out(prepared: Prepared, meant: Target) -> int:
    async with reached(meant) as way:
        return await prepared(Sidecar(way, headers(meant.token)))


def target(options: argparse.Namespace, environ: Mapping[str, str]) -> Target:
    """Which sidecar is meant.

    Raises:
        UsageError: ``--url`` beside an option that names a cluster.
    """
    given = {name: getattr(options, name) for name in ("namespace", "rayservice", "cluster", "context", "kubeconfig")}
    if options.url is not None and (beside := [f"--{name}" for name, value in given.items() if value is not None]):
        raise UsageError(f"--url names the sidecar itself: {', '.join(beside)} cannot stand beside it")
    found = {name: given[name] for name in ("namespace", "rayservice", "cluster")}
    return Target(login(options), **found, url=options.url, token=token(environ))


def read(file: str, understood: Callable[[bytes], T]) -> T:
    """A file (``-``: standard input), understood.

    Raises:
        UsageError: it cannot be read, or not be understood.
    """
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    try:
        return understood(content)
    except UsageError as error:
        raise UsageError(f"{'standard input' if file == '-' else file}: {error}") from error


def complained(name: str, complaints: Sequence[str]) -> int:
    """The exit code, after every complaint as a line."""
    sys.stderr.writelines(f"{name}: {' '.join(each.rstrip('.').split())}.\n" for each in complaints)
    return EXIT_REFUSED if complaints else EXIT_DONE


def colours(stream: TextIO) -> bool:
    """Does this stream get colour?"""
    return has_colour(os.environ, is_terminal=stream.isatty())


def progress() -> Progress:
    """On standard error: standard output is for the result."""
    return Progress(sys.stderr, is_terminal=sys.stderr.isatty(), colours=colours(sys.stderr))

"""Somebody who reads a page of the docs and does what it says: in a clone, with kubectl, helm and holdfast at hand."""

import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from tests.cluster.kubectl import program
from tests.cluster.node import programs
from tests.cluster.node.paths import REPOSITORY
from tests.docs import reading
from tests.docs.shell import Shell, shell


class Reader:
    """One shell in one folder, for as long as the page is read."""

    def __init__(self, folder: Path, typing: Shell) -> None:
        self._folder = folder
        self._typing = typing

    async def does(self, step: reading.File | reading.Command, page: str) -> None:
        """Write a file, or type a command. Raises: AssertionError if it fails or answers otherwise than it should."""
        if isinstance(step, reading.File):
            (self._folder / step.name).write_text(step.text)
            return
        status, said = await self._typing.run(step.text)
        where = f"{page}:{step.line}: {step.text}"
        assert status == 0, f"{where}\n{said}"
        assert not step.answers or reading.matches(step.answers, said), f"{where}\n{said}"


@contextlib.asynccontextmanager
async def reader() -> AsyncIterator[Reader]:
    """With programs of their own names on the PATH, and a clone that holds no more than readers need."""
    programs.build((programs.HELM,))
    with tempfile.TemporaryDirectory(prefix="holdfast-reader-") as place:
        folder, installed = Path(place) / "holdfast", Path(place) / "bin"
        folder.mkdir()
        installed.mkdir()
        (folder / "manifests").symlink_to(REPOSITORY / "manifests")
        (installed / "kubectl").symlink_to(program())
        (installed / "helm").symlink_to(programs.HELM.path)
        (installed / "holdfast").symlink_to(Path(sys.executable).with_name("holdfast"))
        async with shell(folder, {"PATH": f"{installed}:/usr/local/bin:/usr/bin:/bin"}) as typing:
            yield Reader(folder, typing)


async def follow(page: str, section: str) -> None:
    """Do what one section of a page says. Raises: as ``Reader.does``; LookupError if there is no such section."""
    async with reader() as somebody:
        for step in reading.steps(reading.section((REPOSITORY / page).read_text(), section)):
            await somebody.does(step, f"{page}, {section}")

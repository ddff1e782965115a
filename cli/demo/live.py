"""The live screen: one table that changes in place, with what is told and done around it. Rendering only."""

from __future__ import annotations

import time
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.constrain import Constrain
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from cli.demo.observe import DELETING, RUNNING
from cli.demo.scene import GONE, GOOD, NOT_SHOWN, Row, Scene
from cli.demo.screens import READABLE

COLUMNS = {"name": 9, "owner": 8, "made with": 10, "Ray says": 13, "KubeRay sees": 13, "pid": 7, "": 12}
"""Title and width. With a space between them they fit into 80 columns, "lost 2 times" included."""
STYLES = {
    RUNNING: "green",
    "DEPLOYING": "yellow",
    DELETING: "red",
    "DEPLOY_FAILED": "red",
    "UNHEALTHY": "red",
    GONE: "bold red",
}


class LiveScreen:
    """The terminal. Finished chapters and tables scroll up; what is going on now stays below them, and moves."""

    dwell_s = 1.0

    def __init__(self, out: TextIO) -> None:
        self._console = Console(file=out, highlight=False)
        self._began = time.monotonic()
        self._scene: Scene | None = None
        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(
            console=self._console, get_renderable=self._now, refresh_per_second=5, transient=True, redirect_stderr=False
        )
        self._live.start()

    def progress(self, doing: str) -> None:
        """See `Screen`."""
        self._spinner.text = Text(doing)

    def begin(self, heading: str) -> None:
        """See `Screen`."""
        self._console.print(Text(f"\n{heading}", style="bold"))

    def show(self, scene: Scene) -> None:
        """See `Screen`."""
        self._scene = scene
        self.progress(scene.doing)

    def tell(self, chapter: str, outcome: str) -> None:
        """See `Screen`."""
        good = outcome == GOOD
        self._console.print(Text.assemble(f"  {chapter:36} ", (outcome, "green" if good else "bold red")))

    def end(self) -> None:
        """See `Screen`."""
        if self._scene is not None:
            self._console.print(Padding(table(self._scene.rows), (1, 0, 0, 2)))
            self._scene = None

    def close(self) -> None:
        """See `Screen`."""
        self._live.stop()

    def _now(self) -> RenderableType:
        clock = Text(f"{time.monotonic() - self._began:.0f} s", style="dim")
        below = Table.grid(padding=(0, 1))
        below.add_row(self._spinner, clock)
        if self._scene is None:
            return below
        return Group(picture(self._scene), Padding(below, (0, 0, 0, 2)))


def picture(scene: Scene) -> RenderableType:
    """A scene: the chapter, why it happens, the table, the operator's line."""
    told = Constrain(Group(Text(scene.chapter, style="bold"), Text(scene.sentences)), READABLE)
    operator = Text.assemble(("KubeRay: ", "dim"), (scene.kuberay, "red" if "NOT ready" in scene.kuberay else ""))
    return Padding(Group(told, Text(), table(scene.rows), Text(), operator), (1, 0, 0, 2))


def table(rows: tuple[Row, ...]) -> Table:
    """The applications, a row each. It keeps its widths while it changes."""
    grid = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for title, width in COLUMNS.items():
        grid.add_column(title, min_width=width, no_wrap=True)
    for row in rows:
        grid.add_row(
            row.application,
            row.owner,
            row.made,
            _status(row.ray),
            _status(row.kuberay),
            row.pid,
            Text(row.fate, _fate_style(row.fate)),
        )
    return grid


def _status(text: str) -> Text:
    return Text(text, style="dim" if text == NOT_SHOWN else STYLES.get(text, ""))


def _fate_style(fate: str) -> str:
    return "dim" if fate == "retired" else "bold red"

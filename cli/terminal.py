"""What a terminal gets that a file does not: colour, and a line that is written over. Pure.

``NO_COLOR`` (no-color.org), a TERM of ``dumb`` and everything that is no terminal get plain text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

GREEN, YELLOW, RED, PLAIN = "32", "33", "31", ""
_STATES = {"RUNNING": GREEN, "DEPLOY_FAILED": RED, "UNHEALTHY": RED, "DEPLOYING": YELLOW, "DELETING": YELLOW}


def has_colour(environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Is colour wanted?"""
    return is_terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def of_state(state: str) -> str:
    """The colour of one of Ray's states."""
    return _STATES.get(state, PLAIN)


def painted(text: str, colour: str, *, colours: bool) -> str:
    """The text in a colour, if there are any."""
    return f"\x1b[{colour}m{text}\x1b[0m" if colours and colour else text


def table(rows: Sequence[Sequence[str]], *, colours: bool = False) -> str:
    """Columns as kubectl sets them: three spaces between, the last one as long as it is."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(_line(row, widths, colours=colours) for row in rows)


def _line(row: Sequence[str], widths: Sequence[int], *, colours: bool) -> str:
    padding = [" " * (width + 3 - len(cell)) for cell, width in zip(row, widths, strict=True)]
    painted_row = (painted(cell, of_state(cell), colours=colours) for cell in row)
    return "".join(cell + pad for cell, pad in zip(painted_row, padding, strict=True)).rstrip() + "\n"

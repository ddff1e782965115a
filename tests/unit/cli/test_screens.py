import io
import os
import pty
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from cli.demo.live import LiveScreen, picture
from cli.demo.scene import Row, Scene
from cli.demo.screens import NoScreenError, PlainScreen, choose
from cli.demo.story import CAST, CHAPTERS

WORST_ROWS = tuple(
    Row(it.name, it.owner, it.made, "DEPLOY_FAILED", "DEPLOY_FAILED", "4194304", "lost 2 times") for it in CAST
)
SCENE = Scene(
    "Without Holdfast", "1. It begins", "Somebody does something.", WORST_ROWS[:1], "0 PUTs sent", "Ray works"
)


def plain(*scenes):
    out = io.StringIO()
    screen = PlainScreen(out, clock=lambda: 0.0)
    for scene in scenes:
        screen.show(scene)
    return out.getvalue()


def test_plain_lines_tell_everything_once():
    assert plain(SCENE, SCENE) == (
        "\n1. It begins\nSomebody does something.\n"
        "  [  0.0 s] Ray works\n"
        "  [  0.0 s] shop      platform RayService Ray: DEPLOY_FAILED, pid 4194304; "
        "KubeRay sees: DEPLOY_FAILED (lost 2 times)\n"
        "  [  0.0 s] KubeRay: 0 PUTs sent\n"
    )


def test_plain_lines_tell_what_changes():
    row = replace(SCENE.rows[0], ray="gone", pid="", fate="")

    assert plain(SCENE, replace(SCENE, rows=(row,))).endswith(
        "  [  0.0 s] shop      platform RayService Ray: gone; KubeRay sees: DEPLOY_FAILED\n"
    )


def test_plain_lines_have_no_control_codes():
    out = io.StringIO()
    screen = PlainScreen(out)
    screen.progress("starting")
    screen.begin("Without Holdfast")
    screen.show(SCENE)
    screen.tell("1. It begins", "nothing lost")
    screen.end()
    screen.close()

    assert all(character.isprintable() or character == "\n" for character in out.getvalue())


@pytest.mark.parametrize(
    "chapter", [chapter for told in CHAPTERS for chapter in ((told, False), (told, True))], ids=lambda it: it[0].title
)
def test_a_picture_fits_a_small_terminal(chapter):
    told, holdfast = chapter
    console = Console(width=80, file=io.StringIO(), record=True)
    console.print(
        picture(replace(SCENE, chapter=told.title, sentences=told.sentences(holdfast=holdfast), rows=WORST_ROWS))
    )
    lines = console.export_text().splitlines()

    assert len(lines) <= 20
    assert "…" not in "".join(lines)
    assert sum("lost 2 times" in line for line in lines) == len(WORST_ROWS)
    assert "".join(told.sentences(holdfast=holdfast).split()) in "".join("".join(lines).split())


@pytest.fixture
def terminal():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as out:
        yield out
    os.close(ours)


@pytest.mark.parametrize(
    ("environ", "asked", "expected"),
    [
        ({"TERM": "xterm"}, False, LiveScreen),
        ({"TERM": "xterm"}, True, PlainScreen),
        ({"TERM": "dumb"}, False, PlainScreen),
        ({}, False, PlainScreen),
    ],
)
def test_which_screen_a_terminal_gets(terminal, environ, asked, expected):
    screen = choose(terminal, environ, plain=asked)
    screen.close()

    assert expected is type(screen)


def test_without_rich_a_terminal_is_told_what_to_install(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.live", None)
    monkeypatch.delitem(sys.modules, "cli.demo.live")

    with pytest.raises(NoScreenError, match=r'needs rich: pip install "holdfast\[demo\]", or use --plain'):
        choose(terminal, {"TERM": "xterm"}, plain=False)


def test_without_a_terminal_there_are_plain_lines():
    assert isinstance(choose(io.StringIO(), {"TERM": "xterm"}, plain=False), PlainScreen)

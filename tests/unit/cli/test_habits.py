"""What every command does alike: kubectl's name for it, Ctrl-C, a pipe that closes, colour, a bug."""

import subprocess
import sys
from pathlib import Path

import pytest

from cli import main as main_module
from cli.apps.options import spelled_out
from cli.main import main
from cli.terminal import has_colour


@pytest.fixture
def ends(monkeypatch, capsys):
    """Run `check` when it ends with this; (exit code, standard error)."""

    def ends(error, *arguments):
        def broken(*_):
            raise error

        monkeypatch.setitem(main_module.cluster.RUN, "check", broken)
        monkeypatch.setitem(main_module.cluster.RUN, "webhook", broken)
        return main(arguments or ["check"]), capsys.readouterr().err

    return ends


def test_ctrl_c_is_130_and_no_traceback(ends):
    assert ends(KeyboardInterrupt()) == (130, "")


def test_a_bug_is_one_sentence(ends, monkeypatch):
    monkeypatch.delenv("HOLDFAST_DEBUG", raising=False)

    assert ends(KeyError("x")) == (
        70,
        "holdfast check: a bug of Holdfast's: KeyError: 'x'. HOLDFAST_DEBUG=1 shows where.\n",
    )


def test_a_bug_shows_where_it_is_if_asked_to_and_in_the_log_of_a_part(ends, monkeypatch):
    with pytest.raises(KeyError):
        ends(KeyError("x"), "webhook")
    monkeypatch.setenv("HOLDFAST_DEBUG", "1")
    with pytest.raises(KeyError):
        ends(KeyError("x"))


def test_a_reader_that_has_gone_is_no_bug():
    program = f"{sys.executable} -m cli.main completion bash | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=30, check=False)

    assert done.returncode in {0, 141}  # whether it is gone before the first line is written
    assert done.stderr == ""


@pytest.mark.parametrize("command", [["apps", "list"], ["check"]], ids=" ".join)
def test_without_a_kubeconfig_one_sentence_is_all_that_is_said(command, tmp_path):
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin"}
    call = [sys.executable, "-m", "cli.main", *command]
    done = subprocess.run(call, capture_output=True, text=True, timeout=30, check=False, env=environ)

    assert done.returncode in {2, 3}
    assert done.stderr.count("\n") == 1


def test_kubectl_holdfast_calls_itself_so():
    plugin = Path(sys.executable).with_name("kubectl-holdfast")
    done = subprocess.run(
        [plugin, "apps", "list", "--nonsense"], capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.returncode, done.stderr) == (
        2,
        "kubectl holdfast: unrecognized arguments: --nonsense. `kubectl holdfast --help` lists the options.\n",
    )


@pytest.mark.parametrize(
    ("environ", "is_terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_for_terminals_that_want_it(environ, is_terminal, wanted):
    assert has_colour(environ, is_terminal=is_terminal) is wanted


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["delete", "--wait", "model"], ["delete", "--wait=600", "model"]),
        (["delete", "--wait", "60", "model"], ["delete", "--wait=60", "model"]),
        (["delete", "--wait=1.5", "model"], ["delete", "--wait=1.5", "model"]),
        (["delete", "--dry-run", "model"], ["delete", "--dry-run=server", "model"]),
    ],
)
def test_wait_and_dry_run_do_not_take_a_name_for_their_value(given, meant):
    assert spelled_out(given) == meant


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_a_wait_that_is_no_time_is_wrong_usage(text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["apps", "delete", f"--wait={text}", "a"])

    assert ended.value.code == 2
    assert f"'{text}' is no number of seconds" in capsys.readouterr().err

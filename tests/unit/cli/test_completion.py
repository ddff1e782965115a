"""The completion scripts, read by the shells themselves where they are installed."""

import shutil
import subprocess

import pytest

from cli.completion import SHELLS, commands, script
from cli.main import parser

TOP = parser({})


def completed(*words):
    """What bash offers after these words, the last of which is being typed."""
    line = " ".join(f"'{word}'" for word in ("holdfast", *words))
    program = (
        f'{script(TOP, "bash")}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _holdfast; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["unin"], ["uninject", "uninstall"]),
        (["apps", ""], ["list", "get", "apply", "delete", "-h", "--help"]),
        (["apps", "list", "-o", ""], ["table", "wide", "json", "yaml", "name"]),
        (["apps", "list", "-o", "j"], ["json"]),
        (["apps", "apply", "--dry"], ["--dry-run"]),
        (["completion", "z"], ["zsh"]),
        (["check", "--context", ""], []),
        (["apps", "list", "--url", "x", "--na"], ["--namespace"]),
    ],
    ids=" ".join,
)
def test_bash_offers_commands_options_and_their_choices(words, offered):
    assert completed(*words) == offered


def test_bash_offers_files_where_a_file_is_meant(tmp_path):
    (tmp_path / "one.yaml").write_text("")

    assert completed("apps", "apply", "-f", f"{tmp_path}/o") == [f"{tmp_path}/one.yaml"]


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_every_script(shell):
    written = script(TOP, shell)

    for command in commands(TOP):
        assert all(word in written for word in command.next_words)
        assert all(flag.lstrip("-") in written for option in command.options for flag in option.flags)


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_a_script_is_one_its_shell_can_read(shell, check, tmp_path):
    if shutil.which(shell) is None:
        shell, check = "bash", "-n"  # what bash and zsh share is read by the one that is always there
    path = tmp_path / "script"
    path.write_text(script(TOP, shell))

    assert subprocess.run([shell, check, path], capture_output=True, text=True, timeout=20, check=False).stderr == ""

import subprocess
import sys
from pathlib import Path

import pytest

from cli.main import PROXY_OPTIONS, main, name_options, parser, proxy_environ
from proxy.settings import Address, Settings


def settings(*arguments, environ=None):
    options = parser({}).parse_args(["proxy", *arguments])
    return Settings.from_env(proxy_environ(options, environ or {}))


def test_without_options_the_environment_and_the_defaults_decide():
    assert Settings() == settings()
    assert Address("h", 1) == settings(environ={"HOLDFAST_UPSTREAM": "http://h:1"}).upstream


@pytest.mark.parametrize(
    ("arguments", "name", "expected"),
    [
        (["--listen", "127.0.0.1:0"], "listen", Address("127.0.0.1", 0)),
        (["--listen-agent", "[::1]:5"], "listen_agent", Address("::1", 5)),
        (["--listen-agent", ""], "listen_agent", None),
        (["--upstream", "http://h:8265/"], "upstream", Address("h", 8265)),
        (["--upstream-agent", "http://h:1"], "upstream_agent", Address("h", 1)),
        (["--state-dir=/x"], "state_dir", "/x"),
        (["--allow-loss"], "allow_loss", True),
    ],
)
def test_an_option_is_a_setting_and_wins_over_its_variable(arguments, name, expected):
    environ = {f"HOLDFAST_{name.upper()}": {"state_dir": "/y", "allow_loss": "false"}.get(name, "z:9")}

    assert expected == getattr(settings(*arguments, environ=environ), name)


def test_every_option_has_a_setting():
    assert {option.variable for option in PROXY_OPTIONS} <= {f"HOLDFAST_{name.upper()}" for name in Settings.__slots__}


@pytest.mark.parametrize(
    ("arguments", "environ", "expected"),
    [
        (["--listen", "nonsense"], {}, "holdfast proxy: --listen: 'nonsense' is not HOST:PORT.\n"),
        (
            ["--listen-agent", "x"],
            {"HOLDFAST_LISTEN": "y"},
            "holdfast proxy: HOLDFAST_LISTEN: 'y' is not HOST:PORT; --listen-agent: 'x' is not HOST:PORT.\n",
        ),
        ([], {"HOLDFAST_GRACE_S": "-1"}, "holdfast proxy: HOLDFAST_GRACE_S: '-1' is not a number above 0.\n"),
    ],
)
def test_a_bad_setting_is_one_sentence_and_exit_code_2(arguments, environ, expected, monkeypatch, capsys):
    for variable, value in environ.items():
        monkeypatch.setenv(variable, value)

    assert main(["proxy", *arguments]) == 2
    assert expected == capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "holdfast: the following arguments are required: COMMAND. `holdfast --help` lists the options.\n"),
        (["demo", "--quick"], "holdfast: unrecognized arguments: --quick. `holdfast --help` lists the options.\n"),
        (["proxy", "--listen"], "holdfast proxy: argument --listen: expected one argument. `holdfast proxy --help`"),
        (["dance"], "holdfast: argument COMMAND: invalid choice: 'dance'"),
    ],
)
def test_a_bad_option_is_one_sentence_and_exit_code_2(arguments, expected, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert error.startswith(expected)
    assert error.count("\n") == 1


def test_the_ray_of_the_demo_can_be_chosen():
    def ray_env(environ, *arguments):
        return parser(environ).parse_args(["demo", *arguments]).ray_env

    assert Path("/h/.cache/holdfast/ray-2.60.0") == ray_env({"HOME": "/h"})
    assert Path("/c/ray-2.60.0") == ray_env({"HOME": "/h", "HOLDFAST_CACHE": "/c"})
    assert Path("/r") == ray_env({"HOLDFAST_CACHE": "/c", "HOLDFAST_RAY_ENV": "/r"})
    assert Path("/o") == ray_env({"HOLDFAST_RAY_ENV": "/r"}, "--ray-env", "/o")


def test_a_demo_without_ray_is_one_sentence_and_leaves_nothing(tmp_path, capsys):
    before = set(Path("/tmp").glob("holdfast-demo-*"))

    assert main(["demo", "--plain", "--ray-env", str(tmp_path)]) == 2
    assert f"holdfast demo: There is no Ray in {tmp_path}" in capsys.readouterr().err
    assert before == set(Path("/tmp").glob("holdfast-demo-*"))


def test_observations_that_cannot_be_written_are_told_before_anything_is_started(tmp_path, capsys):
    target = tmp_path / "missing" / "observations.json"

    assert main(["demo", "--plain", "--ray-env", str(tmp_path), "--json", str(target)]) == 2
    assert f"Cannot write {target}: No such file or directory. Choose another file.\n" in capsys.readouterr().err


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=30, check=False)


def test_both_ways_to_call_it_print_the_version():
    expected = (0, "holdfast 0.1.0\n", "")
    for called in (["-m", "cli.main"], [str(Path(sys.executable).with_name("holdfast"))]):
        ran = python(*called, "--version")

        assert expected == (ran.returncode, ran.stdout, ran.stderr)


def test_the_proxy_does_not_import_what_only_the_demo_needs():
    program = (
        "import sys, cli.main, proxy.__main__; print(*(m for m in ('rich', 'aiohttp', 'cli.demo') if m in sys.modules))"
    )

    assert python("-c", program).stdout == "\n"


def test_help_names_the_variable_of_each_option(capsys):
    with pytest.raises(SystemExit):
        main(["proxy", "--help"])

    text = " ".join(capsys.readouterr().out.split())
    assert all(f"[{option.variable}]" in text for option in PROXY_OPTIONS)


def test_a_fault_in_a_variable_is_not_blamed_on_an_option():
    options = parser({}).parse_args(["proxy", "--listen", "h:1"])

    assert (
        name_options("HOLDFAST_LISTEN_AGENT: wrong\nHOLDFAST_LISTEN: wrong", options)
        == "HOLDFAST_LISTEN_AGENT: wrong; --listen: wrong"
    )

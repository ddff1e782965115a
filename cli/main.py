"""The command `holdfast`. Reads options and hands over: a part is imported when its command is given."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple, NoReturn

from cli import commands as cluster
from cli import completion
from cli.apps.options import spelled_out
from proxy import supervising
from proxy.settings import PREFIX, Settings, SettingsError

BAD_USAGE = 2
"""Exit code for a wrong option or setting. As argparse has it."""

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of SIGINT, as shells have it."""

BROKEN_PIPE = 141
"""Exit code where the reader of our output has gone: 128 and the number of SIGPIPE."""

A_BUG = 70
"""Exit code for what nobody foresaw: EX_SOFTWARE of sysexits.h."""

PLUGIN = "kubectl-holdfast"
"""Under this name kubectl finds the command: `kubectl holdfast ...`."""

PARTS = ("proxy", "webhook")
"""What runs for months: its log keeps a traceback."""

DEFAULT_RAY = "2.60.0"


class ProxyOption(NamedTuple):
    """An option of `holdfast proxy` that says the same as an environment variable, and wins over it."""

    flag: str
    variable: str
    metavar: str | None
    """None: the option takes no value, and means "true"."""
    help: str

    @property
    def default(self) -> object:
        """What holds without the option and without the variable."""
        return getattr(Settings(), self.variable.removeprefix(PREFIX).lower())


PROXY_OPTIONS = (
    ProxyOption("--listen", "HOLDFAST_LISTEN", "HOST:PORT", "where KubeRay's calls arrive; port 0 takes a free one"),
    ProxyOption(
        "--listen-agent", "HOLDFAST_LISTEN_AGENT", "HOST:PORT", 'where those of KubeRay 1.0 arrive; "" listens for none'
    ),
    ProxyOption("--upstream", "HOLDFAST_UPSTREAM", "URL", "Ray's dashboard"),
    ProxyOption("--upstream-agent", "HOLDFAST_UPSTREAM_AGENT", "URL", "Ray's dashboard agent, for KubeRay 1.0"),
    ProxyOption("--state-dir", "HOLDFAST_STATE_DIR", "DIR", "keeps what KubeRay declared over a restart"),
    ProxyOption(
        "--allow-loss",
        "HOLDFAST_ALLOW_LOSS",
        None,
        "on Ray before 2.11, let KubeRay's PUT delete applications of serve.run, instead of refusing it",
    ),
)


class Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence, with where to read on."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end with exit code 2."""
        self.exit(BAD_USAGE, f"{self.prog}: {message}. `{self.prog} --help` lists the options.\n")


class ShowVersion(argparse.Action):
    """`--version`, looked up only when asked for: it takes longer than all the rest of the start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print it and end with exit code 0."""
        sys.stdout.write(f"holdfast {version('holdfast')}\n")
        parser.exit()


def parser(environ: Mapping[str, str], prog: str = "holdfast") -> argparse.ArgumentParser:
    """All commands and their options. Defaults come from `environ` where a variable has one."""
    top = Parser(
        prog=prog,
        description="Keeps dynamically deployed Ray Serve applications alive under an unmodified KubeRay operator.",
        epilog=f"`{prog} COMMAND --help` says more about one.",
    )
    top.add_argument("--version", action=ShowVersion, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    _add_proxy(commands)
    cluster.add(commands)
    _add_demo(commands, environ)
    _add_completion(commands)
    return top


def _add_proxy(commands: argparse._SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "proxy",
        help="run the sidecar between KubeRay and one Ray head",
        description="Runs the sidecar: KubeRay's PUTs no longer delete what KubeRay did not declare, KubeRay's GETs "
        "show only what it did, every other request passes unchanged. Ends on SIGTERM, after the requests in flight.",
        epilog="Each option can be given as the environment variable named beside it; the option wins. "
        "Limits and time-outs have variables only: they are described in proxy/settings.py.",
    )
    for option in PROXY_OPTIONS:
        if option.metavar is None:
            text = f"{option.help} [{option.variable}]"
            command.add_argument(option.flag, dest=option.variable, action="store_const", const="true", help=text)
        else:
            text = f"{option.help} (default: {option.default}) [{option.variable}]"
            command.add_argument(option.flag, dest=option.variable, metavar=option.metavar, help=text)


def _add_demo(commands: argparse._SubParsersAction[Parser], environ: Mapping[str, str]) -> None:
    command = commands.add_parser(
        "demo",
        help="see on this machine, on a real Ray, what is lost without Holdfast and what is kept with it",
        description="Starts a Ray head on loopback and tells one story twice, first with KubeRay talking to Ray, then "
        "with KubeRay talking to Holdfast: the operator restarts, a static application is changed, another retired, a "
        "dynamic one breaks. Takes about two minutes, needs no root and no Kubernetes, and leaves nothing running.",
        epilog="Exit codes: 0 if Holdfast kept every application as it was, 1 if it did not, "
        "2 if the story could not be told.",
    )
    command.add_argument(
        "--ray-env",
        metavar="DIR",
        type=Path,
        default=_ray_env(environ),
        help="a virtual environment with Ray in it (%(default)s; `make demo` makes that one) [HOLDFAST_RAY_ENV]",
    )
    command.add_argument(
        "--plain", action="store_true", help="lines instead of a live table; so it is without a terminal too"
    )
    command.add_argument("--json", metavar="FILE", type=Path, help="also write what was observed to this file")


def _add_completion(commands: argparse._SubParsersAction[Parser]) -> None:
    command = commands.add_parser(
        "completion",
        help="a completion script for a shell",
        description="Writes a script that completes commands and options. bash: source <(holdfast completion bash); "
        "zsh: the same with zsh; fish: holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
    )
    command.add_argument("shell", choices=completion.SHELLS, help="bash, zsh or fish")


def _ray_env(environ: Mapping[str, str]) -> Path:
    if chosen := environ.get("HOLDFAST_RAY_ENV"):
        return Path(chosen)
    cache = environ.get("HOLDFAST_CACHE") or Path(environ.get("HOME") or Path.home(), ".cache", "holdfast")
    return Path(cache, f"ray-{DEFAULT_RAY}")


def proxy_environ(options: argparse.Namespace, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that `holdfast proxy` reads its settings from: the options given stand over the variables."""
    given = {option.variable: getattr(options, option.variable) for option in PROXY_OPTIONS}
    return {**environ, **{variable: value for variable, value in given.items() if value is not None}}


def name_options(fault: str, options: argparse.Namespace) -> str:
    """A complaint about settings, in one line, with variables called by the option that was used for them."""
    for option in sorted(PROXY_OPTIONS, key=lambda option: len(option.variable), reverse=True):
        if getattr(options, option.variable) is not None:
            fault = fault.replace(f"{option.variable}:", f"{option.flag}:")
    return "; ".join(fault.splitlines())


def run_proxy(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """`holdfast proxy`."""
    try:
        settings = Settings.from_env(proxy_environ(options, environ))
    except SettingsError as error:
        sys.stderr.write(f"holdfast proxy: {name_options(str(error), options)}.\n")
        return BAD_USAGE
    if supervising.is_first_process():
        return supervising.supervised(lambda: _proxy(settings))
    return _proxy(settings)


def _proxy(settings: Settings) -> int:
    from proxy.__main__ import run  # noqa: PLC0415 - this command's part

    return run(settings)


def run_demo(options: argparse.Namespace) -> int:
    """`holdfast demo`."""
    from cli.demo.run import run  # noqa: PLC0415 - this command's part

    return run(ray_env=options.ray_env, plain=options.plain, json_file=options.json)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` (by default the process's) name. Returns the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    prog = "kubectl holdfast" if Path(sys.argv[0]).name == PLUGIN else "holdfast"
    top = parser(os.environ, prog)
    options = top.parse_args(spelled_out(given))
    if options.command not in PARTS:  # a library's warning would stand beside the sentence that says the same
        logging.getLogger("kubernetes_asyncio").addHandler(logging.NullHandler())
    try:
        code = script(top, options) if options.command == "completion" else run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:  # so early that the command had not yet taken care of it, or it has nothing to undo
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left unwritten is nobody's fault
        return BROKEN_PIPE
    except Exception as error:
        if options.command in PARTS or os.environ.get("HOLDFAST_DEBUG"):
            raise
        said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
        sys.stderr.write(f"{prog} {options.command}: a bug of Holdfast's: {said}. HOLDFAST_DEBUG=1 shows where.\n")
        return A_BUG
    return code


def run(options: argparse.Namespace) -> int:
    """Run the command that was given."""
    if options.command == "proxy":
        return run_proxy(options, os.environ)
    return run_demo(options) if options.command == "demo" else cluster.run(options, os.environ)


def script(top: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """`holdfast completion`."""
    sys.stdout.write(completion.script(top, options.shell))
    return 0


if __name__ == "__main__":
    sys.exit(main())

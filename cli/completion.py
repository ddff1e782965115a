"""`holdfast completion bash|zsh|fish`: a script for the shell, written from the parsers. Pure.

The script is static: it knows commands, verbs, options and their choices, asks nothing and starts nothing while one
types. It completes `holdfast`; `kubectl holdfast` would be kubectl's to complete.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

SHELLS = ("bash", "zsh", "fish")

_FILES = "FILE"


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its spellings, the words it may have (none: any), whether it takes a file or any value at all."""

    flags: tuple[str, ...]
    words: tuple[str, ...]
    takes_file: bool
    takes_value: bool
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command by its words, such as ``apps list``: what may come next, and its options."""

    path: tuple[str, ...]
    next_words: Mapping[str, str]
    options: tuple[Option, ...]


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Command]:
    """Every command, the outermost first."""
    subs = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]  # noqa: SLF001 - no other way
    nested = {name: each for sub in subs for name, each in sub.choices.items()}
    texts = {each.dest: each.help or "" for sub in subs for each in sub._choices_actions}  # noqa: SLF001 - see above
    words = {name: texts.get(name, "") for name in nested} or _words_of_positionals(parser)
    options = tuple(_option(each) for each in parser._actions if each.option_strings)  # noqa: SLF001 - see above
    yield Command(path, words, options)
    for name, each in nested.items():
        yield from commands(each, (*path, name))


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for one of ``SHELLS``."""
    found = list(commands(parser))
    if shell == "fish":
        return _fish(found)
    start = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return start + _bash(found)


def _words_of_positionals(parser: argparse.ArgumentParser) -> dict[str, str]:
    positionals = (each for each in parser._actions if not each.option_strings)  # noqa: SLF001 - see commands
    return {str(word): "" for each in positionals for word in each.choices or ()}


def _option(action: argparse.Action) -> Option:
    takes_value = action.nargs != 0
    words = tuple(map(str, action.choices or ()))
    text = (action.help or "").replace("%(default)s", str(action.default))
    is_file = action.metavar in {_FILES, "DIR"}
    return Option(tuple(action.option_strings), words, takes_value and is_file, takes_value, text)


def _bash(found: list[Command]) -> str:
    nexts = "".join(f'    "{" ".join(each.path)}") words="{_offered(each)}" ;;\n' for each in found)
    valued = "".join(_bash_values(each) for each in found)
    return f"""# holdfast completion: source it, or put it where your shell looks for completions.
_holdfast() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" path="" words="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in
{_bash_paths(found)}    esac
  done
  case "$path:$previous" in
{valued}  esac
  case "$path" in
{nexts}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -F _holdfast holdfast
"""


def _bash_paths(found: list[Command]) -> str:
    inner = (each for each in found if each.path)
    return "".join(
        f'      "{" ".join(each.path[:-1])} {each.path[-1]}") path="{" ".join(each.path)}" ;;\n' for each in inner
    )


def _bash_values(command: Command) -> str:
    path, lines = " ".join(command.path), ""
    for option in command.options:
        if not option.takes_value:
            continue
        pattern = "|".join(f'"{path}:{flag}"' for flag in option.flags)
        if option.words:
            reply = f'COMPREPLY=($(compgen -W "{" ".join(option.words)}" -- "$current"))'
        elif option.takes_file:
            reply = 'COMPREPLY=($(compgen -f -- "$current"))'
        else:
            reply = "COMPREPLY=()"
        lines += f"    {pattern}) {reply}; return ;;\n"
    return lines


def _offered(command: Command) -> str:
    return " ".join([*command.next_words, *(flag for option in command.options for flag in option.flags)])


def _fish(found: list[Command]) -> str:
    lines = ["# holdfast completion: put it into ~/.config/fish/completions/holdfast.fish", "complete -c holdfast -f"]
    for each in found:
        when = _fish_when(each)
        lines += [
            f"complete -c holdfast -n {when} -a {word} -d {_quoted(text)}" for word, text in each.next_words.items()
        ]
        for option in each.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            value = f" -x -a {_quoted(' '.join(option.words))}" if option.words else _fish_value(option)
            lines.append(f"complete -c holdfast -n {when} {flags}{value} -d {_quoted(option.text)}")
    return "\n".join(lines) + "\n"


def _fish_value(option: Option) -> str:
    if option.takes_file:
        return " -r -F"
    return " -x" if option.takes_value else ""


def _fish_when(command: Command) -> str:
    if not command.path:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.path)
    inner = [word for word in command.next_words if command.path == ("apps",)]
    return _quoted(seen + (f"; and not __fish_seen_subcommand_from {' '.join(inner)}" if inner else ""))


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

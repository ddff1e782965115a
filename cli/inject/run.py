"""`holdfast inject` and `holdfast uninject`: manifests in, manifests out; what is no RayService passes as it came."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cli.inject import documents
from cli.inject.editing import rewritten
from cli.inject.rayservice import NotInjectedError, Target, inject, uninject
from webhook.yamlreading import UnreadableTextError, compose, value_of

EXIT_DONE, EXIT_FAILED = 0, 1

Change = Callable[[dict[str, Any]], dict[str, Any]]


def run(command: str, file: str, *, output: str, target: Target) -> int:
    """Read ``file`` (``-``: standard input), write ``output``. The exit code: 0 done, 1 not, with nothing written."""
    try:
        text = sys.stdin.buffer.read().decode() if file == "-" else Path(file).read_bytes().decode()
        new, notes = changed(text, (lambda found: inject(found, target)) if command == "inject" else uninject)
        if output == "-":
            sys.stdout.write(new)
        else:
            Path(output).write_bytes(new.encode())
    except (OSError, UnicodeDecodeError, UnreadableTextError, NotInjectedError) as error:
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
        sys.stderr.write(f"holdfast {command}: {reason}.\n")
        return EXIT_FAILED
    sys.stderr.write("".join(f"holdfast {command}: {note}.\n" for note in notes))
    return EXIT_DONE


def changed(text: str, change: Change) -> tuple[str, list[str]]:
    """The text with every RayService changed, and what there is to say about it.

    Raises:
        UnreadableTextError: a document is no YAML.
        NotInjectedError: a RayService cannot have the sidecar.
    """
    results, notes, found = [], [], 0
    for marker, document in documents.split(text):
        new, note = _document(document, change)
        results.append((marker, new))
        found += note is not None
        notes += [note] if note else []
    return documents.join(results), notes if found else ["there is no RayService in it, so nothing was changed"]


def _document(text: str, change: Change) -> tuple[str, str | None]:
    """The document, and a note; None where it is no RayService, empty where there is nothing to say."""
    value = value_of(compose(text))
    if not isinstance(value, dict) or value.get("kind") != "RayService":
        return text, None
    name = (value.get("metadata") or {}).get("name", "")
    try:
        wanted = change(value)
    except NotInjectedError as error:
        raise NotInjectedError(f"RayService {name}: {error}") from error
    if wanted == value:
        return text, f"RayService {name} needs no change"
    new, is_the_text = rewritten(text, wanted)
    return new, "" if is_the_text else f"RayService {name} was printed anew: its comments and layout are lost"

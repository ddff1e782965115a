"""What `holdfast apps apply -f` may be given: one application, a list of them, or a Serve config. Pure.

YAML or JSON; YAML may have several documents. Every application is kept in its own bytes (``cli.apps.spelling``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from cli.apps import spelling
from cli.apps.errors import UsageError
from cli.inject import documents
from serveconfig.document import Application, check_text
from serveconfig.errors import InvalidServeConfigError

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Given:
    """The applications of a file. ``ignored`` are top-level options of a Serve config: they are KubeRay's alone."""

    applications: tuple[Application, ...]
    ignored: tuple[str, ...] = ()


def read(content: bytes) -> Given:
    """The applications in a file.

    Raises:
        UsageError: there are none, one stands there twice or has no name, or it is something else.
    """
    try:
        text = content.decode("utf-8-sig")
        found = [part for document in _documents(text) for part in _applications(document)]
        applications = tuple(Application.parse(part) for part in found if isinstance(part, bytes))
    except UnicodeDecodeError as error:
        raise UsageError(f"it is not UTF-8: see byte {error.start}") from error
    except InvalidServeConfigError as error:
        raise UsageError(str(error).rstrip(".")) from error
    names = [application.name for application in applications]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"application {', '.join(twice)} stands in it more than once")
    if not applications:
        raise UsageError("there is no application in it")
    return Given(applications, tuple(part for part in found if isinstance(part, str)))


def _documents(text: str) -> Iterator[bytes]:
    """Each document as JSON."""
    if text.lstrip().startswith(("{", "[")):
        try:
            check_text(text.encode())
            msgspec.json.decode(text)
        except (msgspec.DecodeError, InvalidServeConfigError):
            pass  # YAML may begin like this, too, and says better what is wrong
        else:
            yield text.encode()
            return
    for _, document in documents.split(text):
        if (printed := spelling.as_json(document)) is not None:
            yield printed


def _applications(document: bytes) -> Iterator[bytes | str]:
    """Applications as bytes; the names of what is left out as text."""
    check_text(document)
    if document.lstrip().startswith(b"["):
        yield from _listed(document)
        return
    members = _mapping(document)
    if "kind" in members and "apiVersion" in members:
        kind = msgspec.json.decode(members["kind"])
        raise UsageError(
            f"it is a {kind} of Kubernetes: kubectl applies it (and holdfast diff -f says what a RayService would do)"
        )
    if "applications" not in members:
        yield _named(document)
        return
    yield from _listed(bytes(members.pop("applications")))
    yield from members


def _listed(items: bytes) -> Iterator[bytes]:
    try:
        for item in _items.decode(items):
            yield _named(bytes(item))
    except msgspec.DecodeError:
        raise UsageError("applications in it is no list") from None


def _named(application: bytes) -> bytes:
    if "name" not in _mapping(application):
        raise UsageError("an application in it has no name: give it one")
    return application


def _mapping(document: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _members.decode(document)
    except msgspec.DecodeError:
        raise UsageError("it is no application: one is a mapping with name and import_path") from None

"""How settings are written to environment variables and read from them. Pure.

Every part of the house that is started as a process keeps its settings in one frozen dataclass of plain fields, each
read from a prefix and its name in capitals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MIB = 1 << 20

T = TypeVar("T", bound="DataclassInstance")


class SettingsError(ValueError):
    """Everything that is wrong with the settings, a line each."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen or to connect."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Address:
        """``HOST:PORT``, ``[::1]:PORT``, or the same behind ``http://``.

        Raises:
            ValueError: it is nothing of the kind.
        """
        url = urlsplit(text if "//" in text else f"//{text}")
        if url.scheme not in ("", "http") or not url.hostname or url.port is None or url.path not in ("", "/"):
            raise ValueError(f"{text!r} is not HOST:PORT")
        return cls(url.hostname, url.port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def written(settings: DataclassInstance, prefix: str) -> dict[str, str]:
    """The settings that differ from their defaults, as environment variables."""
    changed = {f.name: getattr(settings, f.name) for f in fields(settings) if getattr(settings, f.name) != f.default}
    return {prefix + name.upper(): _print(value) for name, value in changed.items()}


def read(kind: type[T], prefix: str, environ: Mapping[str, str]) -> T:
    """Read settings of a kind; what is not set keeps its default.

    Raises:
        SettingsError: naming every variable that cannot be read.
    """
    values: dict[str, Any] = {}
    faults = []
    for setting in fields(kind):
        variable = prefix + setting.name.upper()
        if variable in environ:
            try:
                values[setting.name] = _READ[str(setting.type)](environ[variable])
            except ValueError as error:
                faults.append(f"{variable}: {error}")
    if faults:
        raise SettingsError("\n".join(faults))
    return kind(**values)


def _print(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError(f"{text!r} is not a number above 0")
    return number


_READ: dict[str, Callable[[str], Any]] = {
    "Address": Address.parse,
    "Address | None": lambda text: Address.parse(text) if text else None,
    "str": str,
    "bool": _bool,
    "float": _positive,
    "int": lambda text: int(_positive(text)),
}

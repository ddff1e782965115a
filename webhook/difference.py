"""The difference between two JSON values as a JSON Patch (RFC 6902). Pure.

Only what has changed is named: a member is added, replaced or removed, a list that has grown is added to. So a patch is
small, says what was done, and lets stand what another webhook does to the same object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Operation = dict[str, Any]


def difference(old: object, new: object, path: str = "") -> Iterator[Operation]:
    """The operations that make ``new`` of ``old``. Of equal values there are none."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _of_mappings(old, new, path)
    elif isinstance(old, list) and isinstance(new, list) and len(old) <= len(new):
        for index, item in enumerate(old):
            yield from difference(item, new[index], f"{path}/{index}")
        for index in range(len(old), len(new)):
            yield {"op": "add", "path": f"{path}/{index}", "value": new[index]}
    else:
        yield {"op": "replace", "path": path, "value": new}


def _of_mappings(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[Operation]:
    for key in old:
        if key not in new:
            yield {"op": "remove", "path": _below(path, key)}
    for key, value in new.items():
        if key in old:
            yield from difference(old[key], value, _below(path, key))
        else:
            yield {"op": "add", "path": _below(path, key), "value": value}


def _below(path: str, key: str) -> str:
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"

"""Which configs can be carried from one cluster to the next. Pure. Both ends of the journal's wire ask it.

1. None that would do harm there: a name that is not ASCII keeps the controller of Ray 2.60 from ever deleting an
   application again (``serveconfig.document``, rule 6).
2. None that is no config: no JSON object, of another application than it is kept under, nested too deep.
3. None that may not fit into a Secret of its own, however badly it compresses. One that is too large for the journal
   must not stand in the way of all others.
"""

from __future__ import annotations

import msgspec

from serveconfig.document import Application, check_text
from serveconfig.errors import InvalidServeConfigError

LARGEST_CONFIG_BYTES = 512 << 10
"""A Secret holds a megabyte, of which base64 takes a quarter. A whole RayService is at most 1.5 MiB (etcd)."""

LONGEST_NAME = 512
"""In characters. The journal remembers names of what was deleted by the thousand."""


def fault(name: str, config: msgspec.Raw) -> str | None:
    """Why an application cannot be carried, as the rest of a sentence; it quotes names at most. None: it can."""
    if not name or len(name) > LONGEST_NAME:
        return f"a name has 1 to {LONGEST_NAME} characters, and not {len(name)}"
    if not name.isascii():
        return f"the name {name!r} is not ASCII, which Ray's controller does not survive everywhere"
    raw = bytes(config)
    if len(raw) > LARGEST_CONFIG_BYTES:
        return f"the config of {name!r} has {len(raw)} bytes, and may have {LARGEST_CONFIG_BYTES}"
    try:
        check_text(raw)
        application = Application.parse_stored(raw)
    except InvalidServeConfigError as error:
        return f"the config of {name!r} cannot be read: {error}"
    if application.name != name:
        return f"the config under the name {name!r} is of another application"
    return None

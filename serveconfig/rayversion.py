"""What depends on Ray's version, as data.

Only what cannot be seen in an answer stands here: that ``source`` exists (2.39+), say, shows by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

KEEPS_IMPERATIVE = (2, 11)
"""First version whose PUT leaves applications of ``serve.run`` alone (seen: 2.10.0 deletes, 2.11.0 does not)."""


@dataclass(frozen=True, slots=True)
class RayVersion:
    """Ray's version as it says it, such as ``2.9.3`` or ``3.0.0.dev0``."""

    text: str

    @property
    def keeps_imperative(self) -> bool:
        """Does a PUT leave ``serve.run`` applications alone? A version that cannot be read is taken for an old one."""
        read = re.match(r"(\d+)\.(\d+)", self.text)
        return read is not None and (int(read[1]), int(read[2])) >= KEEPS_IMPERATIVE

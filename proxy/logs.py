"""Log lines: one JSON object a line, on standard error. The message is constant, the facts are fields.

What a request or an answer carries is never a field: no body, no header, no query (it may hold a token).
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime

import msgspec

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonLines(logging.Formatter):
    """``{"time": "...Z", "level": "info", "logger": "holdfast.app", "msg": "request", ...fields}``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
            **{key: value for key, value in vars(record).items() if key not in _OWN},
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


def configure(level: int = logging.INFO) -> None:
    """Send the house's log lines to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)

"""Moments, as answers tell them."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(at: float | None) -> str | None:
    """Unix time as RFC 3339 has it, in whole seconds; None for None, and for 0, which stands for unknown."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds") if at else None

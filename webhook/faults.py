"""What went wrong, for a log. Pure."""

from __future__ import annotations


def described(error: Exception) -> dict[str, str]:
    """A fault's kind and place, without its text: that may quote what must not be in a log (G12)."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}")
        trace = trace.tb_next
    return {"error": type(error).__name__, "where": " > ".join(frames)}

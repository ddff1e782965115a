"""Where images come from: their own public names, or a registry of the user's (``HOLDFAST_TEST_IMAGES=host/path``)."""

import os


def image(name: str, tag: str) -> str:
    """``image("rayproject/ray", "2.60.0")``: that name, or the same last part below the user's registry."""
    registry = os.environ.get("HOLDFAST_TEST_IMAGES", "").rstrip("/")
    return f"{registry}/{name.rpartition('/')[2]}:{tag}" if registry else f"{name}:{tag}"

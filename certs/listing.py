"""A list of the Kubernetes API, page by page: a large one in one piece costs the API server memory."""

from __future__ import annotations

from typing import Any, Protocol

_PAGE = "500"


class Lists(Protocol):
    """What is needed of the API server."""

    async def get(self, path: str, **query: str) -> Any:  # noqa: ANN401 - JSON
        """The object or list at ``path``."""


async def listed(api: Lists, path: str, **query: str) -> tuple[list[dict[str, Any]], str]:
    """All objects at ``path``, and the version of the list. ``query``: e.g. ``labelSelector``.

    Raises:
        ApiError: the API server refused; 404 if there is no such kind.
        UnreachableError: no answer.
    """
    items: list[dict[str, Any]] = []
    asked = {"limit": _PAGE, **query}
    while True:
        page = await api.get(path, **asked)
        items += page["items"]
        if not page["metadata"].get("continue"):
            return items, page["metadata"]["resourceVersion"]
        asked["continue"] = page["metadata"]["continue"]

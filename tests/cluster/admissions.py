"""Is Holdfast asked? An update that would drop another writer's application, as a dry run, over and over."""

import asyncio
import json
from collections import Counter

from tests.cluster.api import MERGE_PATCH, Api, ApiError
from tests.cluster.manifests import application
from tests.cluster.rayservice import RayService

_PAUSE_S = 0.1
_DRY_RUN = {"dryRun": "All", "fieldManager": "gitops"}


class Admissions:
    """The RayService has ``kept`` from another writer; each try is an update that leaves it out."""

    def __init__(self, api: Api, service: RayService, kept: str) -> None:
        self._api = api
        self._path = service.path
        self._kept = kept

    async def counted(self, until: asyncio.Event) -> Counter[str]:
        """Tries until the event: "put back" by Holdfast, "not asked" (failed open), or "refused"."""
        counts: Counter[str] = Counter()
        while not until.is_set():
            counts[await self._try()] += 1
            await asyncio.sleep(_PAUSE_S)
        return counts

    async def _try(self) -> str:
        text = json.dumps({"applications": [application("static")]})
        change = {"spec": {"serveConfigV2": text}}
        try:
            admitted = await self._api.call("PATCH", self._path, body=change, query=_DRY_RUN, content_type=MERGE_PATCH)
        except ApiError:
            return "refused"
        return "put back" if self._kept in admitted["spec"]["serveConfigV2"] else "not asked"

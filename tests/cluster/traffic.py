"""The customer of a story: a pod that asks all applications all the time, and what it was told."""

import json
from collections import Counter
from collections.abc import Iterable

from tests.cluster.kubectl import kubectl
from tests.cluster.manifests import customer
from tests.cluster.rayservice import RayService


class Customer:
    """Comes before the change, stays until after it, and has counted."""

    def __init__(self, service: RayService) -> None:
        self._service = service
        self._namespace = f"--namespace={service.namespace}"

    async def come(self, applications: Iterable[str]) -> None:
        """Start asking, and return when the answers come."""
        manifest = customer(str(self._service.pair.ray), self._service.url, applications)
        await kubectl("create", self._namespace, "--filename=-", feed=manifest)
        await kubectl("wait", self._namespace, "--for=condition=Ready", "pod/customer", "--timeout=60s")

        async def served() -> bool:
            return (await self.counted("served")).total() > 0

        await self._service.until(served, "the customer's first answer", patience_s=60)

    async def counted(self, what: str, *, last_seconds: int = 0) -> Counter[str]:
        """Answers of one kind, "served" or "refused", by application; of all the time, or of its last seconds only."""
        since = (f"--since={last_seconds}s",) if last_seconds else ()
        lines = (await kubectl("logs", self._namespace, "customer", "--tail=-1", *since)).splitlines()
        counts: Counter[str] = Counter()
        for line in map(json.loads, lines):
            counts[line["app"]] += line[what]
        return counts

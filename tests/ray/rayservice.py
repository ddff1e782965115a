"""A RayService, seen from the one who applies it: what to declare, and how long to wait for KubeRay."""

from dataclasses import dataclass

from tests.fakes.kuberay import KubeRay
from tests.ray.stages import Stage, eventually


@dataclass(slots=True)
class RayService:
    """KubeRay and its RayService on a stage."""

    operator: KubeRay
    stage: Stage

    async def declares(self, *applications: dict, **top: object) -> None:
        """`kubectl apply`, and wait until a PUT of it was accepted."""
        self.operator.apply(*applications, http_options=self.stage.http_options, **top)
        await self.until_submitted()

    async def until_submitted(self) -> None:
        async def accepted() -> bool:
            await self.operator.reconcile()
            return self.operator.submitted

        try:
            await eventually(accepted)
        except TimeoutError:
            raise AssertionError(f"never accepted: {self.operator.error}") from None

    async def until_ready(self) -> None:
        async def ready() -> bool:
            await self.operator.reconcile()
            return self.operator.ready

        try:
            await eventually(ready)
        except TimeoutError:
            raise AssertionError(f"never ready: {self.operator.error or self.operator.applications}") from None

    async def restarts(self, version: str = "") -> None:
        """A new operator process, of another version perhaps: what was submitted is forgotten, so it is sent again."""
        self.operator.restart()
        self.operator.version = version or self.operator.version
        await self.until_submitted()

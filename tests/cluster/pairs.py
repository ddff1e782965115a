"""A pair: the KubeRay and the Ray that a story is told with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A release, compared by its numbers."""

    numbers: tuple[int, ...]

    @classmethod
    def parse(cls, text: str) -> "Version":
        return cls(tuple(int(part) for part in text.split(".")))

    def __str__(self) -> str:
        return ".".join(map(str, self.numbers))


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Written ``1.6.2x2.60.0``: KubeRay first."""

    kuberay: Version
    ray: Version

    @classmethod
    def parse(cls, text: str) -> "Pair":
        kuberay, _, ray = text.partition("x")
        return cls(Version.parse(kuberay), Version.parse(ray))

    def __str__(self) -> str:
        return f"{self.kuberay}x{self.ray}"

    @property
    def ray_keeps_imperative(self) -> bool:
        """From 2.11 on, a PUT to Ray no longer deletes what `serve.run` has deployed (ray-project/ray #44476)."""
        return self.ray >= Version((2, 11, 0))

    @property
    def kuberay_asks_for_declared_only(self) -> bool:
        """From KubeRay 1.5 (#4084) and Ray 2.50 on, what `serve.run` has deployed no longer counts for readiness."""
        return self.kuberay >= Version((1, 5, 0)) and self.ray >= Version((2, 50, 0))

    @property
    def kuberay_reports_by_endpoints(self) -> bool:
        """From 1.3 on, a RayService that serves stays Running whatever its applications' states."""
        return self.kuberay >= Version((1, 3, 0))

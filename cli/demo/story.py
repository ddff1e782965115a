"""The story of `holdfast demo`: who owns which application, what happens, and why. Pure: data, and functions of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Made(StrEnum):
    """The ways an application gets into Ray Serve."""

    RAYSERVICE = "RayService"
    REST = "REST"
    SERVE_RUN = "serve.run"


@dataclass(frozen=True, slots=True)
class Application:
    """One application of the story, as its owner wants it."""

    name: str
    owner: str
    made: Made
    says: str = "hello"
    weights: str = ""
    """A file its builder opens first. One that is not there is how an application breaks in this story."""

    @property
    def dynamic(self) -> bool:
        """Whether KubeRay did not declare it."""
        return self.made is not Made.RAYSERVICE

    @property
    def lasting_status(self) -> str:
        """What Ray says of it in the end."""
        return "DEPLOY_FAILED" if self.weights else "RUNNING"

    def config(self) -> dict[str, object]:
        """Its entry in a Serve config: JSON-able, a new object each time."""
        return {
            "name": self.name,
            "route_prefix": f"/{self.name}",
            "import_path": "holdfast_demo:application",
            "args": {"says": self.says, "weights": self.weights},
        }


@dataclass(frozen=True, slots=True)
class Declare:
    """`kubectl apply`: the RayService now declares these applications, and no others."""

    applications: tuple[Application, ...]


@dataclass(frozen=True, slots=True)
class RestartOperator:
    """KubeRay's pod is replaced. What the old one remembered is gone."""


@dataclass(frozen=True, slots=True)
class Deploy:
    """Teams deploy dynamic applications, each its own, each in its own way."""

    applications: tuple[Application, ...]


@dataclass(frozen=True, slots=True)
class DeployLostAgain:
    """The teams whose applications were lost notice, and deploy them again."""


Step = Declare | RestartOperator | Deploy | DeployLostAgain


@dataclass(frozen=True, slots=True)
class Chapter:
    """Steps, and what a person is told while they happen: what (both times), and why it ends as it does (each time)."""

    title: str
    what: str
    why_without: str
    why_with: str
    steps: tuple[Step, ...]

    def sentences(self, *, holdfast: bool) -> str:
        """What is told in the telling without, or with, Holdfast."""
        return f"{self.what} {self.why_with if holdfast else self.why_without}"


SHOP = Application("shop", "platform", Made.RAYSERVICE)
SEARCH = Application("search", "platform", Made.RAYSERVICE)
TRANSLATE = Application("translate", "language", Made.REST)
FORECAST = Application("forecast", "planning", Made.REST)
NOTEBOOK = Application("notebook", "research", Made.SERVE_RUN)

CAST = (SHOP, SEARCH, TRANSLATE, FORECAST, NOTEBOOK)
DYNAMIC = tuple(application for application in CAST if application.dynamic)

NEW_SHOP = replace(SHOP, says="hello again")
BROKEN_TRANSLATE = replace(TRANSLATE, weights="weights/translate-v2.bin")

CHAPTERS = (
    Chapter(
        "Everyone deploys",
        "The RayService declares shop and search. Teams add translate and forecast over REST, notebook by serve.run.",
        "To add one application over REST a team must read the whole list, and send it back with its own appended.",
        "Each REST team sends its own application to Holdfast, and nothing else.",
        (Declare((SHOP, SEARCH)), Deploy(DYNAMIC)),
    ),
    Chapter(
        "The operator restarts",
        "A new KubeRay pod remembers nothing, so it sends the RayService's list again.",
        "Ray takes that list as complete: whatever came by REST and is not on it is deleted.",
        "Holdfast sees that the list is the one Ray already runs, and sends Ray nothing at all.",
        (RestartOperator(),),
    ),
    Chapter(
        "A static application is changed",
        "The platform team edits shop, and KubeRay sends the new list.",
        "The teams had just deployed again. The list does not name their applications, so Ray deletes them again.",
        "Holdfast appends the dynamic applications to it, as Ray holds them. Only shop gets a new replica.",
        (DeployLostAgain(), Declare((NEW_SHOP, SEARCH))),
    ),
    Chapter(
        "A static application is retired",
        "The platform team takes search out of the RayService. KubeRay owned it, so this one has to go.",
        "Ray cannot tell what was retired from what was never KubeRay's: everything not on the list goes.",
        "Holdfast knows what KubeRay declared before: search goes, and nothing else does.",
        (Declare((NEW_SHOP,)),),
    ),
    Chapter(
        "A dynamic application breaks",
        "The language team releases a translate that cannot find its weights.",
        "KubeRay takes a REST-made application for its own. Not all it sees is RUNNING: until it is, the first start "
        "or the upgrade of this RayService does not finish.",
        "KubeRay is shown what it declared, and that runs: a start or an upgrade goes on.",
        (Deploy((BROKEN_TRANSLATE,)),),
    ),
)


def serve_config(applications: Iterable[Application], http_port: int) -> dict[str, object]:
    """The RayService's `serveConfigV2` for these applications. Serve's own HTTP proxy stays on loopback."""
    return {
        "proxy_location": "HeadOnly",
        "http_options": {"host": "127.0.0.1", "port": http_port},
        "applications": [application.config() for application in applications],
    }

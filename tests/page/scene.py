"""A head whose page is looked at: the real sidecar before a fake Ray, a journal, and those who deploy."""

from aiohttp import ClientSession

from serveconfig.journal import Changes
from tests.fakes.dashboard import APPLICATIONS, FakeRay
from tests.fakes.journal import FakeJournal
from tests.fakes.kuberay import GO
from tests.ray.configs import app
from tests.ray.sidecar import Sidecar
from tests.ray.stages import eventually

OLD, NEW = "shop-old", "shop-new"

EVERY_KIND = {
    "shop": "RUNNING",
    "search": "RUNNING",
    "forecast": "RUNNING",
    "sentiment": "DEPLOY_FAILED",
    "notebook": "RUNNING",
    "translate": "RUNNING",
    "speech": "DEPLOYING",
    "vision": None,
    "scratch": None,
}
"""By name, the state of each application after ``Scene.every_kind``; None: it does not run here."""


class Scene:
    """The verbs of those who deploy. ``ray``, ``journal`` and ``sidecar`` may be made to fail by the test."""

    def __init__(self, ray: FakeRay, journal: FakeJournal, sidecar: Sidecar, http: ClientSession) -> None:
        self.ray, self.journal, self.sidecar, self.http = ray, journal, sidecar, http

    @property
    def url(self) -> str:
        return self.sidecar.url + "/-/"

    async def kuberay_declares(self, *applications: dict) -> None:
        """KubeRay's PUT, in full."""
        url, by = self.sidecar.url + APPLICATIONS, {"User-Agent": GO}
        async with self.http.put(url, json={"applications": applications}, headers=by) as answer:
            assert answer.status == 200, await answer.text()

    async def puts(self, application: dict) -> None:
        """Somebody puts one application over REST."""
        url = self.sidecar.url + "/-/applications/"
        async with self.http.put(url + application["name"], json=application) as answer:
            assert answer.status in {200, 201}, await answer.text()

    async def status(self) -> dict:
        async with self.http.get(self.url + "status") as answer:
            return await answer.json()

    async def until(self, wanted: dict[str, str | None]) -> None:
        """Wait until these applications, and no others, are told with these states."""

        async def so() -> bool:
            return {each["name"]: each["state"] for each in (await self.status())["applications"]} == wanted

        await eventually(so, within_s=20)

    async def every_kind(self) -> None:
        """A new cluster that has got what an old one had, as far as that could be; and deployments of its own."""
        self.journal.put(app("translate"), OLD)
        self.journal.put(app("speech", "never_built"), OLD)
        self.journal.put({**app("vision"), "route_prefix": "/shop"}, OLD)
        self.journal.journal, _ = self.journal.journal.taking(Changes(imperative=("scratch",)), OLD)
        await self.kuberay_declares(app("shop"), app("search"), app("banner"))
        await self.until({"shop": "RUNNING", "search": "RUNNING", "banner": "RUNNING", **_carried()})
        await self.puts(app("forecast"))
        await self.puts(app("sentiment", "absent"))
        self.ray.serve_run("notebook")
        await self.kuberay_declares(app("shop"), app("search"))
        await self.until(EVERY_KIND)


def _carried() -> dict[str, str | None]:
    return {name: EVERY_KIND[name] for name in ("translate", "speech", "vision", "scratch")}

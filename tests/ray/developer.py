"""A team that deploys over REST, and an operator's engineer with curl: a plain client, no browser, no KubeRay."""

import json
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from tests.fakes.dashboard import APPLICATIONS


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> dict:
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Developer:
    http: aiohttp.ClientSession

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.http.request(method, path, json=body, headers=named) as answer:
            return Answer(answer.status, answer.headers, await answer.text())

    async def get(self, path: str = APPLICATIONS) -> Answer:
        return await self.ask("GET", path)

    async def app(self, name: str = "") -> Answer:
        """Read one application, or the list of all."""
        return await self.ask("GET", f"/-/applications/{name}")

    async def put_app(self, config: dict, *, wait_s: float = 0, **headers: str) -> Answer:
        """Deploy one application; nothing else moves."""
        query = f"?wait={wait_s:g}" if wait_s else ""
        return await self.ask("PUT", f"/-/applications/{config['name']}{query}", config, **headers)

    async def delete_app(self, name: str, *, wait_s: float = 0, **headers: str) -> Answer:
        query = f"?wait={wait_s:g}" if wait_s else ""
        return await self.ask("DELETE", f"/-/applications/{name}{query}", **headers)

    async def put_all(self, *applications: dict) -> Answer:
        """A PUT to Ray's own path, as scripts written before Holdfast send it."""
        return await self.ask("PUT", APPLICATIONS, {"applications": list(applications)})


@asynccontextmanager
async def developer(url: str):
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(url, timeout=timeout) as http:
        yield Developer(http)

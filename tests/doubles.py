"""A Ray and a request that are played, for tests of what the proxy's handlers decide and when.

``PlayedRay`` answers like ``proxy.ray.Ray``; what it shows is set by the test. Whether Ray really behaves so is tested
in tests/ray, on real Ray.
"""

import asyncio
import json

from proxy.http.head import parse_request
from proxy.http.local import Answer
from proxy.ray import Ray
from serveconfig.errors import UnknownStateError
from serveconfig.rayversion import RayVersion
from serveconfig.running import Running
from tests.words import listing, shown

KUBERAY = "Go-http-client/1.1"


class PlayedRequest:
    """A request with its whole body at hand."""

    def __init__(self, method="GET", target="/api/serve/applications/", body=b"", **headers):
        fields = {"Host": "ray:8265", "User-Agent": "curl/8", **{k.replace("_", "-"): v for k, v in headers.items()}}
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items() if value)]
        self.head = parse_request("\r\n".join((*lines, "", "")).encode("latin-1"))
        self.body = body

    async def read(self, limit):
        assert len(self.body) <= limit
        return self.body


class PlayedRay(Ray):
    """Keeps what is PUT and shows it. ``late_s`` delays every answer; ``down`` is what reading raises."""

    def __init__(self, *entries, version="2.60.0"):
        self.entries = dict(entries)
        self.controller = True
        self.controller_exists = None
        self.ray_version = version
        self.status = 200
        self.late_s = 0.0
        self.put_late_s = 0.0
        self.down = None
        self.put_answer = Answer(200)
        self.puts = []
        self.asked = []
        self._agent = (b"User-Agent", b"holdfast/test")

    async def applications(self, headers, query=b""):
        self.asked.append((headers, query))
        await asyncio.sleep(self.late_s)
        if self.down:
            raise self.down
        content = ((b"Content-Type", b"application/json"), (b"Content-Length", b"0"))
        return Answer(self.status, content, [listing(*self.entries.items(), controller=self.controller)])

    async def running(self, headers, only=None):
        return Running.parse(b"".join(self._usable("applications", await self.applications(headers)).body), only)

    async def version(self, headers):
        return RayVersion(self.ray_version)

    async def has_controller(self, headers):
        if self.controller_exists is None:
            raise UnknownStateError("the GCS does not answer")
        return self.controller_exists

    async def put(self, headers, body):
        self.puts.append(json.loads(body))
        await asyncio.sleep(self.put_late_s)
        if isinstance(self.put_answer, Exception):
            raise self.put_answer
        if self.put_answer.status == 200:
            self.show(body)
        return self.put_answer

    def show(self, body):
        """Store a config, as Ray does: what is not named is gone, but for serve.run applications."""
        kept = {name: entry for name, entry in self.entries.items() if entry.get("source") == "imperative"}
        named = dict(shown(application) for application in json.loads(body)["applications"])
        self.entries = {**kept, **named}

    def _lost(self, call, why, cause):
        raise UnknownStateError(why)


def names(put):
    """The applications a PUT names."""
    return [application["name"] for application in put["applications"]]


def content(answer):
    """An answer's body as JSON."""
    return json.loads(b"".join(answer.body))

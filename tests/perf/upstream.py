"""A stand-in for Ray's dashboard that costs next to nothing, so that what is measured is the proxy before it.

`python -m tests.perf.upstream PORT` listens on 127.0.0.1. It answers from bodies made beforehand:

* `GET /api/serve/applications/`: the body last given to `PUT /perf/running`, with a number in it that never repeats;
* `PUT /api/serve/applications/`: 200, empty, as Ray does; the body can be read at `GET /perf/last-put`;
* `GET /api/version`, `GET /api/v0/actors`: small answers; any other GET: 404; any other PUT: drained, 200, empty;
* `GET /perf/seen`: how many requests came, by method and path.

Each connection is served in order, one request at a time; bodies may have a length or come in chunks.
"""

import asyncio
import json
import sys
from collections import Counter

import uvloop

from tests.perf.bodies import VARIES, running

SERVE = "/api/serve/applications/"
VERSION = b'{"version":"4","ray_version":"2.60.0","ray_commit":"x","session_name":"s"}'
ACTORS = b'{"result":true,"msg":"","data":{"result":{"total":1,"result":[{"state":"ALIVE"}]}}}'
HEAD_END = b"\r\n\r\n"


class Dashboard:
    """What the stand-in knows: what runs, what was PUT last, what was asked of it."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.last_put = b""
        self.fixed = {"/api/version": VERSION, "/api/v0/actors": ACTORS}
        self.run(running())

    def run(self, body: bytes) -> None:
        """Have GET answer ``body`` from now on."""
        self.before, _, self.after = body.partition(VARIES)
        self.loops = 1_000_000_000

    def answer(self, method: str, path: str, body: list[bytes]) -> list[bytes] | None:
        """The parts of the answer's body; None for a path that is not there."""
        self.asked[f"{method} {path}"] += 1
        match method, path:
            case "GET", "/api/serve/applications/":
                self.loops += 1
                return [self.before, b'"num_control_loops": %d' % self.loops, self.after]
            case "PUT", "/api/serve/applications/":
                self.last_put = b"".join(body)
            case "PUT", "/perf/running":
                self.run(b"".join(body))
            case "GET", "/perf/last-put":
                return [self.last_put]
            case "GET", "/perf/seen":
                return [json.dumps(self.asked).encode()]
            case "GET", _:
                return [self.fixed[path]] if path in self.fixed else None
        return []


class Request:
    """One request, fed piece by piece: `feed` returns what was left over once it is whole."""

    def __init__(self, head: bytes) -> None:
        line, *fields = head.decode("latin-1").split("\r\n")
        self.method, target, _ = line.split(" ")
        self.path = target.partition("?")[0]
        self.kept = self.path in (SERVE, "/perf/running")
        self.body: list[bytes] = []
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        self.chunked = "chunked" in headers.get("transfer-encoding", "")
        self.missing = int(headers.get("content-length", 0))
        self.whole = not self.chunked and not self.missing
        self.pending = b""

    def feed(self, data: bytes) -> bytes:
        """Take what belongs to this request's body; returns the rest, which is the next request's."""
        if self.chunked:
            return self._feed_chunks(self.pending + data)
        return self._take(data)

    def _take(self, data: bytes) -> bytes:
        mine, rest = data[: self.missing], data[self.missing :]
        self.missing -= len(mine)
        self.whole = not self.chunked and not self.missing
        if self.kept:
            self.body.append(mine)
        return rest

    def _feed_chunks(self, data: bytes) -> bytes:
        while data:
            if self.missing:
                data = self._take(data)
                continue
            data = data.removeprefix(b"\r\n")
            size, found, rest = data.partition(b"\r\n")
            if not found:
                break
            self.missing, data = int(size.partition(b";")[0], 16), rest
            if not self.missing:
                self.whole = True
                return data.removeprefix(b"\r\n")
        self.pending = data
        return b""


class Connection(asyncio.Protocol):
    """One client of the stand-in: heads are split off here, and answers go out in the order of the requests."""

    def __init__(self, dashboard: Dashboard) -> None:
        self.dashboard = dashboard
        self.request: Request | None = None
        self.unread = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        data = self.unread + data
        self.unread = b""
        while data or (self.request and self.request.whole):
            if self.request is None:
                head, found, data = data.partition(HEAD_END)
                if not found:
                    self.unread = head
                    return
                self.request = Request(head.lstrip(b"\r\n"))  # the end of a chunked body may come late
            if not self.request.whole:
                data = self.request.feed(data)
            if self.request.whole:
                self._answer(self.request)
                self.request = None

    def _answer(self, request: Request) -> None:
        parts = self.dashboard.answer(request.method, request.path, request.body)
        status = b"404 Not Found" if parts is None else b"200 OK"
        head = b"HTTP/1.1 %b\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
        self.transport.writelines([head % (status, sum(map(len, parts or []))), *(parts or [])])


async def main(port: int) -> None:
    """Serve until ended from outside."""
    dashboard = Dashboard()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(dashboard), "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1])))

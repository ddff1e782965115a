"""An upstream made with aiohttp, as Ray's dashboard is: it tells what it saw in its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from tests.differential.play import Transcript

MAX_BODY_BYTES = 64 * 1024


async def echo(request: web.Request) -> web.Response:
    return web.json_response(
        {
            "method": request.method,
            "target": request.raw_path,
            "version": str(request.version),
            "fields": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in request.raw_headers],
            "body": (await request.read()).hex(),
        }
    )


async def stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for line in range(3):
        await response.write(b"line %d\n" % line)
    await response.write_eof()
    return response


async def websocket(request: web.Request) -> web.WebSocketResponse:
    ws = web.WebSocketResponse(protocols=("v2.log", "v1.log"))
    await ws.prepare(request)
    async for message in ws:
        if message.type is WSMsgType.TEXT:
            await ws.send_str(message.data.upper())
    return ws


async def fail(_: web.Request) -> web.Response:
    raise web.HTTPConflict(text="no: caf\u00e9", headers={"X-Why": "because"})


async def still_there(_: web.Request) -> web.Response:
    return web.Response(text="still-yes")


class AiohttpUpstream:
    def __init__(self, port: int, transcript: Transcript):
        self._port = port
        self._transcript = transcript
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.router.add_get("/still-there", still_there)
        app.router.add_get("/stream", stream)
        app.router.add_get("/ws", websocket)
        app.router.add_get("/fail", fail)
        app.router.add_route("*", "/{rest:.*}", echo)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def start(self):
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()

    async def stop(self) -> Transcript:
        await self.kill()
        return self._transcript

    async def kill(self):
        await self._runner.cleanup()

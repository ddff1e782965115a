"""The proxy one writes in an afternoon with aiohttp and uvloop. It streams; it is not transparent, nor does it filter.

`python naive_aiohttp.py PORT UPSTREAM`
"""

import sys

import aiohttp
import uvloop
from aiohttp import web

HOP_BY_HOP = {"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "content-length"}
CLIENT = web.AppKey("client", aiohttp.ClientSession)


async def client(app):
    """One pool of connections to the upstream, closed when the server ends."""
    async with aiohttp.ClientSession(sys.argv[2], timeout=aiohttp.ClientTimeout(total=None)) as session:
        app[CLIENT] = session
        yield


async def forward(request):
    """Send the request on and the answer back, piece by piece."""
    headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP_BY_HOP}
    body = request.content if request.body_exists else None
    async with request.app[CLIENT].request(request.method, request.raw_path, headers=headers, data=body) as upstream:
        answer = web.StreamResponse(status=upstream.status)
        answer.headers.update({n: v for n, v in upstream.headers.items() if n.lower() != "transfer-encoding"})
        await answer.prepare(request)
        async for piece in upstream.content.iter_any():
            await answer.write(piece)
        await answer.write_eof()
        return answer


def main():
    """Listen on 127.0.0.1."""
    app = web.Application()
    app.cleanup_ctx.append(client)
    app.router.add_route("*", "/{path:.*}", forward)
    port, loop = int(sys.argv[1]), uvloop.new_event_loop()
    web.run_app(app, host="127.0.0.1", port=port, loop=loop, keepalive_timeout=3600, print=None)


if __name__ == "__main__":
    main()

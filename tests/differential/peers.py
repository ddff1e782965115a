"""Proxies to compare with: the relay alone, one of 30 lines of aiohttp, and one that does not know of HTTP at all.

``python -m tests.differential.peers --kind relay --listen PORT --upstream PORT``
"""

from __future__ import annotations

import argparse
import asyncio
import logging

import uvloop
from aiohttp import ClientSession, web

from proxy.http.upstream import Upstream
from proxy.relay import Relay


async def relay(port: int, upstream_port: int):
    """Ours, with nothing answered here."""
    await Relay(Upstream("127.0.0.1", upstream_port), lambda _: None, lambda _: None).listen("127.0.0.1", port)


async def naive(port: int, upstream_port: int):
    """What one writes first: an aiohttp server that repeats each request with an aiohttp client."""
    session = ClientSession()

    async def repeat(request: web.Request) -> web.StreamResponse:
        async with session.request(
            request.method,
            f"http://127.0.0.1:{upstream_port}{request.path_qs}",
            headers=request.headers,
            data=await request.read(),
        ) as answer:
            response = web.StreamResponse(status=answer.status, headers=answer.headers)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", repeat)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()


async def tcp(port: int, upstream_port: int):
    """A plain forwarder: transparent, and blind."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        try:
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except OSError:
            writer.transport.abort()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", upstream_port)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))
        writer.close()
        far_writer.close()

    await asyncio.start_server(forward, "127.0.0.1", port)


KINDS = {"relay": relay, "naive": naive, "tcp": tcp}


async def _run(kind: str, port: int, upstream_port: int):
    await KINDS[kind](port, upstream_port)
    await asyncio.Event().wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, default="relay")
    parser.add_argument("--loop", choices=("uvloop", "asyncio"), default="uvloop")
    parser.add_argument("--listen", type=int, required=True)
    parser.add_argument("--upstream", type=int, required=True)
    options = parser.parse_args()
    run = uvloop.run if options.loop == "uvloop" else asyncio.run
    run(_run(options.kind, options.listen, options.upstream))


if __name__ == "__main__":
    main()

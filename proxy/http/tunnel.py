"""What remains of HTTP after an upgrade: bytes, both ways, until both sides have ended."""

from __future__ import annotations

import asyncio

from proxy.http.wire import Wire


async def tunnel(client: Wire, upstream: Wire) -> None:
    """Carry bytes both ways, each side no faster than the other takes them. An end of one is passed on to the other."""
    outward = asyncio.create_task(_carry(client, upstream))
    try:
        await _carry(upstream, client)
        await asyncio.wait([outward])
    finally:
        outward.cancel()


async def _carry(source: Wire, sink: Wire) -> None:
    while not sink.lost:
        if source.received:
            sink.write(source.take(len(source.received)))
            await sink.drain()
        elif not await source.more():
            break
    if source.lost or sink.lost:
        source.close()
        sink.close()
    else:
        sink.finish()

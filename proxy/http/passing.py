"""One request on its way to Ray, and Ray's answer on its way back, while the one may overtake the other."""

from __future__ import annotations

import asyncio

from proxy.http.framing import Body, response_body
from proxy.http.head import END_OF_HEAD, BadAnswerError, BadRequestError, RequestHead, ResponseHead
from proxy.http.hop import asks_upgrade, forwarded_request, forwarded_response, stays_open
from proxy.http.local import Outcome, problem, refused
from proxy.http.tunnel import tunnel
from proxy.http.upstream import REPEATABLE, Upstream, UpstreamUnreachableError, following_response, next_response
from proxy.http.wire import Wire

_SWITCHING_PROTOCOLS = 101
_OK = 200
_REDIRECTION = 300


async def pass_through(client: Wire, head: RequestHead, body: Body, ray: Upstream) -> Outcome:
    """Pass a request whose ``head`` was taken from ``client``, and whose ``body`` follows, and the answer to it.

    Raises:
        BadRequestError: what is here of the body is malformed. Nothing was sent.
    """
    content = client.take(body.scan(client.received))
    opening = (forwarded_request(head), content) if content else (forwarded_request(head),)
    repeatable = head.method in REPEATABLE and body.done and not content and not asks_upgrade(head)
    try:
        wire = (ray.reuse() if repeatable else None) or await ray.connect()
        outcome = await Passage(client, wire, head, body, ray).run(opening)
        if outcome is None:
            outcome = await Passage(client, await ray.connect(), head, body, ray).run(opening)
    except UpstreamUnreachableError as error:
        answer = problem(502, str(error), ((b"Retry-After", b"1"),))
        return Outcome(502, body.done and stays_open(head), answer)
    return outcome or Outcome(0)


class Passage:
    """One exchange over two connections."""

    __slots__ = ("_body", "_client", "_head", "_ray", "_refusal", "_status", "_upgrade", "_upload", "_upstream")

    def __init__(self, client: Wire, upstream: Wire, head: RequestHead, body: Body, ray: Upstream) -> None:
        self._client = client
        self._upstream = upstream
        self._head = head
        self._body = body
        self._ray = ray
        self._upgrade = asks_upgrade(head)
        self._upload: asyncio.Task[None] | None = None
        self._refusal: BadRequestError | None = None
        self._status = 0

    async def run(self, opening: tuple[bytes, ...]) -> Outcome | None:
        """The exchange, from ``opening``: the request, as far as it is here.

        None: the connection, which had been used before, closed without an answer. The request can be sent again.
        """
        self._upstream.write(*opening)
        if self._body.done:
            self._client.watch(self._client_ended)
        else:
            self._upload = asyncio.create_task(self._send_rest())
        outcome = None
        try:
            outcome = await self._converse()
        finally:
            await self._end_upload()
            self._client.watch(None)
            # An upgrade that was refused may have left aiohttp waiting for frames.
            if outcome is not None and outcome.stays_open and not self._upgrade:
                self._ray.release(self._upstream)
            else:
                self._upstream.abort()
        return outcome

    async def _converse(self) -> Outcome | None:
        try:
            first = await next_response(self._upstream)
            if first is None and self._upstream.used and not self._left:
                return None
            return await self._answer(first or await following_response(self._upstream))
        except BadAnswerError as error:
            return self._unanswered(error)

    # The request.

    async def _send_rest(self) -> None:
        """What follows of the body, as fast as Ray takes it, and then the client's end."""
        try:
            while not self._body.done:
                content = self._client.take(self._body.scan(self._client.received))
                if content:
                    self._upstream.write(content)
                    await self._upstream.drain()
                elif not await self._client.more():
                    break
        except BadRequestError as error:
            self._refusal = error
            self._upstream.abort()
        else:
            self._client.watch(self._client_ended)

    def _client_ended(self) -> None:
        """The client is gone, or has finished sending: tell Ray the same."""
        waiting = self._client.received
        if self._client.lost:
            self._upstream.abort()
        elif not waiting or not (self._upgrade or END_OF_HEAD in waiting):  # else there is more to send first
            self._upstream.finish()

    async def _end_upload(self) -> None:
        if self._upload is not None:
            self._upload.cancel()
            await asyncio.wait([self._upload])

    # The answer.

    async def _answer(self, head: ResponseHead) -> Outcome:
        while head.status < _OK and head.status != _SWITCHING_PROTOCOLS:
            self._client.write(forwarded_response(head))
            await self._client.drain()
            head = await following_response(self._upstream)
        if self._switches(head):
            return await self._switch(head)
        body = response_body(head, self._head.method)
        if not await self._copy(head, body):
            return self._cut()
        await self._finish_upload()
        return Outcome(head.status, self._body.done and body.done and stays_open(self._head) and stays_open(head))

    async def _copy(self, head: ResponseHead, body: Body) -> bool:
        """Send the answer on as it comes. False: it came to an end before its end."""
        client, upstream = self._client, self._upstream
        content = upstream.take(body.scan(upstream.received))
        client.write(forwarded_response(head), content)
        self._status = head.status
        while not body.done:
            await client.drain()
            if client.lost:
                return False
            if not content and not await upstream.more():
                return body.ends_with_connection and not upstream.broken
            content = upstream.take(body.scan(upstream.received))
            client.write(content)
        await client.drain()
        return True

    async def _finish_upload(self) -> None:
        """Ray has answered, but may still be reading: until it has the whole request, or closes."""
        upload = self._upload
        if upload is not None and not upload.done():
            self._upstream.watch(upload.cancel)
            await asyncio.wait([upload])
            self._upstream.watch(None)

    def _switches(self, head: ResponseHead) -> bool:
        if self._head.method == b"CONNECT":
            return _OK <= head.status < _REDIRECTION
        if head.status == _SWITCHING_PROTOCOLS and not self._upgrade:
            raise BadAnswerError("It switched protocols without being asked to.")
        return head.status == _SWITCHING_PROTOCOLS

    async def _switch(self, head: ResponseHead) -> Outcome:
        """The answer ends HTTP: from here on, all is for the tunnel."""
        await self._end_upload()
        self._client.watch(None)
        self._client.write(forwarded_response(head))
        await tunnel(self._client, self._upstream)
        return Outcome(head.status)

    # The ends that nobody wanted.

    @property
    def _left(self) -> bool:
        """Whether the client has gone, or may have: it has finished sending, and Ray was told so."""
        return self._client.lost or (self._client.ended and self._upstream.finished)

    def _unanswered(self, error: BadAnswerError) -> Outcome:
        """What to do about an answer that cannot be passed on."""
        if self._status:
            return self._cut()
        if self._refusal is not None:
            return refused(self._refusal)
        if self._left:
            return Outcome(0)
        return Outcome(502, self._body.done and stays_open(self._head), problem(502, str(self._ray.broken(error))))

    def _cut(self) -> Outcome:
        """The answer broke off: let the client see it as the break that it is, and of the same kind."""
        if self._upstream.broken:
            self._client.reset()
        else:
            self._client.close()
        return Outcome(self._status)

"""The bytes that Go's net/http and encoding/json write, and a client that sends them over a kept connection."""

import asyncio
import gzip
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back, headers lower-cased, body unzipped."""

    status: int
    headers: dict[str, str]
    body: bytes


def marshal(value) -> str:
    """`json.Marshal` of what Go decoded from JSON: keys sorted, no blanks, `<>&` escaped, 1.0 printed as 1."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{quote(key)}:{marshal(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(marshal, value)) + "]"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return number(value)


ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in chain(map(chr, range(32)), "<>&\u2028\u2029")}
ESCAPES |= {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
ESCAPES |= {8: "\\b", 12: "\\f"}


def quote(text: str) -> str:
    return '"' + text.translate(ESCAPES) + '"'


def number(value: float) -> str:
    """Integers of 64 bits as they are, all else as a float64 in its shortest form, as ECMAScript prints it."""
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return str(value)
    shortest = Decimal(repr(float(value)))
    if shortest == 0 or Decimal("1e-6") <= abs(shortest) < Decimal("1e21"):
        return f"{shortest:f}".removesuffix(".0")
    return f"{shortest.normalize():e}"


@dataclass(frozen=True, slots=True)
class Request:
    """What `net/http` is asked to send."""

    method: str
    target: str
    user_agent: str
    headers: dict[str, str]
    body: bytes | None = None

    def on_the_wire(self, host: str) -> bytes:
        """Host, User-Agent and Content-Length first, the others sorted, and last the Accept-Encoding that Go adds."""
        lines = [f"{self.method} {self.target} HTTP/1.1", f"Host: {host}", f"User-Agent: {self.user_agent}"]
        if self.body is not None:
            lines.append(f"Content-Length: {len(self.body)}")
        lines += [f"{name}: {self.headers[name]}" for name in sorted(self.headers)]
        lines.append("Accept-Encoding: gzip")
        return "\r\n".join([*lines, "", ""]).encode() + (self.body or b"")


@dataclass(slots=True)
class Connection:
    """One kept connection to one address; opened again when the other side has closed it."""

    host: str
    port: int
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def exchange(self, request: Request, timeout_s: float | None) -> Answer:
        """Send a request and read its answer.

        Raises:
            TimeoutError: no whole answer within `timeout_s` seconds; the connection is closed, as Go does it.
            OSError: no connection, or it broke.
        """
        try:
            async with asyncio.timeout(timeout_s):
                reader, writer = await self._open()
                writer.write(request.on_the_wire(f"{self.host}:{self.port}"))
                await writer.drain()
                answer = await read_answer(reader)
        except BaseException:
            self.close()
            raise
        if answer.headers.get("connection") == "close":
            self.close()
        return answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is not None and self._streams[0].at_eof():
            self.close()
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port)
        return self._streams


async def read_answer(reader: asyncio.StreamReader) -> Answer:
    """One HTTP/1.1 answer. A server that hangs up in its middle is a ConnectionError."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await read_body(reader, headers)
    except asyncio.IncompleteReadError as cut:
        raise ConnectionError("unexpected EOF") from cut
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    return Answer(int(head[0].split(" ")[1]), headers, body)


async def read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", 0)))
    chunks: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
        chunks.append((await reader.readexactly(size + 2))[:-2])
    while await reader.readuntil(b"\r\n") != b"\r\n":
        continue
    return b"".join(chunks)

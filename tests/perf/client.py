"""The one client of every measurement: a plain blocking socket kept open, so that it is never what is slow.

It reads answers that carry a Content-Length, which all of the contenders send.
"""

import socket
import time
from dataclasses import dataclass
from typing import Self

KUBERAY = "Go-http-client/1.1"
PERSON = "curl/8.5.0"
SERVE = "/api/serve/applications/"


class UnexpectedAnswerError(Exception):
    """The server closed early, or framed its answer in a way this client does not read."""


def request(method: str, target: str, *, agent: str, body: bytes = b"") -> bytes:
    """A whole HTTP/1.1 request, headed as Go's client heads KubeRay's."""
    lines = [f"{method} {target} HTTP/1.1", "Host: ray-head:8265", f"User-Agent: {agent}"]
    if method == "PUT":
        lines += [f"Content-Length: {len(body)}", "Content-Type: application/json"]
    lines += ["Accept-Encoding: gzip", "", ""]
    return "\r\n".join(lines).encode() + body


def serve_get() -> bytes:
    """KubeRay's question (1.5 and later)."""
    return request("GET", f"{SERVE}?api_type=declarative", agent=KUBERAY)


def serve_put(body: bytes) -> bytes:
    """KubeRay's order."""
    return request("PUT", SERVE, agent=KUBERAY, body=body)


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body; the body is gone with the next answer on the same connection."""

    status: int
    body: memoryview


class Connection:
    """A connection to 127.0.0.1, used again for each request; closed by `with`."""

    def __init__(self, port: int, timeout_s: float = 60) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray(1 << 20)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, request: bytes) -> Answer:
        """Send the request and read the whole answer.

        Raises: UnexpectedAnswerError when the server closes before the end or gives no Content-Length.
        """
        self.socket.sendall(request)
        return self.read()

    def read(self) -> Answer:
        """The next answer on this connection; raises as `ask` does."""
        held = self._receive(0)
        while (head_end := self.buffer.find(b"\r\n\r\n", 0, held)) < 0:
            held += self._receive(held)
        status, length = framing(bytes(self.buffer[:head_end]))
        whole = head_end + 4 + length
        if whole > len(self.buffer):
            self.buffer = self.buffer[:held] + bytearray(whole - held)
        while held < whole:
            held += self._receive(held)
        return Answer(status, memoryview(self.buffer)[head_end + 4 : whole].toreadonly())

    def _receive(self, start: int) -> int:
        received = self.socket.recv_into(memoryview(self.buffer)[start:])
        if not received:
            raise UnexpectedAnswerError("the connection was closed before the answer was whole")
        return received


def framing(head: bytes) -> tuple[int, int]:
    """Status and body length in bytes; raises UnexpectedAnswerError without a Content-Length."""
    status = int(head[9:12])
    for line in head.lower().split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return status, int(value)
    raise UnexpectedAnswerError(f"an answer {status} came without Content-Length: this client does not read chunks")


def upload(port: int, size_bytes: int) -> tuple[int, float]:
    """PUT a package of ``size_bytes`` as `ray job submit` does; the status, and the seconds it took."""
    piece = bytes(1 << 20)
    head = request("PUT", "/api/packages/gcs/_ray_pkg_0123456789abcdef.zip", agent=PERSON)
    head = head.replace(b"Content-Length: 0", b"Content-Length: %d" % size_bytes)
    with Connection(port) as connection:
        start = time.perf_counter()
        try:
            connection.socket.sendall(head)
            for sent in range(0, size_bytes, len(piece)):
                connection.socket.sendall(piece[: size_bytes - sent])
        except ConnectionError:  # refused before it was all sent: the answer, if any, says why
            return connection.read().status, time.perf_counter() - start
        return connection.read().status, time.perf_counter() - start

"""``holdfast webhook`` as processes, as many as there would be pods, with the rights of its service account."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import ssl
import sys
import time
from collections import Counter
from pathlib import Path


class Replicas:
    """Those that run, by port."""

    def __init__(self, cluster, folder, token):
        config = json.loads(cluster.kubeconfig.read_text())
        config["users"][0]["user"] = {"token": token}
        (folder / "kubeconfig").write_text(json.dumps(config))
        self._folder = folder
        self._running = {}
        self._resident_mb = Counter()

    async def start(self):
        """One more, ready; its port."""
        port = free_port()
        environ = {
            **os.environ,
            "KUBECONFIG": str(self._folder / "kubeconfig"),
            "HOLDFAST_WEBHOOK_LISTEN": f"127.0.0.1:{port}",
            "HOLDFAST_WEBHOOK_SIDECAR_IMAGE": "holdfast/holdfast:0.1.0",
        }
        with (self._folder / f"{port}.log").open("wb") as log:
            command = (sys.executable, "-m", "webhook")
            self._running[port] = await asyncio.create_subprocess_exec(*command, env=environ, stderr=log)
        await _until_ready(port)
        return port

    def tell_to_stop(self, port):
        """As the kubelet does."""
        self._resident_mb[port] = _resident_mb(self._running[port].pid)
        self._running[port].send_signal(signal.SIGTERM)

    async def stopped(self, port):
        """Wait for its end."""
        await asyncio.wait_for(self._running.pop(port).wait(), 40)

    async def stop_all(self):
        """Stop what still runs."""
        for port in list(self._running):
            self.tell_to_stop(port)
            await self.stopped(port)

    def durations_ms(self):
        """Of every pod admitted, from the logs."""
        lines = (line for log in self._folder.glob("*.log") for line in log.read_text().splitlines())
        said = (json.loads(line) for line in lines if '"injected"' in line)
        return [each["duration_ms"] for each in said]

    def resident_mb(self):
        """Of each that runs or has run."""
        return sorted([*self._resident_mb.values(), *(_resident_mb(each.pid) for each in self._running.values())])

    def peak_mb(self):
        """The most that any that runs has had."""
        return max(_memory_mb(each.pid, "VmHWM") for each in self._running.values())


async def webhook_token(api):
    """Of the service account that the webhook runs as."""
    path = "/api/v1/namespaces/holdfast/serviceaccounts/holdfast-webhook/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    return (await api.call("POST", path, body=request))["status"]["token"]


async def _until_ready(port):
    unchecked = ssl._create_unverified_context()  # noqa: S323 - its names are a cluster's, not loopback's
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=unchecked)
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            if b" 200 " in answer.partition(b"\r\n")[0]:
                return
        await asyncio.sleep(0.2)
    raise TimeoutError("a replica is not ready after a minute")


def _resident_mb(pid):
    return _memory_mb(pid, "VmRSS")


def _memory_mb(pid, what):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{what}:")[2].split()[0]) // 1024


def free_port():
    """Free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]

"""What goes wrong, as it does in a cluster: pods are evicted, processes run out of memory, the API server restarts."""

import asyncio
import contextlib
import os
import random
from collections.abc import Awaitable, Callable

from tests.cluster import sidecar
from tests.cluster.head import Head
from tests.cluster.kubectl import KubectlError, kubectl
from tests.cluster.node import parts, processes
from tests.cluster.node.commands import run
from tests.cluster.node.paths import KUBECONFIG
from tests.cluster.operators import Operator
from tests.cluster.rayservice import RayService

Fault = Callable[[], Awaitable[object]]
_PAUSE_S = (10.0, 35.0)


def on_own_node() -> bool:
    """Is the cluster our node, so that its own parts may be ended?"""
    return os.environ.get("KUBECONFIG") == str(KUBECONFIG)


def faults(service: RayService, operator: Operator) -> dict[str, Fault]:
    """By name. The API server is only ours to end on a node of ours."""

    async def head(how: str) -> None:
        await (await service.head()).die(how)

    async def end(process: str, container: str = "ray-head") -> None:
        await (await service.head()).end(process, container)

    async def pods(selector: str, namespace: str) -> None:
        await kubectl("delete", "pod", f"--selector={selector}", f"--namespace={namespace}", "--wait=false")

    known: dict[str, Fault] = {
        "webhook": lambda: pods("app.kubernetes.io/name=holdfast", "holdfast"),
        "proxy": lambda: end("1", "holdfast-proxy"),
        "head pod": lambda: head("deleted"),
        "ray": lambda: head("killed"),
        "controller": lambda: end("ray::ServeContro"),
        "operator": lambda: pods("app.kubernetes.io/name=kuberay-operator", operator.namespace),
    }
    return known | ({"api server": _api_server} if on_own_node() else {})


async def strike(known: dict[str, Fault], dice: random.Random, until: asyncio.Event) -> list[str]:
    """One after the other at random, with pauses, until the event; which there were."""
    struck = []
    while not until.is_set():
        name = dice.choice(sorted(known))
        with contextlib.suppress(KubectlError, TimeoutError):  # what is down already cannot be taken down
            await known[name]()
            struck.append(name)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(until.wait(), dice.uniform(*_PAUSE_S))
    return struck


async def sidecar_dies(head: Head, how: str) -> None:
    """Its proxy has "crashed"; its container is "ended" (SIGTERM), or "killed" as for want of memory.

    That last signal reaches process 1 from the node only; from inside, it ends all but that.
    """
    if how == "crashed":
        await head.end("holdfast", sidecar.CONTAINER)
        return
    if how == "ended":
        await head.end("1", sidecar.CONTAINER)
        return
    container = sidecar.status(await head.pod_object())["containerID"].removeprefix("containerd://")
    await asyncio.to_thread(run, parts.ctr("tasks", "kill", "--signal=SIGKILL", container))


async def _api_server() -> None:
    """It is gone for three seconds."""
    await asyncio.to_thread(processes.stop, "kube-apiserver")
    await asyncio.sleep(3)
    await asyncio.to_thread(processes.start, "kube-apiserver", parts.API_SERVER.command)

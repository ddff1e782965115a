"""``python -m tests.perf.admissions``: head pods by the thousand through a real API server and two real replicas.

1. Side by side: nobody is asked, a Go webhook that does nothing is asked, Holdfast is asked; in turns.
2. A minute of it, with ``failurePolicy: Fail`` so that nothing is let through unseen: the serving certificate is
   renewed, then the Secret deleted, so that another authority takes over, then both replicas are replaced one by one.

Nothing is asserted about time. It ends with 1 if a pod was refused, or admitted without its sidecar.
"""

import argparse
import asyncio
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from certs import authority
from certs.apiserver import ApiError
from certs.bundle import CERT, KEY
from certs.place import Place
from certs.renewal import Due, Reason, Terms
from certs.store import Store
from tests.apiserver.conftest import installed
from tests.apiserver.test_installed import RESTRICTED, owned, rayservice
from tests.apiserver.webhook_double import CONFIGURATION, failure_policy, led_to
from tests.perf.admissions.balancer import Balancer
from tests.perf.admissions.load import Offered, offer
from tests.perf.admissions.replicas import Replicas, free_port, webhook_token
from webhook.cluster import Watchable

PODS = "/api/v1/namespaces/team/pods"
_RATE = 200
_ROUND_S = 8.0
_NOTICED_S = 1.0
"""How long a Service goes on sending connections to a pod that has been told to stop."""


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf.admissions", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the second part lasts")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the first part")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-admissions-"))
    try:
        with installed() as cluster:
            return asyncio.run(_measure(cluster, folder, options))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _measure(cluster, folder, options):
    async with Watchable.connected(kubeconfig=str(cluster.kubeconfig)) as api, contextlib.AsyncExitStack() as stack:
        pod = await _prepared(api)
        replicas = Replicas(cluster, folder, await webhook_token(api))
        stack.push_async_callback(replicas.stop_all)
        balancer = Balancer()
        port = await stack.enter_async_context(balancer.listening())
        balancer.endpoints = [await replicas.start(), await replicas.start()]
        await stack.enter_async_context(led_to(api, port))
        await _until_injected(api, pod)
        noop = await stack.enter_async_context(_noop(api, folder))
        await failure_policy(api, "Fail")
        await _side_by_side(api, balancer, noop, pod, options.rounds)
        return await _a_minute(api, balancer, replicas, pod, options.seconds)


async def _side_by_side(api, balancer, noop, pod, rounds):
    ours, selector = list(balancer.endpoints), {"matchLabels": {"holdfast.dev/inject": "enabled"}}
    totals = {"nobody": Offered(), "a Go webhook that does nothing": Offered(), "Holdfast": Offered()}
    for _ in range(rounds):
        for who, total in totals.items():
            balancer.endpoints = [noop] if who.startswith("a Go") else ours
            balancer.hang_up()
            await _selects(api, {"matchLabels": {"no": "one"}} if who == "nobody" else selector)
            seen = await offer(api, PODS, pod, _RATE, _ROUND_S)
            total.took_s += seen.took_s
            total.became += seen.became
    balancer.endpoints = ours
    balancer.hang_up()
    await _selects(api, selector)
    print(f"\n{_RATE} head pods a second through a real API server, {rounds} rounds of {_ROUND_S:g} s in turns")
    print(f"{'who is asked':32} {'p50 ms':>8} {'p99 ms':>8}  what became of them")
    for who, total in totals.items():
        print(f"{who:32} {total.percentile_ms(0.5):8.2f} {total.percentile_ms(0.99):8.2f}  {dict(total.became)}")


async def _a_minute(api, balancer, replicas, pod, seconds):
    events = asyncio.create_task(_rotate_and_roll(api, balancer, replicas, seconds))
    seen = await offer(api, PODS, pod, _RATE, seconds)
    await events
    durations_ms = sorted(replicas.durations_ms())
    print(f"\n{seconds:g} s with another certificate, another authority and both replicas replaced")
    print(f"what became of {seen.became.total()} head pods: {dict(seen.became)}")
    print(f"as the client saw it: p50 {seen.percentile_ms(0.5):.2f} ms, p99 {seen.percentile_ms(0.99):.2f} ms")
    shares = {share: durations_ms[int(share * len(durations_ms))] for share in (0.5, 0.95, 0.99)}
    print("in the webhook's own log:", ", ".join(f"p{100 * k:g} {v:.2f} ms" for k, v in shares.items()))
    print(f"resident memory of the replicas: {replicas.resident_mb()} MB")
    return 0 if set(seen.became) == {"with sidecar"} else 1


async def _rotate_and_roll(api, balancer, replicas, seconds):
    store = Store(api, Place())
    await asyncio.sleep(seconds / 6)
    stored = await store.read()
    needed = Due(Reason.CERTIFICATE_AGING, authority=False, serving=True)
    await store.write(authority.renew(needed, stored.bundle, Place().names(), Terms(), datetime.now(UTC)), stored)
    print("renewed the serving certificate")
    await asyncio.sleep(seconds / 6)
    await api.delete(f"/api/v1/namespaces/holdfast/secrets/{Place().secret}")
    print("deleted the Secret: another authority takes over")
    for old in list(balancer.endpoints):
        await asyncio.sleep(seconds / 8)
        new = await replicas.start()
        balancer.endpoints.append(new)
        replicas.tell_to_stop(old)
        await asyncio.sleep(_NOTICED_S)
        balancer.endpoints.remove(old)
        await replicas.stopped(old)
        print(f"replaced a replica ({_NOTICED_S:g} s before the Service noticed)")


async def _prepared(api):
    """A namespace that takes part, with a RayService; what makes its head pods."""
    labels = {"holdfast.dev/inject": "enabled"}
    await api.create("/api/v1/namespaces", {"metadata": {"name": "team", "labels": labels}})
    with contextlib.suppress(ApiError):
        await api.create("/api/v1/namespaces/team/serviceaccounts", {"metadata": {"name": "default"}})
    raycluster = await rayservice(api, "shop")
    tags = {"name": "RAY_USAGE_STATS_EXTRA_TAGS", "value": "kuberay_version=v1.6.2;kuberay_crd=RayService"}
    container = {"name": "ray-head", "image": "ray", "env": [tags], "securityContext": RESTRICTED}
    return lambda number: {"metadata": owned(raycluster, f"head-{number}"), "spec": {"containers": [container]}}


async def _selects(api, selector):
    configuration = await api.get(CONFIGURATION)
    for each in configuration["webhooks"]:
        each["namespaceSelector"] = selector
    await api.replace(CONFIGURATION, configuration)
    await asyncio.sleep(2)  # until the API server has seen it


async def _until_injected(api, pod):
    end = time.monotonic() + 60
    while "with sidecar" not in (await offer(api, PODS, pod, 10, 0.1)).became:
        if time.monotonic() > end:
            raise TimeoutError("the webhook is not asked after a minute")
        await asyncio.sleep(0.5)


@contextlib.asynccontextmanager
async def _noop(api, folder):
    """The Go webhook, with Holdfast's own certificate of now; its port."""
    stored = await Store(api, Place()).read()
    (folder / CERT).write_bytes(stored.bundle.serving.cert_pem)
    (folder / KEY).write_bytes(stored.bundle.serving.key_pem)
    source = Path(__file__).parent / "noop"
    subprocess.run(["go", "build", "-o", folder / "noop", "."], cwd=source, check=True, timeout=300)  # noqa: ASYNC221
    port = free_port()
    files = (str(folder / CERT), str(folder / KEY))
    process = await asyncio.create_subprocess_exec(str(folder / "noop"), f"127.0.0.1:{port}", *files)
    try:
        await asyncio.sleep(1)
        yield port
    finally:
        process.terminate()
        await process.wait()


if __name__ == "__main__":
    sys.exit(main())

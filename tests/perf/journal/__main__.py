"""``python -m tests.perf.journal``: what the journal of many RayServices costs, on a real API server.

So many RayServices, each with a head that has a token of its own, write fifty applications each, then read them, then
change one; at 10, 100 and 1,000. Latencies are of the sidecar's calls over TLS, 8 at a time; memory is the webhook's.

``--full 8``: so many, each with a journal nearly as large as it may be, are read and changed at once.
"""

import argparse
import asyncio
import contextlib
import io
import json
import random
import shutil
import ssl
import sys
import tempfile
import time
from itertools import zip_longest
from pathlib import Path

import aiohttp
import msgspec

from serveconfig.journal import Change, Changes, Page
from tests.apiserver.conftest import installed
from tests.apiserver.test_installed import RESTRICTED, owned, rayservice
from tests.perf.admissions.replicas import Replicas, webhook_token
from webhook.cluster import Watchable

APPS = 50
_AT_ONCE = 8
_TEAM = "/api/v1/namespaces/team"


def main() -> int:
    """Run it; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf.journal", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000], help="how many RayServices")
    parser.add_argument("--full", type=int, metavar="N", help="N RayServices with the largest journals instead")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-journal-"))
    try:
        with installed() as cluster:
            asyncio.run(
                _measure_full(cluster, folder, options.full)
                if options.full
                else _measure(cluster, folder, options.sizes)
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


@contextlib.asynccontextmanager
async def _set_up(cluster, folder):
    """The API server, one replica of the webhook, and a client of it."""
    async with Watchable.connected(kubeconfig=str(cluster.kubeconfig)) as api, contextlib.AsyncExitStack() as stack:
        await api.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
        await api.create(f"{_TEAM}/serviceaccounts", {"metadata": {"name": "default"}})
        replicas = Replicas(cluster, folder, await webhook_token(api))
        stack.push_async_callback(replicas.stop_all)
        port = await replicas.start()
        yield api, replicas, await stack.enter_async_context(_client(port))


async def _measure_full(cluster, folder, count):
    chance = random.Random(7)  # noqa: S311 - for configs that compress as configs do
    words = [f"w{n}" for n in range(20_000)]
    texts = [" ".join(chance.choices(words, k=1000)) for _ in range(900)]
    async with _set_up(cluster, folder) as (api, replicas, http):
        heads = [await _head(api, n) for n in range(count)]
        print(f"{'':30}{'p50, p99 ms':>20}   peak so far")
        print(f"{'idle':30}{'':20}{replicas.peak_mb():>9} MB")
        for first in range(0, len(texts), 300):
            for head in heads:
                await _write(http, head, range(first, first + 300), texts[first : first + 300])
        print(f"{'filled one after another':30}{'':20}{replicas.peak_mb():>9} MB")
        read = await asyncio.gather(*(_timed(_read(http, head, len(texts))) for head in heads))
        print(f"{'read whole, all at once':30}{_shares(read):>20}{replicas.peak_mb():>9} MB")
        changed = await asyncio.gather(*(_timed(_write(http, head, [0], ["new"])) for head in heads))
        print(f"{'one changed, all at once':30}{_shares(changed):>20}{replicas.peak_mb():>9} MB")


async def _measure(cluster, folder, sizes):
    async with _set_up(cluster, folder) as (api, replicas, http):
        print(f"{APPS} applications each. {'':17}{'write all':>16}{'read all':>16}{'change one':>16}   memory")
        print(f"{'RayServices':>14}{'':16}{'p50, p99 ms':>18}{'p50, p99 ms':>16}{'p50, p99 ms':>16}")
        print(f"{0:>14}{'':66}{replicas.resident_mb()[0]:>9} MB")
        heads = []
        for size in sizes:
            new = range(len(heads), size)
            heads += await _each(new, lambda n: _head(api, n))
            written = await _each(heads[new.start :], lambda head: _timed(_write(http, head, range(APPS))))
            read = await _each(heads, lambda head: _timed(_read(http, head)))
            changed = await _each(heads, lambda head: _timed(_write(http, head, [0], [str(time.time())])))
            columns = "".join(f"{_shares(each):>16}" for each in (written, read, changed))
            print(f"{size:>14}{'':18}{columns}{replicas.resident_mb()[0]:>9} MB", flush=True)


@contextlib.asynccontextmanager
async def _client(port):
    unchecked = ssl._create_unverified_context()  # noqa: S323 - its names are a cluster's, not loopback's
    connector = aiohttp.TCPConnector(ssl=unchecked, limit=_AT_ONCE)
    async with aiohttp.ClientSession(f"https://127.0.0.1:{port}", connector=connector) as http:
        yield http


async def _head(api, number):
    """A RayService, its RayCluster and its head pod; its name and the token of that pod."""
    raycluster = await rayservice(api, f"shop-{number}")
    container = {"name": "ray-head", "image": "ray", "securityContext": RESTRICTED}
    about = owned(raycluster, f"shop-{number}-head")
    pod = await api.create(f"{_TEAM}/pods", {"metadata": about, "spec": {"containers": [container]}})
    bound = {"kind": "Pod", "apiVersion": "v1", "name": about["name"], "uid": pod["metadata"]["uid"]}
    spec = {"audiences": ["holdfast"], "expirationSeconds": 7200, "boundObjectRef": bound}
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    issued = await api.call("POST", f"{_TEAM}/serviceaccounts/default/token", body=body)
    return f"shop-{number}", issued["status"]["token"]


async def _write(http, head, numbers, words=()):
    name, token = head
    args = zip_longest(numbers, words, fillvalue="hello")
    configs = ({"name": f"app-{n}", "import_path": "shop:build", "args": {"word": word}} for n, word in args)
    changes = tuple(Change(each["name"], msgspec.Raw(json.dumps(each).encode())) for each in configs)
    body = msgspec.json.encode(Changes(changes=changes))
    async with http.patch(f"/v1/journal/team/{name}", data=io.BytesIO(body), headers=_bearer(token)) as answer:
        assert answer.status == 200, await answer.text()


async def _read(http, head, count=APPS):
    name, token = head
    async with http.get(f"/v1/journal/team/{name}", headers=_bearer(token)) as answer:
        assert answer.status == 200, await answer.text()
        assert len(msgspec.json.decode(await answer.read(), type=Page).applications) == count


def _bearer(token):
    return {"Authorization": f"Bearer {token}"}


async def _each(items, call):
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(item):
        async with gate:
            return await call(item)

    return await asyncio.gather(*map(one, items))


async def _timed(work):
    started = time.perf_counter()
    await work
    return 1000 * (time.perf_counter() - started)


def _shares(took_ms):
    ordered = sorted(took_ms)
    return f"{ordered[len(ordered) // 2]:.1f}, {ordered[int(0.99 * len(ordered))]:.1f}"


if __name__ == "__main__":
    sys.exit(main())

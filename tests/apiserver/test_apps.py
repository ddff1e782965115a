"""`holdfast apps` and `diff` through a real API server, which passes requests on to a pod's address.

The pod is an object with this machine's own address, where the real proxy listens before a fake Ray: the API server
passes nothing on to a loopback address.
"""

import asyncio
import contextlib
import hashlib
import json
import re
import socket
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import aiohttp
import msgspec
import pytest
import yaml

from certs.apiserver import MERGE_PATCH, ApiError
from proxy.page.document import Page
from serveconfig.journal import Change, Changes
from tests.apiserver.control_plane import TOKEN
from tests.apiserver.test_certificates import until
from tests.unit.cli.sidecar_double import Head
from webhook import names
from webhook.events import About, Events
from webhook.journal.document import Journal
from webhook.journal.store import JournalStore
from webhook.metrics import Metrics
from webhook.notices import Notice, Reason

TEAM = "/api/v1/namespaces/team"
RAYSERVICES = "/apis/ray.io/v1/namespaces/team/rayservices"
EXAMPLE = Path(__file__).parents[2] / "manifests" / "examples" / "rayservice.yaml"
READER = {
    "rules": [
        {"apiGroups": ["ray.io"], "resources": ["rayservices"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": [""], "resources": ["pods/proxy"], "verbs": ["get", "update", "delete"]},
    ]
}


def own_address():
    """The address by which this machine would reach another; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        any_socket.connect(("198.51.100.1", 9))
        return any_socket.getsockname()[0]


@pytest.fixture
def head(tmp_path):
    head = Head(tmp_path, at=(own_address(), names.PROXY_PORT))
    head.kuberay_puts({"name": "fruit", "route_prefix": "/fruit", "import_path": "served:echo"})
    yield head
    head.close()


async def made(api, collection, manifest):
    name = manifest["metadata"]["name"]
    with contextlib.suppress(ApiError):  # there since the last test
        await api.create(collection, manifest)
    if "status" in manifest:
        await api.patch(f"{collection}/{name}/status", {"status": manifest["status"]}, MERGE_PATCH)


@pytest.fixture
async def team(api, opted_in):
    """A RayService whose head is a pod at this machine's address."""
    rayservice = list(yaml.safe_load_all(EXAMPLE.read_text()))[1]
    rayservice["metadata"] = {"name": "shop"}
    served = {"applications": [{"name": "fruit", "route_prefix": "/fruit", "import_path": "served:echo"}]}
    rayservice["spec"]["serveConfigV2"] = yaml.safe_dump(served)
    rayservice["status"] = {"activeServiceStatus": {"rayClusterName": "shop-abcde"}}
    await made(api, RAYSERVICES, rayservice)
    labels = {"ray.io/cluster": "shop-abcde", "ray.io/node-type": "head"}
    address = own_address()
    pod = {
        "metadata": {"name": "shop-head", "labels": labels},
        "spec": {
            "containers": [{"name": "ray-head", "image": "ray"}],
            "initContainers": [{"name": names.CONTAINER, "image": "holdfast", "restartPolicy": "Always"}],
        },
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]},
    }
    await made(api, f"{TEAM}/pods", pod)
    yield opted_in
    await api.delete(f"{TEAM}/pods/shop-head", gracePeriodSeconds="0")
    await api.delete(f"{RAYSERVICES}/shop")


@pytest.fixture
def holdfast(cluster, team, head):
    assert head.url == f"http://{own_address()}:{names.PROXY_PORT}"

    def holdfast(*arguments, kubeconfig=None):
        given = ["-n", team, "--kubeconfig", str(kubeconfig or cluster.kubeconfig)]
        command = [sys.executable, "-m", "cli.main", *arguments, *given]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    return holdfast


def test_g10_one_application_is_applied_shown_and_deleted_through_the_api_server(holdfast, tmp_path):
    (tmp_path / "model.yaml").write_text(
        "name: model 1\nimport_path: served:echo\nroute_prefix: /m\nargs: {rate: 1.0}\n"
    )

    applied = holdfast("apps", "apply", "-f", str(tmp_path / "model.yaml"), "--wait=30")
    assert (applied.returncode, applied.stdout) == (0, "application model 1: created\n")
    assert "rate: 1.0\n" in holdfast("apps", "get", "model 1").stdout
    listed = holdfast("apps", "list", "-o", "name")
    assert (listed.stdout, listed.stderr) == ("fruit\nmodel 1\n", "")

    deleted = holdfast("apps", "delete", "model 1", "--wait=30")
    assert (deleted.returncode, deleted.stdout) == (0, "application model 1: deleting\n")
    refused = holdfast("apps", "delete", "fruit")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)


def test_a_diff_is_read_through_the_api_server(holdfast, tmp_path):
    manifest = {"kind": "RayService", "metadata": {"name": "shop"}, "spec": {"serveConfigV2": "applications: []"}}
    (tmp_path / "rayservice.json").write_text(json.dumps(manifest))

    compared = holdfast("diff", "-f", str(tmp_path / "rayservice.json"))

    assert (compared.returncode, compared.stdout) == (1, "- delete fruit  declared before, and no longer\n")


async def test_an_application_is_explained_from_its_journal_and_its_events(api, holdfast):
    shop = await api.get(f"{RAYSERVICES}/shop")
    about = About("team", "shop", shop["metadata"]["uid"])
    store, put = JournalStore(api, 1 << 20), Change("old", msgspec.Raw(b'{"name": "old"}'))
    journal, _ = Journal.new().taking(Changes(changes=(put,)), "shop-abcde", 1764590400)
    await store.write(about, journal, await store.read(about))
    events = Events(api, Metrics("test"))
    events.tell(about, Notice(Reason.NOT_CARRIED_OVER, "shop-abcde: old (its route is taken)"))
    writing = asyncio.create_task(events.run())
    await until(lambda: asyncio.sleep(0.05, events.is_idle))
    writing.cancel()

    explained = holdfast("explain", "old")

    assert (explained.returncode, explained.stderr) == (0, "")
    assert "Its config was put on cluster shop-abcde (revision 1 of the journal)." in explained.stdout
    assert "NotCarriedOver: shop-abcde: old (its route is taken)" in explained.stdout


async def test_the_rights_that_the_help_names_are_enough_and_without_them_it_is_said(cluster, api, holdfast, tmp_path):
    account, role = {"metadata": {"name": "reader"}}, {"metadata": {"name": "holdfast-apps"}, **READER}
    await made(api, f"{TEAM}/serviceaccounts", account)
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    issued = await api.call("POST", f"{TEAM}/serviceaccounts/reader/token", body=request)
    config = json.loads(cluster.kubeconfig.read_text())
    config["users"][0]["user"] = {"token": issued["status"]["token"]}
    (tmp_path / "reader").write_text(json.dumps(config))

    without = holdfast("apps", "list", kubeconfig=tmp_path / "reader")
    assert (without.returncode, without.stderr.count("\n")) == (1, 1)
    assert "cannot list resource" in without.stderr

    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/team"
    await made(api, f"{rbac}/roles", role)
    reader = {"kind": "ServiceAccount", "name": "reader", "namespace": "team"}
    of = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "holdfast-apps"}
    await made(
        api, f"{rbac}/rolebindings", {"metadata": {"name": "holdfast-apps"}, "roleRef": of, "subjects": [reader]}
    )
    allowed = [holdfast("apps", "list", "-o", "name", kubeconfig=tmp_path / "reader") for _ in range(2)][-1]
    assert (allowed.returncode, allowed.stdout) == (0, "fruit\n")
    explained = holdfast("explain", "fruit", kubeconfig=tmp_path / "reader").stdout
    assert "\nNot read: its Events (" in explained
    assert "\nNot read: its journal (" in explained


@pytest.mark.usefixtures("team", "head")
async def test_the_page_comes_through_the_api_server_as_its_policy_wants_it(cluster):
    """The API server reads HTML that it passes on, and writes addresses in it anew."""
    path = f"{cluster.url}{TEAM}/pods/shop-head:{names.PROXY_PORT}/proxy/-/"
    token = {"Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(headers=token) as http, http.get(path, ssl=False) as answer:
        page, policy = await answer.read(), answer.headers["Content-Security-Policy"]

    assert answer.status == 200
    for tag in ("style", "script"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), page, re.DOTALL)
        assert b64encode(hashlib.sha256(inside).digest()).decode() in policy
    assert re.findall(rb'href="([a-z./]*)"', page) == re.findall(rb'href="([a-z./]*)"', Page.read().body)

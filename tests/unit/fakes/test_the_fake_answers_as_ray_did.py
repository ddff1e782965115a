"""The fake dashboard against what real Ray answered: if one of them drifts, the scenarios prove nothing."""

import gzip
import io
import json
from pathlib import Path

import aiohttp
import pytest

from tests.fakes.dashboard import APPLICATIONS, FakeRay
from tests.fakes.ray_versions import RECORDED

CAPTURES = Path(__file__).parent / "captures"
BASE = [
    {"name": "d1", "route_prefix": "/d1", "import_path": "served:echo"},
    {"name": "d2", "route_prefix": "/d2", "import_path": "served:echo"},
]
Z = {"name": "z", "import_path": "served:echo"}


def captured(version, what):
    return json.loads((CAPTURES / f"{version}-{what}.json").read_text())


@pytest.fixture(params=RECORDED)
async def ray(request):
    async with FakeRay(request.param) as ray:
        yield ray


@pytest.fixture
async def http(ray):
    async with aiohttp.ClientSession(ray.url) as session:
        yield session


async def get(http):
    async with http.get(APPLICATIONS) as answer:
        return await answer.json()


async def put(http, body, headers=None):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with http.put(APPLICATIONS, data=io.BytesIO(data), headers=headers) as answer:
        return answer.status, answer.headers.get("Content-Type"), await answer.text()


async def test_without_serve_the_body_is_the_captured_one(ray, http):
    async with http.get(APPLICATIONS) as answer:
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json; charset=utf-8")
        assert json.dumps(captured(ray.version.text, "get-noserve")) == await answer.text()


async def test_every_level_of_the_body_has_the_captured_keys_in_the_captured_order(ray, http):
    ray.cluster.delays.build_s = ray.cluster.delays.start_s = 0
    recorded = captured(ray.version.text, "get-mixed")
    configs = [app["deployed_app_config"] for app in recorded["applications"].values() if app["deployed_app_config"]]
    await put(http, {"applications": configs})
    ray.serve_run("imp")

    answered = await get(http)

    assert keys(recorded) == keys(answered)
    assert keys(recorded["controller_info"]) == keys(answered["controller_info"])
    for name, app in recorded["applications"].items():
        theirs, ours = app, answered["applications"][name]
        assert keys(theirs) == keys(ours)
        theirs, ours = first(theirs["deployments"]), first(ours["deployments"])
        assert keys(theirs) == keys(ours)
        assert set(theirs["deployment_config"]) == set(ours["deployment_config"])
        assert keys(theirs["replicas"][0]) == keys(ours["replicas"][0])


def keys(one):
    return list(one)


def first(named):
    return next(iter(named.values()))


async def test_a_config_read_back_is_the_captured_text_and_reads_back_the_same_again(ray, http):
    recorded = captured(ray.version.text, "get-kitchen")["applications"]
    configs = {name: app["deployed_app_config"] for name, app in recorded.items() if app["deployed_app_config"]}

    await put(http, {"applications": list(configs.values())})
    answered = (await get(http))["applications"]

    read_back = {name: app["deployed_app_config"] for name, app in answered.items()}
    assert json.dumps(configs, sort_keys=False) == json.dumps(read_back, sort_keys=False)


PUTS = {
    "invalid json": b'{"applications": [',
    "empty body": b"",
    "json array": [],
    "json null": None,
    "json string": "x",
    "applications missing": {"http_options": {"port": 8000}},
    "applications null": {"applications": None},
    "missing import_path": {"applications": [*BASE, {"name": "z"}]},
    "type error num_replicas": {"applications": [{**Z, "deployments": [{"name": "P", "num_replicas": "many"}]}]},
    "dup names": {"applications": [*BASE, {**BASE[0], "route_prefix": "/other"}]},
    "dup routes": {"applications": [*BASE, {**Z, "route_prefix": "/d1"}]},
    "empty name": {"applications": [{**Z, "name": ""}]},
    "route no slash": {"applications": [{**Z, "route_prefix": "z"}]},
    "app host": {"applications": [{**Z, "name": "q", "host": "1.1.1.1"}]},
    "http_options null": {"applications": BASE, "http_options": None},
    "bad import_path format": {"applications": [{**Z, "import_path": "nodots"}]},
    "BOM": b"\xef\xbb\xbf" + json.dumps({"applications": BASE}).encode(),
    "dup json keys": b'{"applications": [{"name": "a", "name": "b", "import_path": "served:echo"}]}',
    "NaN literal": b'{"applications": [], "target_capacity": NaN}',
    "extra keys top+app+deployment": {"x": 1, "applications": [{**Z, "y": 2, "deployments": [{"name": "P", "w": 3}]}]},
    "http_options extra/changed port": {"applications": BASE, "http_options": {"port": 8001, "what": 1}},
    "body 1.1 MiB": {"applications": [{**Z, "args": {"text": "x" * 1_150_000}}]},
}
SENTENCES = {
    "dup names": 'Found multiple configs for application "d1". Please remove all duplicates.',
    "dup routes": 'Found duplicate applications for route prefix "/d1".',
    "empty name": "Application names must be nonempty.",
    "app host": 'Host "1.1.1.1" is set in the config for application `q`. Please remove it',
    "bad import_path format": 'Got invalid import path "nodots".',
}


async def test_each_put_is_answered_as_it_was(ray, http):
    recorded = captured(ray.version.text, "put-responses")

    answered = {case: await put(http, body) for case, body in PUTS.items()}

    wanted = {case: (recorded[case]["status"], recorded[case]["content_type"]) for case in PUTS}
    assert wanted == {case: (status, content_type) for case, (status, content_type, _) in answered.items()}
    for case, sentence in SENTENCES.items():
        assert sentence in recorded[case]["body"].replace("\\'", "'")
        assert sentence in answered[case][2].replace("\\'", "'")


@pytest.mark.parametrize("version", RECORDED)
async def test_a_body_over_the_limit_is_refused_as_it_was(version):
    recorded = captured(version, "put-responses")["body 101 MiB"]

    async with FakeRay(version, max_body_bytes=100) as ray, aiohttp.ClientSession(ray.url) as http:
        status, _, text = await put(http, b" " * 101)

    assert recorded["status"] == status
    assert recorded["body"][:9] == text[:9]


async def test_a_gzipped_body_is_answered_as_it_was(ray, http):
    recorded = captured(ray.version.text, "put-responses")["gzip body"]
    zipped = gzip.compress(json.dumps({"applications": BASE}).encode())

    status, _, _ = await put(http, zipped, {"Content-Encoding": "gzip"})

    assert recorded["status"] == status


@pytest.mark.parametrize(
    ("what", "name", "builder", "dropped"),
    [
        ("building", "slow", "never_built", False),
        ("deploying", "slow", "never_ready", False),
        ("deploy-failed", "bad", "broken", False),
        ("deleting", "d2", "echo", True),
    ],
)
async def test_an_application_on_its_way_looks_as_it_did(what, name, builder, dropped):
    recorded = captured("2.60.0", f"get-{what}")["applications"][name]
    config = {"name": name, "route_prefix": f"/{name}", "import_path": f"served:{builder}"}

    async with FakeRay("2.60.0") as ray, aiohttp.ClientSession(ray.url) as http:
        ray.cluster.delays.build_s = ray.cluster.delays.start_s = ray.cluster.delays.flicker_s = 0
        await put(http, {"applications": [config]})
        if dropped:
            await put(http, {"applications": []})
        answered = (await get(http))["applications"][name]

    same = ("name", "route_prefix", "status", "source", "docs_path", "external_scaler_enabled")
    assert {key: recorded[key] for key in same} == {key: answered[key] for key in same}
    for key in ("deployed_app_config", "deployments", "deployment_topology"):
        assert bool(recorded[key]) == bool(answered[key]), key

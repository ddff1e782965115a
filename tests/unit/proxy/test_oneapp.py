import json
from dataclasses import replace

import pytest

from proxy import oneapp
from proxy.app import Sidecar, answered
from proxy.http.local import Answer
from proxy.oneapp import OneApplication
from proxy.settings import Settings
from serveconfig import changing
from serveconfig.declared import Declared
from tests.doubles import PlayedRay, PlayedRequest, content, names
from tests.words import app, config, imperative, shown

BROWSER = "Mozilla/5.0"


@pytest.fixture
def ray():
    return PlayedRay(shown(app("static")), shown(app("model")), imperative("m", message="why not", status="UNHEALTHY"))


@pytest.fixture
async def one(tmp_path):
    sidecar = Sidecar.create(replace(Settings(), settle_timeout_s=0.05, state_dir=str(tmp_path)), "test")
    await sidecar.deployments.record.keep(Declared().accepting(config(app("static")), keep_receipts=False))
    return OneApplication(sidecar.deployments, sidecar.syncing)


def call(handler, ray, method, name="", body=b"", **headers):
    body = json.dumps(body).encode() if isinstance(body, dict) else body
    return answered(handler, ray, PlayedRequest(method, f"/-/applications/{name}", body, **headers))


def etag(answer):
    return dict(answer.headers)[b"ETag"].decode()


async def test_g10_the_list_tells_owner_origin_and_state_of_each(one, ray):
    applications = content(await call(one.list, ray, "GET"))["applications"]

    assert {app["name"]: (app["owner"], app["origin"], app["state"], app["message"]) for app in applications} == {
        "static": ("kuberay", "declarative", "RUNNING", ""),
        "model": ("dynamic", "declarative", "RUNNING", ""),
        "m": ("dynamic", "imperative", "UNHEALTHY", "why not"),
    }


async def test_before_kuberays_first_put_the_owner_is_unknown(one, ray):
    await one.deployments.record.keep(Declared())

    assert content(await call(one.get, ray, "GET", "static"))["owner"] == "unknown"


async def test_g10_one_application_is_read_with_its_config(one, ray):
    answer = content(await call(one.get, ray, "GET", "model"))

    assert answer["config"] == app("model")


async def test_an_application_of_serve_run_has_no_config_and_no_etag(one, ray):
    answer = await call(one.get, ray, "GET", "m")

    assert content(answer)["config"] is None
    assert b"ETag" not in dict(answer.headers)


@pytest.mark.parametrize("name", ["nobody", "model%20"])
async def test_an_application_that_does_not_exist_is_404(one, ray, name):
    assert (await call(one.get, ray, "GET", name)).status == 404


@pytest.mark.parametrize("name", ["", "a%2Fb", "%C3%BC", "a%0Ab", "x" * 201])
@pytest.mark.parametrize("method", ["get", "put", "delete"])
async def test_a_name_that_ray_could_not_live_with_is_refused(one, ray, name, method):
    answer = await call(getattr(one, method), ray, method.upper(), name, {"import_path": "m:a"})

    assert answer.status == 400
    assert ray.puts == []


async def test_g10_one_application_is_added_and_nothing_else_moves(one, ray):
    answer = await call(one.put, ray, "PUT", "new", {"import_path": "m:a", "route_prefix": "/new"})

    assert answer.status == 201
    assert content(answer)["config"] == {"name": "new", "import_path": "m:a", "route_prefix": "/new"}
    assert names(ray.puts[0]) == ["static", "model", "new"]


async def test_g10_one_application_is_replaced(one, ray):
    answer = await call(one.put, ray, "PUT", "model", app("model", v=2))

    assert answer.status == 200
    assert content(answer)["config"]["v"] == 2


async def test_g1_the_same_config_again_is_not_sent(one, ray):
    assert (await call(one.put, ray, "PUT", "model", app("model"))).status == 200
    assert ray.puts == []


async def test_g10_one_application_is_deleted(one, ray):
    answer = await call(one.delete, ray, "DELETE", "model")

    assert answer.status == 204
    assert names(ray.puts[0]) == ["static"]


async def test_a_deletion_under_way_is_told(one, ray):
    class Slow(PlayedRay):
        def show(self, body):
            self.entries["model"]["status"] = "DELETING"

    ray = Slow(*ray.entries.items())

    assert (await call(one.delete, ray, "DELETE", "model")).status == 202


@pytest.mark.parametrize(("method", "name"), [("put", "static"), ("delete", "static"), ("delete", "m")])
async def test_g10_what_is_not_the_callers_is_refused_with_409(one, ray, method, name):
    answer = await call(getattr(one, method), ray, method.upper(), name, app(name))

    assert answer.status == 409
    assert name in content(answer)["detail"]


@pytest.mark.parametrize(
    ("conditions", "name", "status"),
    [
        ({"If_Match": "right"}, "model", 200),
        ({"If_Match": '"old", right'}, "model", 200),
        ({"If_Match": "*"}, "model", 200),
        ({"If_Match": '"old"'}, "model", 412),
        ({"If_Match": "W/right"}, "model", 412),
        ({"If_Match": "*"}, "new", 412),
        ({"If_None_Match": "*"}, "new", 201),
        ({"If_None_Match": "*"}, "model", 412),
        ({"If_None_Match": "right"}, "model", 412),
        ({"If_None_Match": '"old"'}, "model", 200),
    ],
)
async def test_g10_preconditions_hold_or_nothing_is_changed(one, ray, conditions, name, status):
    right = etag(await call(one.get, ray, "GET", "model"))
    conditions = {header: value.replace("right", right) for header, value in conditions.items()}

    answer = await call(one.put, ray, "PUT", name, app(name, v=2), **conditions)

    assert answer.status == status
    assert len(ray.puts) == (status < 300)


async def test_g10_of_two_writers_that_read_the_same_the_second_is_told(one, ray):
    read = etag(await call(one.get, ray, "GET", "model"))
    first = await call(one.put, ray, "PUT", "model", app("model", v=2), If_Match=read)
    second = await call(one.put, ray, "PUT", "model", app("model", v=3), If_Match=read)
    again = await call(one.put, ray, "PUT", "model", app("model", v=3), If_Match=etag(first))

    assert [first.status, second.status, again.status] == [200, 412, 200]


async def test_a_deletion_has_preconditions_too(one, ray):
    assert (await call(one.delete, ray, "DELETE", "model", If_Match='"old"')).status == 412


@pytest.mark.parametrize("mark", [{"User_Agent": BROWSER}, {"Origin": "http://evil"}, {"Sec_Fetch_Site": "cross-site"}])
@pytest.mark.parametrize("method", ["put", "delete"])
async def test_g12_a_web_page_may_change_nothing(one, ray, method, mark):
    answer = await call(getattr(one, method), ray, method.upper(), "model", app("model", v=2), **mark)

    assert answer.status == 405
    assert ray.puts == []


async def test_g12_a_web_page_reads_with_its_own_marks_so_that_ray_redacts(one, ray):
    answer = await call(one.get, ray, "GET", "model", User_Agent=BROWSER, Cookie="c")

    assert {b"User-Agent", b"Cookie", b"Host"} == {name for name, _ in ray.asked[0][0]}
    assert content(answer)["etag"] is None


async def test_g12_our_own_reads_have_the_callers_credentials_and_nothing_else(one, ray):
    await call(one.put, ray, "PUT", "new", app("new"), Authorization="Bearer T", X_Other="1")

    assert {(b"User-Agent", b"holdfast/test"), (b"Authorization", b"Bearer T")} == set(ray.asked[0][0])


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"name": 5}', b'{"name": "other"}', b"[" * 500])
async def test_a_config_that_cannot_be_read_is_400(one, ray, body):
    assert (await call(one.put, ray, "PUT", "new", body)).status == 400
    assert ray.puts == []


async def test_what_ray_refuses_is_told_in_rays_words(one, ray):
    ray.put_answer = Answer(400, (), [b"import_path: field required"])

    answer = await call(one.put, ray, "PUT", "new", {"route_prefix": "/new"})

    assert (answer.status, content(answer)["detail"]) == (400, "import_path: field required")


async def test_g12_the_values_that_ray_quotes_are_left_out(one, ray):
    said = "1 validation error\napplications.0\n  Field required [type=missing, input_value={}, input_type=dict]"
    ray.put_answer = Answer(400, (), [said.format("{'k': 's3cret'}").encode()])

    detail = content(await call(one.put, ray, "PUT", "new", {"route_prefix": "/new"}))["detail"]

    assert detail == said.format("...")


@pytest.mark.parametrize("wait", ["-1", "x", "nan", "inf", "1e9"])
async def test_a_wait_that_is_no_time_is_refused(one, ray, wait):
    assert (await call(one.get, ray, "GET", f"model?wait={wait}")).status == 400


@pytest.mark.parametrize("end", ["RUNNING", "DEPLOY_FAILED"])
async def test_waiting_ends_when_the_application_runs_or_has_failed(one, end, monkeypatch):
    class Deploying(PlayedRay):
        async def applications(self, headers, query=b""):
            if len(self.asked) == 3:
                self.entries["new"]["status"] = end
            return await super().applications(headers, query)

    monkeypatch.setattr(oneapp, "POLL_S", 0.001)
    deploying = Deploying(shown(app("new"), status="DEPLOYING"))

    assert content(await call(one.get, deploying, "GET", "new?wait=5"))["state"] == end


async def test_waiting_ends_with_the_time(one, monkeypatch):
    monkeypatch.setattr(oneapp, "POLL_S", 0.001)
    ray = PlayedRay(shown(app("new"), status="DEPLOYING"))

    assert content(await call(one.get, ray, "GET", "new?wait=0.01"))["state"] == "DEPLOYING"


@pytest.mark.parametrize(
    ("method", "sent", "would"),
    [
        ("put", app("new"), "create"),
        ("put", app("model", v=2), "change"),
        ("put", app("model"), "nothing"),
        ("delete", app("model"), "delete"),
    ],
)
async def test_g10_a_dry_run_tells_what_would_be_done_and_does_nothing(one, ray, method, sent, would):
    before = one.deployments.record.declared

    answer = await call(getattr(one, method), ray, method.upper(), f"{sent['name']}?dry_run=true", sent)

    assert (answer.status, content(answer)) == (200, {"name": sent["name"], "dry_run": True, "would": would})
    assert (ray.puts, one.deployments.last_put, one.deployments.record.declared) == ([], None, before)


@pytest.mark.parametrize(
    ("asked", "conditions", "status"),
    [
        ("put static", {}, 409),
        ("delete static", {}, 409),
        ("delete nobody", {}, 404),
        ("put model", {"If_Match": '"old"'}, 412),
        ("put model", {"User_Agent": BROWSER}, 405),
    ],
)
async def test_g10_a_dry_run_is_refused_as_the_change_would_be(one, ray, asked, conditions, status):
    method, name = asked.split()
    target = f"{name}?dry_run=true"

    assert (await call(getattr(one, method), ray, method.upper(), target, app(name), **conditions)).status == status


async def test_a_dry_run_that_is_neither_true_nor_false_is_refused_and_nothing_is_done(one, ray):
    assert (await call(one.put, ray, "PUT", "new?dry_run=yes", app("new"))).status == 400
    assert ray.puts == []


async def test_g3_what_is_still_to_be_carried_over_can_be_deleted(one, ray):
    copy = one.deployments.observer.copy
    copy.take(changing.putting(copy.now, config(app("arriving")).applications, "shop-a"))

    first, again = [await call(one.delete, ray, "DELETE", "arriving") for _ in range(2)]

    assert (first.status, again.status) == (204, 404)
    assert "arriving" not in copy.now.held
    assert ray.puts == []

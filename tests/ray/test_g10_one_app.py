"""G10 one app at a time: one application is read, put or deleted, and nothing else moves."""

import asyncio

from tests.ray.configs import app, tuned


async def test_g10_one_application_is_deployed_waited_for_read_and_deleted(ray, developer, dynamic):
    made = await developer.put_app(app("model", args={"a": 1.0}), wait_s=60)
    assert (made.status, made.json["state"], made.json["owner"]) == (201, "RUNNING", "dynamic")

    read = await developer.app("model")
    assert (read.status, read.json["config"]) == (200, app("model", args={"a": 1.0}))
    assert read.headers["ETag"] == read.json["etag"]

    gone = await developer.delete_app("model", wait_s=60)
    assert gone.status == 204
    assert (await developer.app("model")).status == 404
    assert dynamic == await ray.until_running(*dynamic)


async def test_g10_the_list_tells_whose_each_application_is_and_how_it_is(ray, developer, dynamic):
    await developer.put_app(app("failing", "absent"))
    await ray.until({"failing": "DEPLOY_FAILED", "shop": "RUNNING", **dict.fromkeys(dynamic, "RUNNING")})

    listed = {one["name"]: one for one in (await developer.app()).json["applications"]}

    assert {"shop", "failing", *dynamic} == set(listed)
    assert {name: listed[name]["owner"] for name in ("shop", "guest")} == {"shop": "kuberay", "guest": "dynamic"}
    assert listed["failing"]["state"] == "DEPLOY_FAILED"
    assert listed["failing"]["message"]
    if "notebook" in dynamic and ray.version.has("apps show their source"):
        assert listed["notebook"]["origin"] == "imperative"


async def test_g10_an_application_that_kuberay_declares_is_kuberays_alone(ray, developer, dynamic):
    shop = await ray.replicas("shop")

    refused = [
        await developer.put_app(tuned("shop", 5)),
        await developer.delete_app("shop"),
        await developer.put_all(app("shop")),
    ]

    assert [answer.status for answer in refused] == [409, 409, 409]
    assert all("shop" in answer.text for answer in refused)
    assert shop == await ray.until_running("shop")
    assert dynamic == await ray.replicas(*dynamic)


async def test_g10_of_two_writers_who_read_the_same_the_second_is_told(developer, dynamic):
    assert "guest" in dynamic
    read = (await developer.app("guest")).json["etag"]

    first = await developer.put_app(tuned("guest", 5), If_Match=read)
    second = await developer.put_app(tuned("guest", 6), If_Match=read)

    assert (first.status, second.status) == (200, 412)
    config = (await developer.app("guest")).json["config"]
    assert config["deployments"][0]["graceful_shutdown_timeout_s"] == 5


async def test_g10_if_none_match_star_creates_and_never_replaces(developer, dynamic):
    assert "guest" in dynamic

    made = await developer.put_app(app("fresh"), If_None_Match="*")
    refused = await developer.put_app(tuned("guest", 5), If_None_Match="*")

    assert (made.status, refused.status) == (201, 412)


async def test_g10_teams_that_put_at_once_all_win(ray, developer, dynamic):
    names = [f"team-{number}" for number in range(4)]

    answers = await asyncio.gather(*(developer.put_app(app(name)) for name in names))

    assert {201} == {answer.status for answer in answers}
    await ray.until_running(*names)
    assert dynamic == await ray.replicas(*dynamic)


async def test_g10_waiting_for_an_application_that_fails_ends_with_the_reason(developer, dynamic):
    assert dynamic

    answer = await developer.put_app(app("failing", "absent"), wait_s=60)

    assert answer.json["state"] == "DEPLOY_FAILED"
    assert answer.json["message"]


async def test_g10_what_cannot_be_is_refused_with_a_problem_that_says_what_to_do(ray, developer, dynamic):
    before = set(await ray.statuses())
    refused = {
        "no import path": await developer.put_app({"name": "odd", "route_prefix": "/odd"}),
        "a name that wedges Ray": await developer.ask("PUT", "/-/applications/%C3%BC", app("ü")),
        "a name that is not there": await developer.delete_app("nobody"),
    }

    for case, answer in refused.items():
        assert 400 <= answer.status < 500, case
        assert answer.headers["Content-Type"].startswith("application/problem+json"), case
        assert {"title", "status", "detail"} <= set(answer.json), case
    assert before == set(await ray.statuses())
    assert dynamic == await ray.replicas(*dynamic)

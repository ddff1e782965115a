from concurrent.futures import Future
from functools import partial

import pytest

from cli.demo import teams
from cli.demo.kuberay import KubeRay
from cli.demo.screens import PlainScreen
from cli.demo.story import (
    CHAPTERS,
    FORECAST,
    NOTEBOOK,
    SEARCH,
    SHOP,
    TRANSLATE,
    Chapter,
    Declare,
    Deploy,
    RestartOperator,
)
from cli.demo.telling import Stage, Telling
from cli.demo.watch import StoryError


def done(value):
    future = Future()
    future.set_result(value)
    return future


def stage(serve, **changed):
    standard = {
        "heading": "",
        "holdfast": False,
        "ray_url": serve.url,
        "kuberay_url": serve.url,
        "http_port": 1,
        "deploy_over_rest": partial(teams.with_the_whole_list, serve.url),
        "deploy_by_serve_run": lambda application: done(serve.run(application.name)),
        "look_s": 0.005,
    }
    return Stage(**(standard | changed))


def tell(serve, out, chapters, **changed):
    with KubeRay(serve.url, reconcile_s=0.01) as kuberay:
        return Telling(stage(serve, **changed), kuberay, PlainScreen(out)).tell(chapters)


def chapter(*steps):
    return Chapter("A chapter", "Something happens.", "So it goes.", "So it stays.", steps)


@pytest.fixture
def out(tmp_path):
    with (tmp_path / "screen").open("w+") as out:
        yield out


def test_the_whole_story_without_holdfast_loses_what_came_by_rest(serve, out):
    record = tell(serve, out, CHAPTERS)

    assert {"translate", "forecast"} == set(record.lost)
    assert (record.restarted, record.unretired) == ((), ())
    assert record.stuck
    assert [told.outcome for told in record.chapters] == [
        "nothing lost, nothing restarted",
        "lost: translate, forecast",
        "lost: translate, forecast",
        "nothing more lost; still gone: translate, forecast",
        "the RayService is stuck",
    ]


def test_the_platform_teams_own_change_is_neither_a_loss_nor_a_restart(serve, out):
    record = tell(serve, out, CHAPTERS)

    assert "shop" not in {*record.lost, *record.restarted}
    assert "search" not in {*record.lost, *record.restarted}


def test_a_restart_that_nobody_asked_for_is_seen(serve, out):
    record = tell(serve, out, [chapter(Deploy((NOTEBOOK,)), Declare((SHOP,)))], deploy_by_serve_run=restless(serve))

    assert record.restarted == ("notebook",)


def restless(serve):
    """A serve.run after which the application changes its replica with the next PUT."""

    def deploy(application):
        serve.run(application.name)
        kept_deploy = serve.deploy

        def deploy_and_restart(configs):
            kept_deploy(configs)
            serve.run(application.name)

        serve.deploy = deploy_and_restart
        return done("")

    return deploy


def test_a_static_application_that_does_not_go_is_not_retired(serve, out):
    kept_deploy = serve.deploy
    serve.deploy = lambda configs: kept_deploy({it["name"]: it for it in [SEARCH.config(), *configs]}.values())

    record = tell(serve, out, [chapter(Declare((SHOP, SEARCH))), chapter(Declare((SHOP,)))])

    assert record.unretired == ("search",)
    assert record.chapters[1].outcome == "not retired: search"


def test_an_operator_restart_alone_is_no_news_to_an_application_it_declared(serve, out):
    record = tell(serve, out, [chapter(Declare((SHOP,))), chapter(RestartOperator())])

    assert [told.outcome for told in record.chapters] == ["nothing lost, nothing restarted"] * 2
    assert record.chapters[1].operator.puts == 2


def test_a_refused_change_does_not_end_the_story(serve, out):
    serve.run("shop")
    serve.answers["PUT", "/api/serve/applications/"] = (409, b"would delete notebook")
    record = tell(serve, out, [chapter(Declare((SHOP,)))])

    assert record.chapters[0].outcome == "KubeRay is in trouble: its PUT was answered 409: would delete notebook"
    assert record.stuck


def test_a_team_that_is_refused_is_told_so_and_the_story_goes_on(serve, out):
    problem = b'{"type": "about:blank", "title": "Would delete notebook", "status": 409}'
    serve.answers["PUT", "/-/applications/translate"] = (409, problem)
    record = tell(
        serve,
        out,
        [chapter(Declare((SHOP,)), Deploy((TRANSLATE, FORECAST)))],
        deploy_over_rest=partial(teams.by_itself, serve.url),
    )

    refusal = "translate (PUT /-/applications/translate was answered 409: Would delete notebook)"
    assert record.refused == (refusal,)
    assert f"refused: {refusal}" in record.chapters[0].outcome
    assert "forecast" in serve.applications


def test_a_team_that_fails_ends_the_story_with_the_answer(serve, out):
    serve.answers["PUT", "/api/serve/applications/"] = (500, b"no")

    with pytest.raises(StoryError, match=r"language team could not deploy translate: PUT .* answered 500: no"):
        tell(serve, out, [chapter(Deploy((TRANSLATE,)))])


def test_a_serve_run_that_fails_ends_the_story_with_its_last_words(serve, out):
    failed = Future()
    failed.set_exception(RuntimeError("Traceback\nModuleNotFoundError: no ray"))

    with pytest.raises(StoryError, match=r"serve\.run failed: ModuleNotFoundError: no ray"):
        tell(serve, out, [chapter(Deploy((NOTEBOOK,)))], deploy_by_serve_run=lambda _: failed)


def test_with_holdfast_a_team_sends_its_own_application_and_nothing_else(serve):
    teams.by_itself(serve.url, FORECAST)

    assert [line for line, _, _ in serve.requests] == ["PUT /-/applications/forecast HTTP/1.1"]
    assert {"forecast"} == set(serve.applications)


def test_what_is_being_deleted_is_not_sent_back(serve):
    serve.deploy([FORECAST.config()])
    serve.applications["forecast"]["status"] = "DELETING"
    teams.with_the_whole_list(serve.url, TRANSLATE)

    assert {"translate"} == set(serve.applications)


def test_what_is_told_is_shown(serve, out):
    tell(serve, out, [chapter(Declare((SHOP,)))])
    out.seek(0)

    shown = out.read()
    assert "\n1. A chapter\nSomething happens. So it goes.\n" in shown
    assert "1. A chapter: nothing lost, nothing restarted\n" in shown

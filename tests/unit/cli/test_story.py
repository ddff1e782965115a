import json

import pytest

from cli.demo.story import (
    BROKEN_TRANSLATE,
    CAST,
    CHAPTERS,
    DYNAMIC,
    SHOP,
    Declare,
    Deploy,
    DeployLostAgain,
    Made,
    RestartOperator,
    serve_config,
)


def test_two_come_from_the_ray_service_two_by_rest_one_by_serve_run():
    assert [it.made for it in CAST] == [Made.RAYSERVICE, Made.RAYSERVICE, Made.REST, Made.REST, Made.SERVE_RUN]
    assert CAST[2:] == DYNAMIC


def test_every_name_and_route_is_used_once():
    assert len(CAST) == len({application.name for application in CAST})
    assert len(CAST) == len({application.config()["route_prefix"] for application in CAST})


def test_kubectl_declares_only_what_is_kuberays_and_teams_deploy_only_what_is_not():
    for step in (step for chapter in CHAPTERS for step in chapter.steps):
        match step:
            case Declare(applications):
                assert not any(application.dynamic for application in applications)
            case Deploy(applications):
                assert all(application.dynamic for application in applications)
            case _:
                assert step in (RestartOperator(), DeployLostAgain())


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.title)
def test_a_chapter_says_what_happens_and_why_it_ends_as_it_does(chapter):
    without, with_holdfast = chapter.sentences(holdfast=False), chapter.sentences(holdfast=True)

    assert chapter.steps
    assert without != with_holdfast
    assert all(text.startswith(chapter.what) and text.endswith(".") for text in (without, with_holdfast))


def test_the_serve_config_keeps_serve_on_loopback():
    config = serve_config([SHOP], 20123)

    assert config["http_options"] == {"host": "127.0.0.1", "port": 20123}
    assert [SHOP.config()] == json.loads(json.dumps(config))["applications"]


def test_an_application_breaks_by_weights_that_are_not_there():
    assert BROKEN_TRANSLATE.lasting_status == "DEPLOY_FAILED"
    assert ["RUNNING"] * len(CAST) == [application.lasting_status for application in CAST]
    assert BROKEN_TRANSLATE.config()["args"]["weights"]

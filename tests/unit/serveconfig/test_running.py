import pytest

from serveconfig.errors import UnreadableAnswerError
from serveconfig.rayversion import RayVersion
from serveconfig.running import Origin, Running
from tests.words import app, imperative, running, shown


def only(now):
    (application,) = now.applications.values()
    return application


@pytest.mark.parametrize(
    ("entry", "origin"),
    [
        pytest.param(shown(app("a")), Origin.DECLARATIVE, id="declarative"),
        pytest.param(imperative("a"), Origin.IMPERATIVE, id="imperative"),
        pytest.param(shown(app("a"), source="imperative"), Origin.IMPERATIVE, id="imperative, with an old config left"),
        pytest.param(shown(name="a", source="unknown"), Origin.UNKNOWN, id="unknown"),
        pytest.param(shown(name="a", source="of a later Ray"), Origin.UNKNOWN, id="a word we do not know"),
        pytest.param(shown(app("a"), source=None), Origin.DECLARATIVE, id="before 2.39, with a config"),
        pytest.param(shown(name="a", source=None), Origin.IMPERATIVE, id="before 2.39, without"),
    ],
)
def test_the_origin_of_an_application(entry, origin):
    assert origin is only(running(entry)).origin


def test_g3_an_application_that_is_being_deleted_is_not_here():
    now = running(shown(app("a"), status="DELETING"))

    assert now.here("a") is None
    assert not only(now).is_kept_by_naming


def test_the_route_of_an_application_that_is_being_built_is_the_one_of_its_config():
    assert only(running(shown(app("a", "/x"), route_prefix=None))).route_prefix == "/x"


def test_g3_an_empty_controller_info_is_told_from_a_filled_one():
    assert running().has_controller
    assert not running(controller=False).has_controller


def test_the_target_capacity_is_read_as_ray_shows_it():
    assert running(target_capacity=50.0).options == {"target_capacity": b"50.0"}
    assert running(target_capacity=None).options == {}


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"applications": []}',
        b'{"applications": {"a": {"deployed_app_config": 5}}}',
        b"[" * 9000,
    ],
)
def test_g4_an_answer_that_is_no_list_of_applications_is_not_believed(answer):
    with pytest.raises(UnreadableAnswerError):
        Running.parse(answer)


def test_a_stored_name_that_is_not_ascii_does_not_hide_the_others():
    assert {"ü", "a"} == set(running(shown(app("ü")), shown(app("a"))).applications)


@pytest.mark.parametrize(
    ("text", "keeps"),
    [("2.7.2", False), ("2.10.0", False), ("2.11.0", True), ("2.60.0", True), ("3.0.0.dev0", True), ("nightly", False)],
)
def test_g1_which_ray_keeps_applications_of_serve_run(text, keeps):
    assert keeps is RayVersion(text).keeps_imperative

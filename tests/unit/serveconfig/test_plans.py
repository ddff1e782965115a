import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serveconfig.declared import Declared
from serveconfig.document import ServeConfig
from serveconfig.errors import (
    DeclaredByKubeRayError,
    ImperativeError,
    NoSuchApplicationError,
    RouteTakenError,
    UnknownStateError,
    WouldDeleteImperativeError,
)
from serveconfig.plans import Situation, bring, declare, delete, drop, repeat, upsert
from serveconfig.rayversion import RayVersion
from tests.words import app, body, config, imperative, running, sent, shown, situation

OLD = config(app("static"))
NEW = config(app("static", args={"x": 2}))


class TestDeclare:
    """A PUT by KubeRay."""

    def test_g1_a_declarative_application_that_it_does_not_name_is_kept(self):
        plan = declare(NEW, situation(running(shown(app("static")), shown(app("model"))), OLD))

        assert list(sent(plan)[0]) == ["static", "model"]
        assert plan.kept == ("model",)

    def test_g1_the_kept_config_is_put_in_the_bytes_ray_gave(self):
        stored = b'{"name": "model", "args": {"f": 1.0, "n": 12345678901234567890}}'
        answer = (
            b'{"controller_info": {"a": "b"}, "applications": {"model": {"status": "RUNNING", "source": "declarative",'
            b'"deployed_app_config": ' + stored + b"}}}"
        )

        plan = declare(NEW, Situation(running().parse(answer), Declared(), RayVersion("2.60.0")))

        assert plan.body == body(app("static", args={"x": 2}))[:-2] + b"," + stored + b"]}"

    def test_g1_an_imperative_application_is_not_named(self):
        plan = declare(NEW, situation(running(shown(app("static")), imperative("m")), OLD))

        assert list(sent(plan)[0]) == ["static"]
        assert plan.kept == ()

    def test_g3_what_it_declared_before_and_no_longer_does_is_retired(self):
        runs = running(shown(app("static")), shown(app("old")), shown(app("model")))

        plan = declare(NEW, situation(runs, config(app("static"), app("old"))))

        assert list(sent(plan)[0]) == ["static", "model"]
        assert plan.retired == ("old",)

    def test_g3_an_application_that_is_being_deleted_is_not_named(self):
        plan = declare(NEW, situation(running(shown(app("model"), status="DELETING")), OLD))

        assert list(sent(plan)[0]) == ["static"]

    def test_g3_what_an_unanswered_put_may_have_created_is_its_to_retire(self):
        now = situation(running(shown(app("static")), shown(app("maybe"))), OLD)
        now = Situation(now.running, now.declared.attempting(["maybe"]), now.ray)

        assert declare(NEW, now).retired == ("maybe",)

    def test_g1_with_nothing_known_everything_is_kept(self):
        plan = declare(NEW, situation(running(shown(app("static")), shown(app("old or dynamic")))))

        assert plan.kept == ("old or dynamic",)

    def test_g1_a_repeated_put_is_not_sent(self):
        plan = declare(OLD, situation(running(shown(app("static")), shown(app("model"))), OLD))

        assert plan.body is None
        assert plan.kept == ("model",)

    def test_g1_a_first_put_of_exactly_what_runs_is_not_sent(self):
        assert declare(OLD, situation(running(shown(app("static"))))).body is None

    @pytest.mark.parametrize(
        ("asked", "runs"),
        [
            pytest.param(OLD, running(), id="an application is missing"),
            pytest.param(OLD, running(shown(app("static"), status="DEPLOY_FAILED")), id="an application failed"),
            pytest.param(OLD, running(shown(app("static", x=1))), id="an application was changed by somebody"),
            pytest.param(NEW, running(shown(app("static"))), id="an application is to change"),
            pytest.param(
                config(app("static"), target_capacity=50), running(shown(app("static"))), id="an option is to change"
            ),
            pytest.param(OLD, running(shown(app("static")), controller=False), id="Serve does not run"),
        ],
    )
    def test_a_put_is_sent_if(self, asked, runs):
        assert declare(asked, situation(runs, OLD)).body is not None

    def test_the_options_are_passed_as_they_came(self):
        asked = ServeConfig.parse(b'{"target_capacity":20.0,"applications":[],"unknown":{"a":1.50},"http_options":{}}')

        plan = declare(asked, situation(running(), OLD))

        assert plan.body == b'{"target_capacity":20.0,"unknown":{"a":1.50},"http_options":{},"applications":[]}'

    def test_a_config_without_applications_is_sent_as_an_empty_list(self):
        assert declare(ServeConfig.parse(b"{}"), situation(running(controller=False))).body == b'{"applications":[]}'

    @pytest.mark.parametrize("holder", [shown(app("model", "/x")), imperative("model", route_prefix="/x")])
    def test_a_route_of_a_dynamic_application_is_refused_naming_both(self, holder):
        with pytest.raises(RouteTakenError, match=r"'static' claims .*'/x'.* 'model'"):
            declare(config(app("static", "/x")), situation(running(holder), OLD))

    def test_a_route_of_a_retired_application_is_free(self):
        plan = declare(config(app("new", "/static")), situation(running(shown(app("static"))), OLD))

        assert list(sent(plan)[0]) == ["new"]

    def test_a_route_shared_before_we_came_is_no_reason_to_refuse(self):
        runs = running(shown(app("static", "/x"), route_prefix="/x"), imperative("thief", route_prefix="/x"))

        assert declare(config(app("static", "/x", y=1)), situation(runs, OLD)).body is not None

    def test_two_applications_without_a_route_do_not_clash(self):
        runs = running(shown({**app("model"), "route_prefix": None}, route_prefix=None))

        assert declare(config({**app("static"), "route_prefix": None}), situation(runs, OLD)).body is not None

    def test_a_name_made_by_serve_run_may_be_declared_and_is_reported(self):
        plan = declare(OLD, situation(running(imperative("static"))))

        assert plan.taken_over == ("static",)

    def test_g4_an_application_whose_config_ray_does_not_show_cannot_be_kept(self):
        with pytest.raises(UnknownStateError, match="'model' from a config that it does not show, "):
            declare(NEW, situation(running(shown(name="model")), OLD))

    def test_an_application_that_serve_run_replaced_is_not_retired(self):
        plan = declare(NEW, situation(running(shown(app("static")), imperative("old")), config(app("old"))))

        assert plan.retired == ()

    def test_g1_ray_before_2_11_is_sent_nothing_that_deletes_serve_run_applications(self):
        runs = running(shown(app("static"), source=None), shown(name="m", source=None))

        with pytest.raises(WouldDeleteImperativeError, match="would delete 'm'"):
            declare(NEW, situation(runs, OLD, ray="2.9.3"))
        assert declare(OLD, situation(runs, OLD, ray="2.9.3")).body is None
        assert declare(NEW, situation(runs, OLD, ray="2.9.3", allow_loss=True)).body is not None
        assert declare(NEW, situation(runs, OLD, ray="2.11.0")).body is not None

    def test_ray_before_2_11_without_serve_run_applications_is_like_any_other(self):
        assert declare(NEW, situation(running(shown(app("static"), source=None)), OLD, ray="2.9.3")).body is not None

    def test_what_it_creates_is_told(self):
        assert declare(config(app("static"), app("new")), situation(running(shown(app("static"))))).created == ("new",)


class TestUpsert:
    """A PUT by anyone else."""

    def test_g10_it_adds_what_it_names_and_leaves_the_rest(self):
        runs = running(shown(app("static")), shown(app("model")), imperative("m"))

        applications, options = sent(
            upsert(config(app("new")), situation(runs, config(app("static"), target_capacity=20)))
        )

        assert list(applications) == ["static", "model", "new"]
        assert options == {"target_capacity": 20}

    def test_g10_it_replaces_what_it_names(self):
        plan = upsert(config(app("model", args={"x": 2})), situation(running(shown(app("model"))), OLD))

        assert sent(plan)[0]["model"]["args"] == {"x": 2}

    def test_g10_a_declared_application_may_not_be_named(self):
        with pytest.raises(DeclaredByKubeRayError, match="'static' is declared by the RayService"):
            upsert(config(app("static"), app("new")), situation(running(shown(app("static"))), OLD))

    def test_g10_all_declared_applications_it_names_are_told(self):
        with pytest.raises(DeclaredByKubeRayError, match="applications 'a', 'b' are declared"):
            upsert(config(app("b"), app("a"), app("c")), situation(running(), config(app("a"), app("b"))))

    def test_g1_its_options_are_not_taken_while_kuberays_are_known(self):
        plan = upsert(config(app("new"), http_options={"port": 1}), situation(running(), OLD))

        assert sent(plan)[1] == {}

    def test_without_a_declaration_the_options_are_its_own_and_what_ray_shows(self):
        plan = upsert(config(app("new"), http_options={"port": 1}), situation(running(target_capacity=50)))

        assert sent(plan)[1] == {"http_options": {"port": 1}, "target_capacity": 50}

    def test_g1_a_declared_application_that_ray_does_not_show_yet_is_named_as_kuberay_sent_it(self):
        assert list(sent(upsert(config(app("new")), situation(running(), OLD)))[0]) == ["static", "new"]

    def test_g1_a_declared_application_that_is_being_deleted_is_left_to_go(self):
        runs = running(shown(app("static"), status="DELETING"))

        assert list(sent(upsert(config(app("new")), situation(runs, OLD)))[0]) == ["new"]

    def test_g1_a_declared_application_that_serve_run_replaced_is_left_alone(self):
        assert list(sent(upsert(config(app("new")), situation(running(imperative("static")), OLD)))[0]) == ["new"]

    def test_g1_a_repeated_put_is_not_sent(self):
        assert upsert(config(app("model")), situation(running(shown(app("model"))), OLD)).body is None

    def test_a_put_that_names_nothing_is_not_sent(self):
        assert upsert(ServeConfig.parse(b"{}"), situation(running(shown(app("model"))), OLD)).body is None

    @pytest.mark.parametrize("holder", [shown(app("static")), imperative("static"), shown(app("other", "/static"))])
    def test_a_route_that_somebody_has_is_refused(self, holder):
        with pytest.raises(RouteTakenError):
            upsert(config(app("new", "/static")), situation(running(holder), OLD))

    def test_an_application_keeps_its_own_route(self):
        assert upsert(config(app("model", x=1)), situation(running(shown(app("model"))), OLD)).body is not None

    def test_g1_ray_before_2_11_is_sent_nothing_that_deletes_serve_run_applications(self):
        with pytest.raises(WouldDeleteImperativeError):
            upsert(config(app("new")), situation(running(shown(name="m", source=None)), OLD, ray="2.9.3"))

    def test_a_name_made_by_serve_run_may_be_put_and_is_reported(self):
        assert upsert(config(app("m")), situation(running(imperative("m")), OLD)).taken_over == ("m",)


class TestDelete:
    """The deletion of one application."""

    def test_g10_everything_else_is_named(self):
        runs = running(shown(app("static")), shown(app("model")), shown(app("other")), imperative("m"))

        plan = delete("model", situation(runs, OLD))

        assert list(sent(plan)[0]) == ["static", "other"]
        assert plan.retired == ("model",)

    @pytest.mark.parametrize(
        ("name", "error"),
        [
            ("static", DeclaredByKubeRayError),
            ("m", ImperativeError),
            ("gone", NoSuchApplicationError),
            ("nobody", NoSuchApplicationError),
        ],
    )
    def test_g10_it_is_refused(self, name, error):
        runs = running(shown(app("static")), imperative("m"), shown(app("gone"), status="DELETING"))

        with pytest.raises(error, match=name):
            delete(name, situation(runs, OLD))

    def test_g1_ray_before_2_11_is_sent_nothing_that_deletes_serve_run_applications(self):
        runs = running(shown(app("model"), source=None), shown(name="m", source=None))

        with pytest.raises(WouldDeleteImperativeError, match="'m'"):
            delete("model", situation(runs, OLD, ray="2.10.0"))


class TestDrop:
    """A deletion that Ray has lost sight of, again."""

    @pytest.mark.parametrize("source", ["declarative", None])
    def test_g3_what_runs_on_without_a_config_is_left_out_again(self, source):
        left_over = shown(name="deleted", source=source, last_deployed_time_s=5.0)
        runs = running(shown(app("static")), left_over, shown(app("model")))

        plan = drop(frozenset({"deleted"}), situation(runs, OLD, dropped={"deleted": 5.0}, ray="2.9.3"))

        assert list(sent(plan)[0]) == ["static", "model"]
        assert plan.retired == ("deleted",)

    def test_g3_until_then_it_counts_as_gone(self):
        runs = running(shown(app("static")), shown(name="deleted", source=None, last_deployed_time_s=5.0))
        now = situation(runs, OLD, dropped={"deleted": 5.0}, ray="2.9.3")

        assert list(sent(declare(NEW, now))[0]) == ["static"]
        assert list(sent(upsert(config(app("deleted")), now))[0]) == ["static", "deleted"]

    @pytest.mark.parametrize(
        "entry",
        [
            pytest.param(shown(app("deleted"), last_deployed_time_s=5.0), id="it has a config again"),
            pytest.param(imperative("deleted", last_deployed_time_s=6.0), id="serve.run made it anew"),
            pytest.param(shown(name="deleted", source=None, last_deployed_time_s=6.0), id="likewise, on an old Ray"),
            pytest.param(shown(name="deleted", status="DELETING", last_deployed_time_s=5.0), id="it is on its way out"),
        ],
    )
    def test_g1_what_somebody_has_made_anew_stays(self, entry):
        assert drop(frozenset({"deleted"}), situation(running(entry), OLD, dropped={"deleted": 5.0})).body is None


class TestBring:
    """What another cluster of the RayService has."""

    def test_g5_what_is_missing_is_added_and_everything_else_named(self):
        plan = bring(config(app("a"), app("b")), frozenset(), situation(running(shown(app("static"))), OLD))

        assert list(sent(plan)[0]) == ["static", "a", "b"]
        assert set(plan.created) == {"a", "b"}

    def test_g5_a_declared_name_is_left_to_kuberay(self):
        plan = bring(config(app("static"), app("a")), frozenset(), situation(running(shown(app("static"))), OLD))

        assert plan.sent.names == {"a"}
        assert sent(plan)[0]["static"] == app("static")

    def test_g3_what_was_deleted_there_is_deleted_here_in_the_same_put(self):
        runs = running(shown(app("static")), shown(app("gone")), shown(app("stays")))

        plan = bring(config(app("a")), frozenset(("gone", "static", "absent")), situation(runs, OLD))

        assert set(sent(plan)[0]) == {"static", "stays", "a"}
        assert plan.retired == ("gone",)

    def test_g5_what_runs_already_as_it_should_is_not_put(self):
        plan = bring(config(app("a")), frozenset(), situation(running(shown(app("static")), shown(app("a"))), OLD))

        assert plan.body is None

    def test_g5_a_taken_route_is_refused_with_both_names(self):
        now = situation(running(shown(app("static")), shown(app("gone"))), OLD)
        for dropping in (frozenset(), frozenset(("gone",))):
            with pytest.raises(RouteTakenError, match=r"'a'.*'static'"):
                bring(config(app("a", route="/static")), dropping, now)

    def test_g5_ray_before_2_11_loses_nothing_of_serve_run(self):
        now = situation(running(shown(app("static")), imperative("m"), shown(app("gone"))), OLD, ray="2.9.3")
        for dropping in (frozenset(), frozenset(("gone",))):
            with pytest.raises(WouldDeleteImperativeError):
                bring(config(app("a")), dropping, now)


class TestRepeat:
    """What runs, and nothing else."""

    def test_g1_everything_is_named_as_it_is(self):
        plan = repeat(situation(running(shown(app("static")), shown(app("a")), imperative("m")), OLD))

        assert sent(plan)[0] == {"static": app("static"), "a": app("a")}
        assert (plan.sent.names, plan.retired, plan.created) == (frozenset(), (), ())

    def test_where_there_is_nothing_to_name_nothing_is_sent(self):
        assert repeat(situation(running(imperative("m")))).body is None

    def test_g5_ray_before_2_11_loses_nothing_of_serve_run(self):
        with pytest.raises(WouldDeleteImperativeError):
            repeat(situation(running(shown(app("static")), imperative("m")), OLD, ray="2.9.3"))


def test_g4_a_config_that_ray_does_not_show_comes_from_the_journal():
    now = situation(running(shown(app("static")), shown(name="model")), OLD)
    held = config(app("model")).applications[0]

    plan = declare(NEW, replace(now, journaled={"model": held}.get))

    assert sent(plan)[0]["model"] == app("model")


names = st.sampled_from("abcdef")
statuses = st.sampled_from(["RUNNING", "DEPLOYING", "DEPLOY_FAILED", "UNHEALTHY", "DELETING"])
entries = st.builds(
    lambda name, is_ours, status, x: (
        shown(app(name, x=x), status=status) if is_ours else imperative(name, status=status)
    ),
    names,
    st.booleans(),
    statuses,
    st.integers(0, 1),
)
some_configs = st.lists(names, unique=True).map(lambda chosen: config(*map(app, chosen)))
situations = st.builds(
    lambda runs, declared: situation(running(*{entry[0]: entry for entry in runs}.values()), declared),
    st.lists(entries),
    st.none() | some_configs,
)


@given(some_configs, situations)
def test_g1_g3_whatever_runs_a_put_by_kuberay_deletes_only_what_it_declared_before(asked, now):
    plan = declare(asked, now)
    before = {name for name, entry in now.running.applications.items() if entry.is_kept_by_naming}
    after = before if plan.body is None else set(sent(plan)[0])

    assert before - after <= now.declared.names
    assert after >= asked.names
    assert set(plan.kept) == before - asked.names - now.declared.names


@given(some_configs, situations)
def test_g1_whatever_runs_kept_configs_are_put_as_ray_stores_them(asked, now):
    plan = declare(asked, now)
    if plan.body is not None:
        applications, _ = sent(plan)

        assert all(applications[name] == json.loads(now.running.applications[name].config.raw) for name in plan.kept)
        assert all(applications[application.name] == json.loads(application.raw) for application in asked.applications)


@given(some_configs, situations)
def test_g10_whatever_runs_an_upsert_deletes_nothing(asked, now):
    try:
        plan = upsert(asked, now)
    except DeclaredByKubeRayError:
        assert asked.names & now.declared.names
        return
    before = {name for name, entry in now.running.applications.items() if entry.is_kept_by_naming}

    assert plan.body is None or before | asked.names <= set(sent(plan)[0])

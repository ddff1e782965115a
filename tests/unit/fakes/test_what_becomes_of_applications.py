"""The fake cluster's rules of life, each of them seen on real Ray."""

import pytest

from tests.fakes.ray_config import Config, application
from tests.fakes.ray_model import Cluster, Delays
from tests.fakes.ray_versions import RayVersion

OLD, MIDDLE, NEW = "2.9.3", "2.40.0", "2.60.0"
LATER = 1_000.0


def cluster_of(version=NEW, **delays):
    cluster = Cluster(RayVersion(version), Delays(**delays))
    cluster.start_serve({})
    return cluster


def config(cluster, *apps, **top):
    return Config({one["name"]: application(one, cluster.version) for one in apps}, top)


def app(name, builder="echo", **more):
    return {"name": name, "route_prefix": f"/{name}", "import_path": f"served:{builder}", **more}


def put(cluster, now, *apps, **top):
    cluster.apply(config(cluster, *apps, **top), now)


def statuses(cluster, now):
    cluster.advance(now)
    return {name: one.status(now) for name, one in cluster.apps.items()}


def replicas(cluster, name, now=LATER):
    cluster.advance(now)
    return [one for several in cluster.apps[name].replicas.values() for one in several]


@pytest.mark.parametrize(
    ("builder", "end"),
    [
        ("echo", "RUNNING"),
        ("absent", "DEPLOY_FAILED"),
        ("broken", "DEPLOY_FAILED"),
        ("never_built", "DEPLOYING"),
        ("never_ready", "DEPLOYING"),
        ("sick", "UNHEALTHY"),
    ],
)
def test_an_application_ends_as_its_import_path_says(builder, end):
    cluster = cluster_of()

    put(cluster, 0, app("a", builder))

    assert statuses(cluster, 0) == {"a": "DEPLOYING"}
    assert statuses(cluster, LATER) == {"a": end}


def test_a_put_again_flickers_and_keeps_the_replicas():
    cluster = cluster_of()
    put(cluster, 0, app("a", deployments=[{"name": "Echo", "num_replicas": 2}]))
    before = replicas(cluster, "a")

    put(cluster, LATER, app("a", deployments=[{"name": "Echo", "num_replicas": 2}]))

    assert statuses(cluster, LATER) == {"a": "DEPLOYING"}
    assert statuses(cluster, LATER + 1) == {"a": "RUNNING"}
    assert before == replicas(cluster, "a", LATER + 1)


@pytest.mark.parametrize(
    "changed",
    [{"args": {"x": 1}}, {"runtime_env": {"env_vars": {"A": "2"}}}, {"import_path": "served:other"}],
    ids=["args 1.0 to 1", "runtime_env", "import_path"],
)
def test_other_code_means_other_replicas(changed):
    cluster = cluster_of()
    put(cluster, 0, app("a", args={"x": 1.0}))
    before = replicas(cluster, "a")

    put(cluster, LATER, {**app("a", args={"x": 1.0}), **changed})

    assert not set(before) & set(replicas(cluster, "a", 2 * LATER))


def test_fewer_and_more_replicas_leave_the_others_alone():
    cluster = cluster_of()
    put(cluster, 0, app("a", deployments=[{"name": "Echo", "num_replicas": 2}]))
    two = replicas(cluster, "a")

    put(cluster, LATER, app("a", deployments=[{"name": "Echo", "num_replicas": 3}]))
    assert two == replicas(cluster, "a")[:2]

    put(cluster, LATER, app("a", deployments=[{"name": "Echo", "num_replicas": 2}]), target_capacity=50)
    assert two[:1] == replicas(cluster, "a")


def test_a_build_starts_again_with_every_put():
    cluster = cluster_of(build_s=10)
    put(cluster, 0, app("a"))
    put(cluster, 8, app("a"))

    assert statuses(cluster, 12) == {"a": "DEPLOYING"}
    assert cluster.apps["a"].phase_ends_s == 18


def test_a_failed_build_is_tried_again_and_a_failed_start_is_not():
    cluster = cluster_of()
    put(cluster, 0, app("a", "absent"), app("b", "broken"))
    assert statuses(cluster, LATER) == {"a": "DEPLOY_FAILED", "b": "DEPLOY_FAILED"}

    put(cluster, LATER, app("a", "absent"), app("b", "broken"))

    assert cluster.apps["a"].phase == "building"
    assert cluster.apps["b"].phase == "not started"


@pytest.mark.parametrize(("version", "left"), [(OLD, set()), (MIDDLE, {"notebook"}), (NEW, {"notebook"})])
def test_a_put_deletes_what_it_does_not_name_and_before_2_11_serve_runs_too(version, left):
    cluster = cluster_of(version)
    put(cluster, 0, app("a"))
    cluster.serve_run("notebook", app("notebook"), 0)

    put(cluster, LATER)

    assert left == set(statuses(cluster, 2 * LATER))


@pytest.mark.parametrize(("version", "left"), [(OLD, {"a"}), (NEW, {"a", "notebook"})])
def test_a_controller_restart_applies_its_stored_config_again(version, left):
    cluster = cluster_of(version)
    put(cluster, 0, app("a"))
    cluster.serve_run("notebook", app("notebook"), 0)
    before = replicas(cluster, "a")

    cluster.restart_controller(LATER)

    assert left == set(statuses(cluster, 2 * LATER))
    assert before == replicas(cluster, "a", 2 * LATER)


def test_serve_delete_leaves_the_config_behind_and_a_controller_restart_brings_it_back():
    cluster = cluster_of()
    put(cluster, 0, app("a"))
    cluster.serve_delete("a", LATER)
    assert statuses(cluster, 2 * LATER) == {}
    assert "a" in cluster.stored

    cluster.restart_controller(2 * LATER)

    assert statuses(cluster, 3 * LATER) == {"a": "RUNNING"}


def test_a_put_that_names_what_is_being_deleted_cancels_the_deletion_with_new_replicas():
    cluster = cluster_of(delete_s=10)
    put(cluster, 0, app("a"))
    before = replicas(cluster, "a")
    put(cluster, LATER)
    assert statuses(cluster, LATER + 1) == {"a": "DELETING"}

    put(cluster, LATER + 1, app("a"))

    assert statuses(cluster, 2 * LATER) == {"a": "RUNNING"}
    assert before != replicas(cluster, "a", 2 * LATER)


def test_serve_run_over_a_declarative_name_takes_it_and_leaves_the_old_config():
    cluster = cluster_of()
    put(cluster, 0, app("a"))
    cluster.serve_run("a", app("a"), LATER)

    assert cluster.apps["a"].source == "imperative"
    assert "a" in cluster.stored
    put(cluster, 2 * LATER)
    assert set(statuses(cluster, 3 * LATER)) == {"a"}


def test_a_put_that_names_a_serve_run_application_takes_it_over_with_new_replicas():
    cluster = cluster_of()
    cluster.serve_run("a", app("a"), 0)
    before = replicas(cluster, "a")

    put(cluster, LATER, app("a"))

    assert cluster.apps["a"].source == "declarative"
    assert before != replicas(cluster, "a", 2 * LATER)


@pytest.mark.parametrize(("version", "left"), [(MIDDLE, {"a"}), (NEW, set())])
def test_before_2_52_an_application_dropped_as_its_build_ends_comes_back_without_a_config(version, left):
    cluster = cluster_of(version, build_s=1, loop_s=0.5, delete_s=1)
    put(cluster, 0, app("a"))

    put(cluster, 0.8)

    assert statuses(cluster, 0.9) == {"a": "DELETING"}
    assert left == set(statuses(cluster, LATER))
    assert "a" not in cluster.stored


def test_shutdown_takes_everything_and_a_new_head_knows_nothing():
    cluster = cluster_of()
    put(cluster, 0, app("a"))
    node, session = cluster.node_id, cluster.session_name

    cluster.shutdown()
    assert (cluster.controller, cluster.apps, cluster.stored) == (None, {}, {})
    assert [one.state for one in cluster.controllers] == ["DEAD"]

    cluster.boot()
    assert (cluster.controllers, node == cluster.node_id, session == cluster.session_name) == ([], False, False)

"""A story is only as good as its judgement of what became of an application."""

import pytest

from tests.cluster.fates import Fate, Seen, fates, look

RUNS = Seen("RUNNING", frozenset({"one"}))
RUNS_ANEW = Seen("RUNNING", frozenset({"two"}))
FAILED = Seen("DEPLOY_FAILED", frozenset())


@pytest.mark.parametrize(
    ("before", "after", "fate"),
    [
        pytest.param(RUNS, RUNS, Fate.KEPT, id="same actors"),
        pytest.param(RUNS, RUNS_ANEW, Fate.RESTARTED, id="other actors"),
        pytest.param(RUNS, None, Fate.LOST, id="gone"),
        pytest.param(RUNS, FAILED, Fate.BROKEN, id="there, but does not run"),
        pytest.param(None, RUNS, Fate.NEW, id="came meanwhile"),
        pytest.param(FAILED, RUNS, Fate.RESTARTED, id="runs at last"),
    ],
)
def test_two_looks_tell_a_fate(before, after, fate):
    first = {} if before is None else {"app": before}
    second = {} if after is None else {"app": after}

    assert {"app": fate} == fates(first, second)


def test_what_never_ran_is_not_lost():
    assert fates({"app": FAILED}, {}) == {}


def test_a_replica_that_still_starts_has_no_actor_yet():
    deployments = {"d": {"replicas": [{"actor_id": "one"}, {"state": "STARTING"}]}}
    answer = {"applications": {"app": {"status": "DEPLOYING", "deployments": deployments}}}

    assert {"app": Seen("DEPLOYING", frozenset({"one", ""}))} == look(answer)

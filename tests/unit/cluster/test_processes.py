"""A node is ended by its processes' ids. A number that now belongs to somebody else must not be touched."""

import os
import time

import pytest

from tests.cluster.node import processes
from tests.cluster.node.errors import CannotRunHereError


@pytest.fixture(autouse=True)
def _own_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "RUN", tmp_path)
    monkeypatch.setattr(processes, "LOGS", tmp_path)
    yield
    processes.stop("sleeper", patience_s=1)


def test_a_process_is_started_once_and_stopped():
    processes.start("sleeper", ["sleep", "60"])
    first = processes.all_running()
    processes.start("sleeper", ["sleep", "60"])

    assert first == processes.all_running()
    processes.stop("sleeper")
    assert processes.all_running() == []


def test_a_pid_that_somebody_else_has_now_is_left_alone(tmp_path):
    (tmp_path / "sleeper.pid").write_text(f"{os.getpid()} 1")

    assert not processes.is_running("sleeper")
    processes.stop("sleeper")  # would end this test run
    assert processes.started_at(os.getpid())


def test_a_process_that_ignores_sigterm_is_killed():
    processes.start("sleeper", ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"])

    processes.stop("sleeper", patience_s=0.5)

    assert processes.all_running() == []


def test_a_process_that_died_is_reported_with_its_last_words():
    processes.start("sleeper", ["sh", "-c", "echo no such disk; exit 1"])
    until = time.monotonic() + 20
    while processes.is_running("sleeper") and time.monotonic() < until:
        time.sleep(0.01)

    with pytest.raises(CannotRunHereError, match="no such disk"):
        processes.require("sleeper")

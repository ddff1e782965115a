"""The measuring tools themselves: what they send, read and count is what they say."""

import json
import sys
from dataclasses import replace

import pytest

from tests.perf import bodies
from tests.perf.bars import Bar, bars
from tests.perf.client import (
    PERSON,
    Connection,
    UnexpectedAnswerError,
    framing,
    request,
    serve_get,
    serve_put,
    upload,
)
from tests.perf.contenders import DIRECT, HOLDFAST, LUA, Started, answers
from tests.perf.measuring import Load, Outcome, Round, WrongAnswerError, interleave
from tests.perf.processes import DidNotStartError, Group, free_port
from tests.perf.report import Results, as_json, tables
from tests.perf.serve import Comparison, ask


@pytest.fixture
def stand_in(tmp_path):
    port = free_port()
    group = Group([sys.executable, "-m", "tests.perf.upstream", str(port)], tmp_path / "log")

    try:
        group.wait_until(lambda: answers(port))
        yield Started("stand-in", port, group)
    finally:
        group.stop()


def test_the_stand_in_shows_what_runs_and_never_the_same_bytes_twice(stand_in):
    ask(stand_in.port, request("PUT", "/perf/running", agent=PERSON, body=bodies.running("a", "b")))

    first, second = ask(stand_in.port, serve_get()), ask(stand_in.port, serve_get())

    assert list(json.loads(first)["applications"]) == ["a", "b"]
    assert first != second
    assert len(bodies.running("a", "b")) == len(first) == len(second)


def test_the_stand_in_keeps_what_was_put_and_counts_what_was_asked(stand_in):
    ask(stand_in.port, serve_put(bodies.declaration("a", revision=7)))

    told = ask(stand_in.port, request("GET", "/perf/last-put", agent=PERSON))
    seen = json.loads(ask(stand_in.port, request("GET", "/perf/seen", agent=PERSON)))

    assert {"applications": [bodies.config("a", revision=7)]} == json.loads(told)
    assert seen["PUT /api/serve/applications/"] == 1


@pytest.mark.parametrize("cut", [1, 7, 90, 123, 128, 131, 134, 139, 141], ids=lambda at: f"cut-at-{at}")
def test_the_stand_in_reads_a_chunked_body_wherever_it_is_cut(stand_in, cut):
    put = (
        b"PUT /api/serve/applications/ HTTP/1.1\r\nHost: ray\r\nX-Filler: 0123456789012345678901234567890123456789\r\n"
        b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"app\r\n2;x=y\r\n":\r\n3\r\n[]}\r\n0\r\n\r\n'
    )
    with Connection(stand_in.port) as connection:
        connection.socket.sendall(put[:cut])
        assert ask(stand_in.port, request("GET", "/api/version", agent=PERSON))
        status = connection.ask(put[cut:]).status
        told = bytes(connection.ask(request("GET", "/perf/last-put", agent=PERSON)).body)

    assert status == 200
    assert told == b'{"app":[]}'


def test_an_upload_arrives_whole(stand_in):
    status, seconds = upload(stand_in.port, (3 << 20) + 5)

    assert status == 200
    assert seconds > 0


def test_an_answer_without_a_length_is_not_guessed_at():
    with pytest.raises(UnexpectedAnswerError, match="does not read chunks"):
        framing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")


def test_a_program_that_ends_at_once_is_reported_with_its_log(tmp_path):
    group = Group([sys.executable, "-c", "print('no such option')"], tmp_path / "log")
    try:
        with pytest.raises(DidNotStartError, match=r"ended: no such option"):
            group.wait_until(lambda: None)
    finally:
        group.stop()


def test_cpu_and_memory_of_a_group_include_its_children(tmp_path):
    spin = "x = bytearray(64 << 20)\nwhile True: pass"
    group = Group(
        [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spin!r}])"],
        tmp_path / "log",
    )
    try:
        memory = group.wait_until(
            lambda: group.memory_mb() if group.memory_mb() > 64 and group.cpu_ms() > 100 else None
        )
    finally:
        group.stop()

    assert memory > 64
    assert group.pids() == []


def test_interleaving_asks_every_contender_the_same_number_of_times(stand_in):
    twice = [stand_in, Started("again", stand_in.port)]

    outcomes = interleave(twice, [serve_get()], Load(rounds=3, requests=4), {"again": "a note"})

    assert [(each.contender, each.note) for each in outcomes] == [("stand-in", ""), ("again", "a note")]
    assert [[len(each.latencies_ms) for each in outcome.rounds] for outcome in outcomes] == [[4, 4, 4], [4, 4, 4]]
    assert outcomes[0].cpu_us > 0 == outcomes[1].cpu_us


def test_a_peer_that_fails_is_noted_and_the_others_go_on(stand_in):
    missing = [request("GET", "/perf/missing", agent=PERSON)]

    outcomes = interleave([replace(stand_in, name=LUA)], missing, Load(1, 1))
    comparison = Comparison("a title", (outcome(DIRECT, 1), *outcomes), 10)

    assert comparison.of(LUA) is None
    assert f"FAILED: {LUA} answered 404" in tables(Results(comparisons=[comparison]))
    assert as_json(Results(comparisons=[comparison]))["comparisons"][0]["contenders"][1]["name"] == LUA


def test_holdfast_failing_ends_the_run(stand_in):
    with pytest.raises(WrongAnswerError, match=r"holdfast answered 404"):
        interleave([replace(stand_in, name=HOLDFAST)], [request("GET", "/missing", agent=PERSON)], Load(1, 1))


def outcome(name, *p50s, cpu_ms=1.0):
    return Outcome(name, tuple(Round((p50, p50), cpu_ms) for p50 in p50s))


def test_a_comparison_is_made_within_each_round():
    """One slow round of the machine, in which both took ten times as long, changes no ratio."""
    mine, theirs = outcome("mine", 2, 20, 2), outcome("theirs", 1, 10, 1)

    assert mine.ratio_to(theirs) == 2
    assert mine.above(theirs) == 1
    assert mine.spread_ms == (2, 20)
    assert mine.cpu_us == 500


def test_bars_say_what_holds_and_what_was_not_measured_is_not_there():
    thousand = Comparison(
        "KubeRay's GET, half of them dynamic",
        (outcome(DIRECT, 1), outcome(HOLDFAST, 3, cpu_ms=8.0), outcome(LUA, 10)),
        1_000,
    )

    found = bars(Results(comparisons=(thousand,)))

    assert [(b.promise.split(": ")[1], b.holds) for b in found] == [("CPU", True), ("time beside nginx+Lua", True)]
    assert not Bar("one", limit=1, found=1.5, unit="ms").holds


def test_the_table_and_the_json_hold_the_same_figures():
    comparison = Comparison("a title", (outcome(DIRECT, 1), outcome(HOLDFAST, 3)), 1_000)

    table = tables(Results(comparisons=[comparison]))
    written = as_json(Results() + Results(comparisons=(comparison,)))["comparisons"][0]["contenders"][1]

    assert "1,000  holdfast" in table
    assert "3.000" in table
    assert (written["name"], written["p50_ms"], written["times_direct"]) == ("holdfast", 3, 3)


def test_what_a_round_trip_changes_is_told_to_the_reader():
    before = {"args": {"temperature": 1.0, "stop": [], "same": 2}, "name": "a"}

    changed = bodies.changes(before, {"args": {"temperature": 1, "stop": {}, "same": 2}, "name": "a"})

    assert changed == ["args.temperature 1.0 -> 1", "args.stop [] -> {}"]

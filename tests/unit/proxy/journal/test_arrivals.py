from dataclasses import replace

import pytest

from proxy.journal.arrivals import Arrivals, Shown
from proxy.journal.client import JournalClient
from proxy.journal.copy import JournalCopy
from proxy.journal.syncing import Syncing
from proxy.metrics import Metrics
from proxy.record import Record
from proxy.settings import Settings
from serveconfig.declared import Declared
from serveconfig.journal import Finding, Policy, Role
from serveconfig.localcopy import LocalCopy
from serveconfig.view import NOT_KNOWN_YET
from tests.unit.serveconfig.test_following import BLANK, entry, read
from tests.words import app, config

STATIC = frozenset(("static",))
NEW = replace(read(BLANK, entry(app("model")), is_whole=True), known_since=1000.0)


@pytest.fixture
async def arrivals(tmp_path):
    metrics = Metrics("test")
    record, copy = Record(tmp_path, metrics), JournalCopy(tmp_path, metrics)
    await record.keep(Declared().accepting(config(app("static")), keep_receipts=False))
    settings = replace(Settings(), journal_url="https://journal:443")
    syncing = Syncing(copy, JournalClient(settings), settings, metrics, has_read=True)
    arrivals = Arrivals(copy, record, syncing, settings, metrics, clock=lambda: 1010.0)
    copy.take(NEW)
    return arrivals


async def test_g6_a_new_cluster_shows_what_is_to_arrive(arrivals):
    assert arrivals.shown() == Shown(STATIC, {"model"})


async def test_g6_a_cluster_with_the_traffic_shows_nothing_more(arrivals):
    arrivals.copy.take(replace(NEW, role=Role.ACTIVE))

    assert arrivals.shown() == Shown(STATIC)


async def test_g6_without_a_journal_nobody_waits(arrivals):
    arrivals.syncing.client = None

    assert arrivals.shown() == Shown(STATIC)


async def test_g6_before_kuberays_put_nothing_is_declared(arrivals):
    await arrivals.record.keep(Declared())

    assert arrivals.shown() == Shown(None)


@pytest.mark.parametrize(("since", "waits"), [(1000.0, True), (0.0, True), (940.0, False)])
async def test_g6_the_first_word_of_the_journal_is_waited_for_a_minute(arrivals, since, waits):
    arrivals.syncing.has_read = False
    arrivals.copy.take(replace(LocalCopy(), known_since=since))

    assert arrivals.shown() == Shown(STATIC, NOT_KNOWN_YET if waits else frozenset())


async def test_g6_the_deadline_is_told_once(arrivals):
    arrivals.copy.take(replace(NEW, policy=Policy(arrival_deadline_s=5.0)))

    assert [arrivals.shown() for _ in range(3)] == 3 * [Shown(STATIC)]
    (report,) = arrivals.syncing._reports
    assert (report.finding, report.applications) == (Finding.ARRIVAL_DEADLINE_PASSED, ("model",))


async def test_g6_what_was_deleted_elsewhere_is_waited_for_too(arrivals):
    arrivals.copy.take(replace(NEW, held={}, dropped=frozenset(("gone",))))

    assert arrivals.shown() == Shown(STATIC, NOT_KNOWN_YET)


async def test_g2_what_is_marked_dynamic_is_not_shown(arrivals):
    arrivals.copy.take(replace(NEW, held={}, policy=Policy(dynamic=("sta*",))))

    assert arrivals.shown() == Shown(frozenset())

"""When the journal is written and read, over real TLS, against the webhook's own document."""

import asyncio
import contextlib
import json
from dataclasses import replace

import msgspec
import pytest

from proxy.journal import syncing as module
from proxy.journal.client import JournalClient, JournalError
from proxy.journal.copy import JournalCopy
from proxy.journal.syncing import Syncing
from proxy.metrics import Metrics
from proxy.settings import Settings
from serveconfig import changing
from serveconfig.carriable import LARGEST_CONFIG_BYTES
from serveconfig.document import Application
from serveconfig.journal import Finding, Report, Role
from serveconfig.localcopy import LocalCopy
from tests.fakes.journal import journal_of
from tests.words import app


@pytest.fixture
async def journal(tmp_path):
    async with journal_of(tmp_path) as journal:
        yield journal


@pytest.fixture
def settings(journal):
    told = journal.settings("shop-a")
    fast = {"journal_poll_s": 0.05, "journal_idle_poll_s": 0.05, "journal_within_s": 0.3}
    return replace(Settings(), **{name: value for name, value in told.items() if name in PLACES}, **fast)


PLACES = ("journal_url", "journal_rayservice", "journal_cluster", "journal_token_file", "journal_ca_file")


@pytest.fixture
async def syncing(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_RETRY_S", (0.05,))
    metrics = Metrics("test")
    syncing = Syncing(JournalCopy(tmp_path / "state", metrics), JournalClient(settings), settings, metrics)
    task = asyncio.create_task(syncing.run())
    yield syncing
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    await syncing.client.close()


def put(syncing, *names, **config):
    applications = [Application.parse(json.dumps(app(name, **config)).encode()) for name in names]
    syncing.copy.take(changing.putting(syncing.copy.now, applications, "shop-a"))


async def until(holds, within_s=5):
    async with asyncio.timeout(within_s):
        while not holds():  # noqa: ASYNC110 - what is waited for happens on another port
            await asyncio.sleep(0.01)


async def test_g5_a_change_is_written_and_its_answer_says_so(syncing, journal):
    put(syncing, "a")

    assert await syncing.written(["a"]) == "written"
    assert journal.names() == {"a"}


async def test_g5_of_what_cannot_be_carried_no_answer_says_that_the_journal_has_it(syncing):
    put(syncing, "a", text="x" * LARGEST_CONFIG_BYTES)

    assert await syncing.written(["a"], are_put=True) == "none"


async def test_g5_with_the_journal_away_it_is_queued_and_sent_when_it_is_back(syncing, journal):
    await until(lambda: syncing.has_read)
    journal.down = True
    put(syncing, "a")
    assert await syncing.written(["a"]) == "queued"
    assert "503" in syncing.problem

    journal.down = False

    await until(lambda: journal.names() == {"a"})
    await until(lambda: not syncing.problem)


async def test_g5_without_a_journal_there_is_none(tmp_path):
    metrics = Metrics("test")
    alone = Syncing(JournalCopy(tmp_path, metrics), None, Settings(), metrics)
    put(alone, "a")

    await alone.run()

    assert await alone.written(["a"]) == "none"
    assert (tmp_path / "journal.json").exists()


async def test_g5_what_others_put_is_read(syncing, journal):
    await until(lambda: syncing.has_read)

    journal.put(app("theirs"), by="shop-b")
    journal.admit("token-of-shop-a", "shop-a", Role.PENDING)

    await until(lambda: "theirs" in syncing.copy.now.held)
    assert syncing.copy.now.role is Role.PENDING


async def test_g5_another_authority_and_another_token_need_no_restart(syncing, journal, tmp_path):
    await until(lambda: syncing.has_read)
    await journal.hang_up()
    (tmp_path / "token-shop-a").write_text("renewed")
    journal.admit("renewed", "shop-a")
    await journal.listen()

    put(syncing, "a")

    await until(lambda: journal.names() == {"a"})


async def test_g12_a_journal_of_another_authority_is_not_believed(journal, settings, tmp_path):
    await journal.hang_up()
    before = (tmp_path / "ca.crt").read_bytes()
    await journal.listen()
    (tmp_path / "ca.crt").write_bytes(before)

    with pytest.raises(JournalError, match=r"Unreachable|certificate"):
        await JournalClient(settings).read("", 0)


@pytest.mark.parametrize("name", ["journal_token_file", "journal_ca_file"])
async def test_g11_a_file_that_is_not_there_yet_is_a_journal_that_is_away(settings, name):
    with pytest.raises(JournalError, match="FileNotFoundError"):
        await JournalClient(replace(settings, **{name: "/nowhere"})).read("", 0)


async def test_g5_what_was_found_out_is_told_once(syncing, journal):
    syncing.report(Report(Finding.NOT_CARRIED_OVER, ("a",), "why"))

    await until(lambda: journal.reports)
    await asyncio.sleep(0.2)

    assert [report.applications for report in journal.reports] == [("a",)]


async def test_g5_what_kuberay_declares_is_told_when_it_changes(syncing, journal):
    syncing.copy.take(changing.declaring(syncing.copy.now, ["s"]))
    await until(lambda: "shop-a" in journal.journal.clusters)
    written = journal.calls.count("PATCH")

    await asyncio.sleep(0.2)

    assert journal.journal.clusters["shop-a"].declared == ("s",)
    assert journal.calls.count("PATCH") == written


async def test_g5_changes_that_are_too_many_at_once_are_sent_in_halves(syncing, journal):
    journal.most = 3

    put(syncing, *(f"app-{n}" for n in range(10)))

    await until(lambda: len(journal.names()) == 10)


async def test_a_copy_that_cannot_be_read_is_put_aside(tmp_path):
    (tmp_path / "journal.json").write_bytes(b"nonsense")

    copy = JournalCopy(tmp_path, metrics := Metrics("test"))

    assert copy.now == LocalCopy()
    assert (tmp_path / "journal.unreadable").read_bytes() == b"nonsense"
    assert b"holdfast_record_failures_total 1.0" in metrics.print()


async def test_g11_a_disk_that_fails_does_not_stop_anything(tmp_path):
    (tmp_path / "journal.json").mkdir()
    copy = JournalCopy(tmp_path, metrics := Metrics("test"))

    copy.take(LocalCopy(revision=3))
    await copy.saved()

    assert copy.now.revision == 3
    assert b"holdfast_record_failures_total 2.0" in metrics.print()


async def test_g5_of_many_changes_at_once_the_last_is_on_the_disk(tmp_path):
    copy = JournalCopy(tmp_path, Metrics("test"))
    for revision in range(50):
        copy.take(LocalCopy(revision=revision))

    await copy.saved()

    assert msgspec.json.decode((tmp_path / "journal.json").read_bytes())["revision"] == 49


async def test_g11_a_fault_of_our_own_does_not_end_the_sidecar(syncing, journal, monkeypatch):
    await until(lambda: syncing.has_read)

    async def faulty(_journal, _since):
        raise KeyError("a value that nobody is to see")

    with monkeypatch.context() as patch:
        patch.setattr(syncing.client, "read", faulty)
        await until(lambda: syncing.problem)
        assert syncing.problem == "a fault of the sidecar's own: KeyError"

    put(syncing, "a")

    await until(lambda: journal.names() == {"a"})

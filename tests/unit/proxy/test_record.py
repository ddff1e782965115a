import os
import stat

import pytest

from proxy.metrics import Metrics
from proxy.record import Record
from serveconfig.declared import Declared
from tests.words import app, config

DECLARED = Declared().accepting(config(app("a")), keep_receipts=False)


@pytest.fixture
def metrics():
    return Metrics("test")


async def test_g3_what_is_declared_outlives_the_process(tmp_path, metrics):
    await Record(tmp_path / "state", metrics).keep(DECLARED)

    assert Record(tmp_path / "state", metrics).declared == DECLARED


async def test_g3_without_a_file_nothing_is_known(tmp_path, metrics):
    assert Declared() == Record(tmp_path, metrics).declared


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b'{"schema": 99}'])
async def test_g3_a_file_that_cannot_be_read_is_kept_aside_and_nothing_is_known(tmp_path, metrics, content):
    (tmp_path / "declared.json").write_bytes(content)

    assert Declared() == Record(tmp_path, metrics).declared
    assert content == (tmp_path / "declared.unreadable").read_bytes()
    assert b"holdfast_record_failures_total 1.0" in metrics.print()


async def test_a_crash_while_writing_leaves_the_old_record(tmp_path, metrics):
    await Record(tmp_path, metrics).keep(DECLARED)
    (tmp_path / "declared.new").write_bytes(b'{"schema": 1, "conf')

    assert Record(tmp_path, metrics).declared == DECLARED


async def test_g11_a_folder_that_cannot_be_written_does_not_stop_the_sidecar(tmp_path, metrics):
    (tmp_path / "state").write_text("a file, where the folder should be")
    record = Record(tmp_path / "state", metrics)

    await record.keep(DECLARED)

    assert record.declared == DECLARED
    assert b"holdfast_record_failures_total 2.0" in metrics.print()


async def test_g12_only_the_owner_may_read_it(tmp_path, metrics):
    await Record(tmp_path / "state", metrics).keep(DECLARED)

    assert stat.S_IMODE((tmp_path / "state" / "declared.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


async def test_what_does_not_change_is_not_written(tmp_path, metrics):
    record = Record(tmp_path, metrics)
    await record.keep(DECLARED)
    os.utime(tmp_path / "declared.json", (1, 1))

    await record.keep(DECLARED)

    assert (tmp_path / "declared.json").stat().st_mtime == 1

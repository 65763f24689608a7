"""Files of answers while others sweep, restore, purge, archive or change the setting."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pytest

from biaswatch.archiving.moving import archived_run, move_run, restore_run
from biaswatch.archiving.purging import ArchivePurge
from biaswatch.shared.contracts import Record, Response
from biaswatch.shared.errors import TransientError
from biaswatch.shared.parquet.files import TEXTS, rows_of
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.answer_file_reader import CACHE_BYTES
from biaswatch.shared.store.archived_runs import ArchivableRun
from tests.support.answer_files import (
    KINDS,
    answers_for,
    check_each_is_there_once,
    open_with_files,
    run_of,
)
from tests.support.archived import DiedError, files_below
from tests.support.databases import counted_queries
from tests.support.traffic_platform import HOUR, MONITOR, NOON, TrafficPlatform, said

NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.fixture
def live(tmp_path: Path) -> Path:
    return tmp_path / "live"


@pytest.fixture
def filed(store_url: str, live: Path) -> Iterator[Store]:
    with open_with_files(store_url, live, NOW) as opened:
        yield opened


def purge_files(store: Store, now: datetime = NOW) -> None:
    purge = ArchivePurge(store, lambda: now)
    purge.sweep()
    for file in purge.files():
        purge.apply(file)


def texts_in(live: Path) -> list[str]:
    paths = [item for item in files_below(live) if f"live-{TEXTS}" in item]
    folder = ParquetFolder(str(live))
    return [row["body"] for path in paths for rows in rows_of(folder, path) for row in rows]


def archive(store: Store, folder: Path, records: Sequence[Record]) -> None:
    run = ArchivableRun(run_of(records), "default", "support")
    move_run(store, ParquetFolder(str(folder)), run, lambda: NOW)


def restore(store: Store, folder: Path, records: Sequence[Record]) -> None:
    result = archived_run(store, run_of(records))
    restore_run(store, ParquetFolder(str(folder)), result, lambda: NOW)


def once_written(filed: Store, do: Callable[[], object]) -> None:
    """Have something done after the next files are written, and before they are committed."""
    writer: Any = filed.records.writer.file_writer
    write, left = writer._write_files, [do]

    def written(*given: Any) -> Any:
        files = write(*given)
        if left:
            left.pop()()
        return files

    writer._write_files = written


def test_a_writer_whose_files_were_swept_meanwhile_writes_others(
    store: Store, filed: Store
) -> None:
    records = answers_for(store)
    once_written(filed, lambda: purge_files(store, NOW + timedelta(days=2)))
    filed.records.write(records)
    check_each_is_there_once(filed, records)


def test_a_writer_beside_an_archive_and_its_restoration_loses_nothing(
    store: Store, filed: Store, tmp_path: Path
) -> None:
    records = answers_for(store)
    first = [record for n, record in enumerate(records) if n % 2]
    filed.records.write(first)

    def archive_and_restore() -> None:
        archive(store, tmp_path / "archive", records)
        restore(store, tmp_path / "archive", records)

    once_written(filed, archive_and_restore)
    filed.records.write(records)
    check_each_is_there_once(filed, records)


def test_files_of_a_run_that_is_restored_before_they_were_swept_are_removed(
    store: Store, filed: Store, live: Path, tmp_path: Path
) -> None:
    records = answers_for(store)
    filed.records.write(records)
    archive(store, tmp_path / "archive", records)
    assert files_below(live)  # whoever archived died before its sweep
    restore(store, tmp_path / "archive", records)
    purge_files(store)
    assert (files_below(live), store.archive_files.pending_deletion()) == ([], [])
    check_each_is_there_once(store, records)


def test_a_purge_that_goes_on_beside_an_archive_brings_no_file_back(
    store: Store, filed: Store, live: Path, tmp_path: Path
) -> None:
    records = answers_for(store)
    filed.records.write(records)
    store.purges.unit("user-3", NOW)
    purge = ArchivePurge(store, lambda: NOW)
    listed = purge.files()
    archive(store, tmp_path / "archive", records)
    for file in listed:
        purge.apply(file)
    purge_files(store)
    assert not store.answer_files.any_of(run_of(records))
    assert files_below(live) == []


def test_rows_and_files_that_bring_the_same_answers_are_each_there_once(
    store: Store, filed: Store
) -> None:
    records = answers_for(store)
    once_written(filed, lambda: store.records.write(records))  # a recorder of the old setting
    filed.records.write(records)
    check_each_is_there_once(store, records)
    later = answers_for(store, 10)
    write: Any = store.records.writer._write_rows

    def beside(by_kind: Any) -> Any:
        filed.records.write(later)
        return write(by_kind)

    store.records.writer._write_rows = beside  # type: ignore[method-assign]
    store.records.write(later)
    check_each_is_there_once(store, records)


def test_purged_texts_leave_the_file_of_a_recorder_that_died(
    store: Store, filed: Store, live: Path
) -> None:
    records = answers_for(store)

    def die() -> None:
        raise DiedError

    once_written(filed, die)
    with pytest.raises(DiedError):
        filed.records.write(records)
    assert texts_in(live)
    store.purges.run(run_of(records), NOW)
    purge_files(store, NOW + timedelta(minutes=11))
    assert files_below(live) == []


def test_what_comes_again_and_again_while_a_window_is_archived_leaves_no_files(
    store: Store, filed: Store, live: Path
) -> None:
    records = answers_for(store)
    run = ArchivableRun(run_of(records), "default", "support")
    store.archived_runs.begin(run, "file:///archive", NOW)
    for _ in range(3):
        with pytest.raises(TransientError, match="are being archived"):
            filed.records.write(records)
    assert not live.exists()


def test_a_purge_by_age_reaches_answers_that_say_their_time_in_another_zone(
    store: Store, filed: Store, live: Path
) -> None:
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    platform.time = NOON + HOUR
    at = (NOON + timedelta(minutes=5)).astimezone(timezone(timedelta(hours=14)))  # the next day
    filed.records.write(list(platform.ingest(said([1], at))))
    store.purges.before(NOON + HOUR, NOW)
    purge_files(store)
    assert texts_in(live) == []


def test_whoever_reads_texts_while_they_are_purged_gets_them_all(
    store: Store, filed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = answers_for(store)
    filed.records.write(records)
    store.purges.unit("user-3", NOW)
    look, left = store.answer_files._candidates, [True]

    def looked(kind: str, ids: Any) -> Any:
        result = look(kind, ids)
        if kind == "text" and left:
            left.pop()
            purge_files(filed)
        return result

    monkeypatch.setattr(store.answer_files, "_candidates", looked)
    result = list(store.records.read(Response, run_id=run_of(records)))
    assert [item.unit for item in result if item.text is None] == ["user-3"]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    migrate(url := f"sqlite:///{tmp_path / 'damaged.db'}")
    return url


def test_no_flipped_bit_of_a_file_changes_what_is_read(sqlite_url: str, live: Path) -> None:
    luck = Random(1)
    with open_with_files(sqlite_url, live) as filed:
        records = answers_for(filed)
        filed.records.write(records)
    run_id = run_of(records)
    paths = [live / item for item in files_below(live)]
    for _ in range(150):
        path = luck.choice(paths)
        whole = path.read_bytes()
        damaged, place = bytearray(whole), luck.randrange(len(whole))
        damaged[place] ^= 1 << luck.randrange(8)
        path.write_bytes(damaged)
        with Store.open(sqlite_url) as store, pytest.raises(TransientError, match="does not hold"):
            [list(store.records.read(kind, run_id=run_id)) for kind in KINDS]
        path.write_bytes(whole)


@pytest.mark.parametrize("wide", [True, False])
def test_a_reader_keeps_little_however_files_overlap_and_however_long_texts_are(
    sqlite_url: str, live: Path, wide: bool
) -> None:
    luck = Random(2)
    with open_with_files(sqlite_url, live) as filed:
        records = sorted(answers_for(filed, 600), key=lambda record: record.id)
        letters = [bytes(luck.randbytes(25_000)).hex() for _ in range(20)]
        if not wide:
            records = [
                record.model_copy(update={"text": letters[n % 20] + record.id}) for n, record in
                enumerate(records) if isinstance(record, Response)
            ]  # fmt: skip
        parts = [records[n::40] for n in range(40)] if wide else [records]
        for some in parts:
            filed.records.write(some)
    with Store.open(sqlite_url) as store:
        before = pyarrow.total_allocated_bytes()
        for number, _ in enumerate(store.records.read(Response, run_id=run_of(records))):
            if number % 50 == 0:
                assert pyarrow.total_allocated_bytes() - before < 2 * CACHE_BYTES
        assert number == 599


def test_ids_without_an_order_are_looked_for_at_once_where_there_are_no_files(store: Store) -> None:
    ids = [sha256(str(n).encode()).hexdigest()[:32] for n in range(500)]
    for read in (store.records.missing, store.records.bodies_of, store.records.get):
        with counted_queries(store) as queries:
            list(read(Response, ids))
        assert len(queries) <= 2

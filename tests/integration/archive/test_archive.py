"""The archive on both databases: what leaves the store is in files, once, and comes back whole."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from biaswatch.archiving.moving import archived_run, check_files, move_run, restore_run
from biaswatch.archiving.purging import ArchivePurge
from biaswatch.archiving.retention import due_by_retention, expired, retention_of, texts_due
from biaswatch.shared.contracts import Features, Response
from biaswatch.shared.errors import NotFoundError, TransientError, UsageError
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.archived_runs import ArchiveState
from biaswatch.shared.store.database import Scope
from tests.support.archived import (
    ANSWERS,
    CLOSED,
    LATER,
    DiedError,
    answers_in,
    deaths,
    files_below,
    keep_ended_run,
)
from tests.support.records import AT, make_features, make_probe, make_response, make_run

DAYS = ("2026-01-02", "2026-01-03")


def now() -> datetime:
    return LATER


@pytest.fixture
def folder(tmp_path: Path) -> ParquetFolder:
    return ParquetFolder(str(tmp_path / "lake"))


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    return url


def archive_all(store: Store, folder: ParquetFolder) -> list[str]:
    return [move_run(store, folder, run, now).run_id for run in store.archived_runs.due(LATER)]


def purge_archive(store: Store) -> int:
    purge = ArchivePurge(store, now)
    purge.sweep()
    return sum(purge.apply(file) for file in purge.files())


def test_an_archived_run_leaves_the_store_and_comes_back_whole(
    store: Store, folder: ParquetFolder
) -> None:
    run_id = keep_ended_run(store)
    before = answers_in(store, run_id)
    assert archive_all(store, folder) == [run_id]
    assert answers_in(store, run_id) == []
    assert store.archive_rows.texts([item.id for item in before]) == []
    result = archived_run(store, run_id)
    assert (result.state, result.answers, result.measurements) == ("archived", ANSWERS, ANSWERS)
    restore_run(store, folder, result, now)
    assert answers_in(store, run_id) == before
    assert store.archived_runs.find(run_id) is None
    assert store.counted_runs.of([run_id])[run_id].count(Response) == ANSWERS


def test_files_are_sorted_by_tenant_source_and_day_and_none_is_left_after_a_restore(
    store: Store, folder: ParquetFolder, tmp_path: Path
) -> None:
    run_id = keep_ended_run(store)
    archive_all(store, folder)
    where = "tenant=default/source=countries/day"
    assert files_below(tmp_path / "lake") == [
        f"{dataset}/{where}={day}/{run_id}-0.parquet"
        for dataset in ("numbers", "records", "texts")
        for day in DAYS
    ]
    assert check_files(store, folder, run_id) == 6
    restore_run(store, folder, archived_run(store, run_id), now)
    assert files_below(tmp_path / "lake") == []


def test_numbers_have_groups_and_measurements_and_no_text(
    store: Store, folder: ParquetFolder, tmp_path: Path
) -> None:
    keep_ended_run(store)
    archive_all(store, folder)
    files = sorted((tmp_path / "lake" / "numbers").rglob("*.parquet"))
    rows = [row for file in files for row in pyarrow.parquet.ParquetFile(file).read().to_pylist()]
    assert len(rows) == ANSWERS
    assert {row["groups.race"] for row in rows} == {"a", "b"}
    assert all(row["words.words"] == 7.0 and row["words.words.baseline"] == 6.0 for row in rows)
    assert not {"text", "messages", "baseline"} & rows[0].keys()
    for dataset in ("numbers", "records"):
        for file in (tmp_path / "lake" / dataset).rglob("*.parquet"):
            cells = str(pyarrow.parquet.ParquetFile(file).read().to_pylist())
            assert "long and quiet" not in cells
            assert "how is the coast" not in cells


@pytest.mark.parametrize("restores", [False, True])
def test_a_death_at_any_step_loses_nothing_and_has_nothing_twice(
    sqlite_url: str, tmp_path: Path, *, restores: bool
) -> None:
    uri = str(tmp_path / "lake")
    with Store.open(sqlite_url) as store:
        run_id = keep_ended_run(store)
        whole = answers_in(store, run_id)
        if restores:
            archive_all(store, ParquetFolder(uri))
    died = 0
    for store, folder in deaths(sqlite_url, uri):
        try:
            if restores:
                restore_run(store, folder, archived_run(store, run_id), now)
            else:
                archive_all(store, folder)
        except DiedError:
            died += 1
            continue
        break
    assert died > 5
    with Store.open(sqlite_url) as store:
        assert answers_in(store, run_id) == (whole if restores else [])
        if not restores:
            assert check_files(store, ParquetFolder(uri), run_id) == 6
            restore_run(store, ParquetFolder(uri), archived_run(store, run_id), now)
        assert answers_in(store, run_id) == whole
        assert store.archive_files.of_run(run_id) == []
    assert files_below(tmp_path / "lake") == []


def test_what_does_not_read_back_is_not_removed(
    store: Store, folder: ParquetFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = keep_ended_run(store)
    before = answers_in(store, run_id)
    whole = pyarrow.parquet.ParquetWriter.write_table

    def shortened(writer: object, table: pyarrow.Table, **given: Any) -> None:
        whole(writer, table.slice(0, len(table) - 1), **given)

    monkeypatch.setattr(pyarrow.parquet.ParquetWriter, "write_table", shortened)
    with pytest.raises(TransientError, match="does not hold what was written"):
        archive_all(store, folder)
    assert answers_in(store, run_id) == before
    monkeypatch.undo()
    assert archive_all(store, folder) == [run_id]
    [file] = (tmp_path / "lake").rglob(f"records/*/*/day={DAYS[0]}/*")
    file.write_bytes(file.read_bytes()[:-100] + b"x" * 100)
    with pytest.raises(TransientError):
        check_files(store, folder, run_id)
    with pytest.raises(TransientError):
        restore_run(store, folder, archived_run(store, run_id), now)


def test_late_copies_of_archived_answers_are_not_stored_again(
    store: Store, folder: ParquetFolder
) -> None:
    run_id = keep_ended_run(store)
    again = answers_in(store, run_id)
    archive_all(store, folder)
    written = store.records.write([make_run(), *again])
    assert (written.new[Response.kind], written.known["run"]) == (0, 1)
    assert answers_in(store, run_id) == []
    assert store.counted_runs.of([run_id])[run_id].count(Features) == ANSWERS


def test_a_run_that_waits_for_something_is_left(store: Store) -> None:
    run_id = keep_ended_run(store)
    later = {"deadline": LATER, "now": CLOSED}
    store.gathers("judging").expect(f"{run_id}/pairs", ["x"], **later)  # type: ignore[arg-type]
    assert store.archived_runs.due(LATER) == []
    store.gathers("judging").cancel(f"{run_id}/pairs", CLOSED)
    assert [item.run_id for item in store.archived_runs.due(LATER)] == [run_id]
    assert store.archived_runs.due(CLOSED) == []
    assert store.archived_runs.due(LATER, ["somebody"]) == []


def test_a_purge_reaches_the_archive_and_survives_a_restore(
    store: Store, folder: ParquetFolder, tmp_path: Path
) -> None:
    run_id = keep_ended_run(store)
    archive_all(store, folder)
    store.purges.unit("prompt-2", LATER)
    assert purge_archive(store) == 3  # the answer, the question, the baseline
    assert purge_archive(store) == 0
    files = (tmp_path / "lake" / "texts").rglob("*.parquet")
    cells = str([pyarrow.parquet.ParquetFile(file).read().to_pylist() for file in files])
    assert "Answer 2" not in cells
    assert "Answer 3" in cells
    check_files(store, folder, run_id)
    store.purges.unit("prompt-3", LATER)  # nobody has told the archive
    restore_run(store, folder, archived_run(store, run_id), now)
    texts = {item.probe.unit_id: item.text for item in store.records.read(Response, run_id=run_id)}
    assert texts["prompt-2"] is None
    assert texts["prompt-3"] is None
    assert texts["prompt-4"] == make_response(4).text
    assert files_below(tmp_path / "lake") == []


def test_a_purge_that_dies_at_any_step_leaves_no_text_behind(
    sqlite_url: str, tmp_path: Path
) -> None:
    uri = str(tmp_path / "lake")
    with Store.open(sqlite_url) as store:
        run_id = keep_ended_run(store)
        archive_all(store, ParquetFolder(uri))
        store.purges.unit("prompt-2", LATER)
    for store, folder in deaths(sqlite_url, uri):
        purge = ArchivePurge(store, now)
        purge._folders[folder.uri] = folder
        try:
            purge.sweep()
            for file in purge.files():
                purge.apply(file)
        except DiedError:
            continue
        break
    files = list((tmp_path / "lake" / "texts").rglob("*.parquet"))
    cells = str([pyarrow.parquet.ParquetFile(file).read().to_pylist() for file in files])
    assert len(files) == 2
    assert "Answer 2" not in cells
    with Store.open(sqlite_url) as store:
        check_files(store, ParquetFolder(uri), run_id)


def test_purging_a_run_or_a_time_removes_whole_files(
    store: Store, folder: ParquetFolder, tmp_path: Path
) -> None:
    run_id = keep_ended_run(store)
    archive_all(store, folder)
    store.purges.before(AT + timedelta(hours=1), LATER)
    assert purge_archive(store) == 12  # of four answers
    assert len(list((tmp_path / "lake" / "texts").rglob("*.parquet"))) == 1
    store.purges.run(run_id, LATER)
    assert purge_archive(store) == 9
    assert list((tmp_path / "lake" / "texts").rglob("*.parquet")) == []
    restore_run(store, folder, archived_run(store, run_id), now)
    assert [item.text for item in store.records.read(Response, run_id=run_id)] == [None] * ANSWERS


def test_another_tenant_does_not_see_that_a_run_is_archived(
    store: Store, folder: ParquetFolder
) -> None:
    run_id = keep_ended_run(store)
    archive_all(store, folder)
    stranger = store.scoped(lambda: Scope(tenant="stranger"))
    assert stranger.archived_runs.find(run_id) is None
    assert stranger.archived_runs.all() == []
    with pytest.raises(NotFoundError):
        archived_run(stranger, run_id)


def test_a_retention_says_by_tenant_what_is_archived_purged_and_removed(
    store: Store, folder: ParquetFolder, tmp_path: Path
) -> None:
    run_id = keep_ended_run(store)
    path = tmp_path / "retention.yaml"
    path.write_text("default: {store: 30, texts: 60, numbers: 90}\ntenants: {acme: {store: 7}}\n")
    retention, closed = retention_of(path), CLOSED

    def after(days: int) -> datetime:
        return closed + timedelta(days=days, hours=1)

    assert due_by_retention(store, retention, after(29)) == []
    assert [item.run_id for item in due_by_retention(store, retention, after(30))] == [run_id]
    assert texts_due(store, retention, after(60)) == {"default": after(0)}
    archive_all(store, folder)
    assert expired(store, retention, after(90)) == []  # of the day itself
    [(run, files)] = expired(store, retention, after(93))
    assert (run.run_id, len(files)) == (run_id, 6)
    store.archived_runs.note(run_id, ArchiveState.EXPIRED, LATER)
    with pytest.raises(UsageError, match="as the retention says"):
        archived_run(store, run_id)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("default: {store: 30, numbers: 20}", "`numbers` has to be more days than `store`"),
        ("default: {stores: 30}", "stores"),
        ("- 1", "a retention file is a mapping"),
        ("tenants: {a: {texts: 0}}", "tenants.a.texts"),
    ],
)
def test_a_wrong_retention_is_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "retention.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        retention_of(path)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("ftp://somewhere/x", "does not begin with"),
        ("s3://me:hunter2@bucket/x", "must hold no key"),
        ("s3://bucket/x?access_key=hunter2", "must hold no key"),
    ],
)
def test_an_address_that_cannot_be_is_refused_without_its_key(uri: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        ParquetFolder(uri)
    assert "hunter2" not in str(refused.value)


def test_moments_and_every_column_survive(store: Store, folder: ParquetFolder) -> None:
    run_id = keep_ended_run(store, answers=2)
    at = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    probe = make_probe(9, run_id=run_id, at=at, unit_id="ü" * 300)
    late = make_response(9, probe=probe, at=at, text="")
    store.records.write([late, make_features(9, run_id=run_id, response_id=late.id, at=at)])
    rows = store.archive_rows.texts([late.id, probe.id])
    before = answers_in(store, run_id)
    archive_all(store, folder)
    restore_run(store, folder, archived_run(store, run_id), now)
    assert answers_in(store, run_id) == before
    assert store.archive_rows.texts([late.id, probe.id]) == rows

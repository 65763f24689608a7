"""Answers of live systems in files as they come: each once, read as if it were a row."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from biaswatch.archiving.moving import archived_run, move_run, restore_run
from biaswatch.archiving.purging import ArchivePurge
from biaswatch.shared.contracts import RUN_GATHER, Features, Purpose, Record, Response, Run
from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.parquet.files import TEXTS, digest_of_bytes, rows_of
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.store import Store, migrate
from biaswatch.shared.store.answer_file_reader import AnswerFileReader
from biaswatch.shared.store.archived_runs import ArchivableRun
from biaswatch.shared.store.database import Scope
from tests.support.answer_files import (
    ANSWERS,
    KINDS,
    answers_for,
    batches_of,
    check_each_is_there_once,
    open_with_files,
    run_of,
)
from tests.support.archived import DiedError, DyingAt, files_below
from tests.support.traffic_platform import HOUR, LATE, MONITOR, NOON, TrafficPlatform, said

LATER = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def live(tmp_path: Path) -> Path:
    return tmp_path / "live"


@pytest.fixture
def filed(store_url: str, live: Path) -> Iterator[Store]:
    with open_with_files(store_url, live) as opened:
        yield opened


def test_an_answer_is_in_one_file_however_often_and_in_which_order_it_comes(filed: Store) -> None:
    records = answers_for(filed, windows=3)
    luck = Random(1)
    for batch in batches_of(records, luck):
        filed.records.write(batch)
    check_each_is_there_once(filed, records, windows=3)
    assert filed.records.write(records).new.total() == 0


def test_recorders_that_bring_the_same_answers_at_the_same_time_write_each_once(
    store_url: str, live: Path
) -> None:
    with open_with_files(store_url, live) as one, open_with_files(store_url, live) as two:
        records = answers_for(one)
        for seed in range(3):
            some = answers_for(one, 30 + seed)
            deliveries = [list(batches_of(some, Random(seed))) for _ in range(2)]

            def record(store: Store, batches: list[list[Record]]) -> None:
                for batch in batches:
                    while True:
                        try:
                            store.records.write(batch)
                            break
                        except TransientError:  # as the bus would deliver it again
                            continue

            with ThreadPoolExecutor(4) as pool:
                list(pool.map(record, (one, two, one, two), (*deliveries, *deliveries)))
        for batch in batches_of(records, Random(9)):
            one.records.write(batch)
        check_each_is_there_once(two, records)


def test_a_recorder_that_dies_at_any_step_leaves_nothing_lost_twice_or_lying_about(
    store_url: str, live: Path
) -> None:
    with Store.open(store_url) as rows:
        records = answers_for(rows, 6)
    step, died = 0, True
    while died:
        step += 1
        died = False
        with open_with_files(store_url, live) as store:
            writer: Any = store.records.writer.file_writer
            dying = DyingAt(step)
            dying.wrap(writer, ("_commit", "_write_files", "_write_file"))
            dying.wrap(writer._manifest, ("register", "forget"))
            dying.wrap(writer._folder, ("written", "remove"))
            try:
                store.records.write(records[: 2 + step % 5])
                store.records.write(records)
            except DiedError:
                died = True
    assert step > 5
    with open_with_files(store_url, live) as store:
        store.records.write(records)
        check_each_is_there_once(store, records)
        ArchivePurge(store, lambda: LATER).sweep()
        there = {file.path for file in store.archive_files.in_insertion_order()}
        assert set(files_below(live)) == there
        check_each_is_there_once(store, records)


def same_as_rows(rows: Store, filed: Store, records: Sequence[Record]) -> None:
    """Compare everything that readers ask."""
    run_id = run_of(records)
    for kind in KINDS:
        ids = [item.id for item in rows.records.read(kind, run_id=run_id)]
        for texts in (True, False):
            one = list(rows.records.read(kind, run_id=run_id, texts=texts))
            assert list(filed.records.read(kind, run_id=run_id, texts=texts)) == one
            assert list(filed.records.get(kind, ids[::-1], texts=texts)) == one
        assert filed.records.bodies_of(kind, ids) == rows.records.bodies_of(kind, ids)
        numbers = list(rows.records.bodies(kind, run_id=run_id))
        assert list(filed.records.bodies(kind, run_id=run_id)) == numbers
        for after in ("", ids[3], ids[-1]):
            page = rows.records.ids_of_run(kind, run_id, after=after, most=7)
            assert filed.records.ids_of_run(kind, run_id, after=after, most=7) == page
        missing = {*ids[:5], "f" * 32, ids[0][:-1] + "g"}
        assert filed.records.missing(kind, missing) == rows.records.missing(kind, missing)
        assert list(filed.records.all(kind)) == list(rows.records.all(kind))
    responses = [item.id for item in rows.records.read(Response, run_id=run_id)]
    assert filed.records.bodies_with_probes(responses) == rows.records.bodies_with_probes(responses)
    for equal in ({}, {"extractor": "words"}, {"extractor": "other"}):
        result = list(rows.records.by_key(Features, "response_id", responses, **equal))
        assert list(filed.records.by_key(Features, "response_id", responses, **equal)) == result
    without = rows.records.count_without(Features, Response, run_id=run_id)
    assert filed.records.count_without(Features, Response, run_id=run_id) == without


def identity(scope: Scope) -> Scope:
    return scope


def test_whoever_reads_finds_what_rows_would_have_said(tmp_path: Path, live: Path) -> None:
    urls = [f"sqlite:///{tmp_path / name}.db" for name in ("rows", "files")]
    for url in urls:
        migrate(url)
    with Store.open(urls[0]) as rows, open_with_files(urls[1], live) as filed:
        records = answers_for(rows)
        rows.records.write(records)
        for batch in batches_of(records, Random(4)):
            filed.records.write(batch)
        nobodys = dict.fromkeys(("response_id", "probe_id"), records[0].id[:16] + "0" * 16)
        orphan = type(records[-1]).model_validate({**records[-1].model_dump(), **nobodys})
        for store in (rows, filed):
            store.records.write([orphan])
        same_as_rows(rows, filed, records)
        for scope in (Scope("default"), Scope("default", texts=False), Scope("other")):
            both = [store.scoped(partial(identity, scope)) for store in (rows, filed)]
            if scope.tenant == "other":
                assert not list(both[1].records.all(Response))
                assert both[1].records.count(Response, run_id=run_of(records)) == 0
                assert both[1].records.missing(Response, [records[0].id]) == {records[0].id}
            else:
                same_as_rows(both[0], both[1], records)


def test_what_was_rows_before_stays_there_and_the_rest_goes_to_files(
    store_url: str, live: Path
) -> None:
    with Store.open(store_url) as rows, open_with_files(store_url, live) as filed:
        records = answers_for(rows)
        for turn, batch in enumerate(batches_of(records, Random(5))):
            (rows, filed)[turn % 2].records.write(batch)
        check_each_is_there_once(filed, records)
        check_each_is_there_once(rows, records)  # whoever reads needs no setting


def purge_files(store: Store) -> int:
    purge = ArchivePurge(store, lambda: LATER)
    purge.sweep()
    return sum(purge.apply(file) for file in purge.files())


def words_in(live: Path) -> str:
    folder = ParquetFolder(str(live))
    paths = [item for item in files_below(live) if f"live-{TEXTS}" in item]
    return str([row["body"] for path in paths for rows in rows_of(folder, path) for row in rows])


@pytest.mark.parametrize("scope", ["unit", "run", "before"])
def test_a_purged_text_is_never_seen_again_and_leaves_the_files(
    filed: Store, live: Path, scope: str
) -> None:
    records = answers_for(filed)
    filed.records.write(records[: ANSWERS // 2])
    run_id, unit = run_of(records), str(records[0].unit)
    list(filed.records.read(Response, run_id=run_id))  # what was read is kept in memory
    purges: dict[str, Callable[[], int]] = {
        "unit": lambda: filed.purges.unit(unit, LATER),
        "run": lambda: filed.purges.run(run_id, LATER),
        "before": lambda: filed.purges.before(LATER, LATER),
    }
    purges[scope]()
    filed.records.write(records)  # and late copies bring none back
    gone = [r for r in filed.records.read(Response, run_id=run_id) if r.text is None]
    assert {item.unit for item in gone} >= {unit}
    assert len(gone) == (1 if scope == "unit" else ANSWERS)
    assert all(not item.probe.messages for item in gone)
    assert purge_files(filed) > 0
    left = words_in(live)
    assert ("On its way" in left) == (scope == "unit")
    check_each_is_there_once(filed, records)
    assert [r.id for r in filed.records.read(Response, run_id=run_id) if r.text is None] == [
        item.id for item in gone
    ]
    assert purge_files(filed) == 0


def test_the_purge_of_a_unit_reads_only_the_files_that_may_hold_it(
    filed: Store, live: Path
) -> None:
    records = answers_for(filed, windows=3)
    for batch in batches_of(records, Random(2)):
        filed.records.write(batch)
    filed.purges.unit(str(records[0].unit), LATER)
    concerned = ArchivePurge(filed, lambda: LATER).files()
    texts = [path for path in files_below(live) if f"live-{TEXTS}" in path]
    assert 0 < len(concerned) < len(texts)
    assert ArchivePurge(filed, lambda: LATER).files() == concerned  # the others are done
    assert purge_files(filed) > 0
    assert purge_files(filed) == 0


def test_a_purge_by_a_clock_that_is_behind_is_done_in_files_that_were_just_purged(
    filed: Store, live: Path
) -> None:
    records = answers_for(filed)
    filed.records.write(records)
    filed.purges.unit(str(records[0].unit), LATER)
    assert purge_files(filed) > 0
    filed.purges.run(run_of(records), LATER - timedelta(seconds=5))
    assert purge_files(filed) > 0
    assert "On its way" not in words_in(live)


def closed_window(store: Store) -> tuple[TrafficPlatform, str]:
    """Let a window go by, in files; return its run."""
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    responses = platform.hear(*said(range(ANSWERS), NOON + timedelta(minutes=5)))
    platform.read(NOON + HOUR + LATE)
    for closing in store.gathers(RUN_GATHER).unrecorded():
        store.gathers(RUN_GATHER).recorded(closing.key, closing.opening, platform.time)
    return platform, str(responses[0].run)


def test_a_window_in_files_is_archived_and_restored_and_takes_no_late_copies(
    filed: Store, live: Path, tmp_path: Path
) -> None:
    platform, run_id = closed_window(filed)
    before = [list(filed.records.read(kind, run_id=run_id)) for kind in KINDS]
    archive = ParquetFolder(str(tmp_path / "archive"))
    [due] = filed.archived_runs.due(LATER)
    assert (due.run_id, due.source) == (run_id, next(filed.records.get(Run, [run_id])).suite)
    moved = move_run(filed, archive, due, lambda: LATER)
    assert (moved.answers, moved.measurements) == (ANSWERS, ANSWERS)
    purge_files(filed)
    assert files_below(live) == []
    filed.records.write([item for kind in before for item in kind])  # late copies
    assert [filed.records.count(kind, run_id=run_id) for kind in KINDS] == [0, 0, 0]
    restore_run(filed, archive, archived_run(filed, run_id), lambda: LATER)
    assert [list(filed.records.read(kind, run_id=run_id)) for kind in KINDS] == before
    assert platform.units() == ANSWERS


def test_answers_that_come_while_their_window_is_archived_wait(filed: Store) -> None:
    records = answers_for(filed)
    filed.records.write(records[:4])
    run = ArchivableRun(run_of(records), "default", "support")
    filed.archived_runs.begin(run, "file:///archive", LATER)
    with pytest.raises(TransientError, match="are being archived"):
        filed.records.write(records)


@pytest.mark.parametrize("harm", ["lost", "cut", "changed"])
def test_a_file_that_is_lost_or_damaged_is_an_error_and_no_smaller_number(
    filed: Store, live: Path, harm: str
) -> None:
    records = answers_for(filed)
    filed.records.write(records)
    [path] = [live / item for item in files_below(live) if "response" in item and "records" in item]
    whole = path.read_bytes()
    if harm == "lost":
        path.unlink()
    else:
        middle = len(whole) // 2
        changed = bytes([whole[middle] ^ 255])
        path.write_bytes(
            whole[:middle] if harm == "cut" else whole[:middle] + changed + whole[middle + 1 :]
        )
    for reads in (
        lambda: list(filed.records.read(Response, run_id=run_of(records))),
        lambda: filed.records.bodies_with_probes([records[0].id]),
        lambda: filed.records.bodies_of(Response, [records[0].id]),
    ):
        with pytest.raises(TransientError, match=r"cannot be read from|not hold what was written"):
            reads()


def test_a_file_that_is_read_often_is_checked_once(
    filed: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    filed.records.write(answers_for(filed, windows=3))
    listed = [file for file in filed.archive_files.in_insertion_order() if file.kind == "response"]
    often, one, other = listed[:3]
    checked: list[str] = []

    def digest(folder: ParquetFolder, path: str) -> str:
        checked.append(path)
        return digest_of_bytes(folder, path)

    monkeypatch.setattr("biaswatch.shared.parquet.files.digest_of_bytes", digest)
    monkeypatch.setattr("biaswatch.shared.store.answer_file_reader.CACHED_BOUNDS", 2)
    reader = AnswerFileReader()
    for file in (often, one, often, other, often):
        assert list(reader.after(file, ""))
    assert checked == [often.path, one.path, other.path]


def test_without_pyarrow_it_is_said_what_to_install(
    store_url: str, live: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_with_files(store_url, live) as filed:
        records = answers_for(filed)
        filed.records.write(records)
    for name in [module for module in sys.modules if module.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("folder", "files"):
        monkeypatch.delitem(sys.modules, f"biaswatch.shared.parquet.{name}")
        monkeypatch.delattr(f"biaswatch.shared.parquet.{name}")
    with Store.open(store_url) as reader, pytest.raises(ConfigurationError, match="`parquet`"):
        list(reader.records.read(Response, run_id=run_of(records)))
    with pytest.raises(ConfigurationError, match="`parquet`"):
        open_with_files(store_url, live)


def test_only_answers_of_live_systems_go_to_files(filed: Store, live: Path) -> None:
    records = answers_for(filed)
    of_a_study = {"purpose": Purpose.STUDY}
    study: list[Record] = [record.model_copy(update=of_a_study) for record in records]
    for item in study[:ANSWERS]:
        assert isinstance(item, Response)
        object.__setattr__(item, "probe", item.probe.model_copy(update=of_a_study))
    filed.records.write(study)
    assert not live.exists()


@pytest.mark.parametrize(
    ("uri", "message"),
    [("s4://bucket/live", "does not begin with"), ("s3://me:hunter2@bucket/live", "hold no key")],
)
def test_a_wrong_place_names_the_setting_and_shows_no_key(
    store_url: str, uri: str, message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message) as refused:
        open_with_files(store_url, uri)
    assert "BIASWATCH_RECORDER_ANSWER_FILES" in str(refused.value)
    assert "hunter2" not in str(refused.value)

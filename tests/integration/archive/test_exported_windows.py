"""What is exported of a monitor some of whose windows are archived."""

from datetime import timedelta
from pathlib import Path

import pytest

from biaswatch.archiving.moving import move_run
from biaswatch.exporting.answers import in_store
from biaswatch.services.gateway.exports import ExportQueries
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.requests.exports import MonitorRun
from biaswatch.shared.store import Store
from biaswatch.shared.store.archived_runs import ArchivableRun
from tests.support.traffic_platform import HOUR, LATE, MONITOR, NOON, TrafficPlatform, said

LATER = NOON + timedelta(days=9)


def test_the_windows_of_a_monitor_say_which_of_them_are_archived(
    store: Store, tmp_path: Path
) -> None:
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    for hour in range(2):
        platform.hear(*said(range(3), NOON + hour * HOUR))
        platform.read(NOON + (hour + 1) * HOUR + LATE)
    queries = ExportQueries(store, MonitorQueries(store))
    first, second = queries.runs(MONITOR.name)
    assert (first.archived, second.archived) == (None, None)
    folder = ParquetFolder(str(tmp_path / "lake"))
    move_run(store, folder, ArchivableRun(first.run_id, "default", "support"), lambda: LATER)
    away, there = queries.runs(MONITOR.name)
    assert (away.run_id, there) == (first.run_id, second)
    assert away.archived is not None
    assert "3 answers with their measurements were archived on" in away.archived
    assert f"`biaswatch admin archive restore {first.run_id}` brings them back" in away.archived
    runs, left_out = in_store([away, there])
    assert runs == [second]
    assert left_out == f"The run {first.run_id} is left out. {away.archived}"


def run(number: int, archived: str | None = "Its answers are away.") -> MonitorRun:
    return MonitorRun(run_id=f"{number:032x}", at=NOON + number * HOUR, archived=archived)


def test_many_archived_runs_are_one_sentence() -> None:
    there = run(9, None)
    runs, left_out = in_store([*map(run, range(5)), there])
    assert runs == [there]
    assert left_out is not None
    assert left_out.startswith("5 runs are left out, whose answers are archived, from 2026-01-01")
    assert f"{run(2).run_id}, and 2 more." in left_out
    assert in_store([there]) == ([there], None)
    assert in_store([]) == ([], None)


def test_nothing_is_written_where_every_run_is_archived() -> None:
    with pytest.raises(UsageError, match=r"There is nothing to export\. 2 runs are left out"):
        in_store([run(0), run(1)])

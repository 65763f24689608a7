"""The tables of an exported dataset, and their views in a real DuckDB."""

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from biaswatch.integrations.dataset import (
    Batch,
    alarm_rows,
    answer_row,
    finding_rows,
    group_rows,
    measurement_rows,
    round_rows,
    run_row,
    write_dataset,
)
from biaswatch.integrations.dataset_schema import TABLES, VERSION, VIEWS, DatasetRow
from biaswatch.integrations.sources import WatchedMonitor
from biaswatch.shared.contracts import Estimate, Gap, Verdict
from biaswatch.shared.requests.exports import exported_answer, exported_features
from biaswatch.shared.requests.monitor_views import MonitorStatus, MonitorView, histories_of
from tests.support.records import (
    AT,
    make_alarm,
    make_diagnosis,
    make_evidence,
    make_features,
    make_probe,
    make_progress,
    make_response,
)

GAPS = (
    Gap(a="France", b="Peru", gap=Estimate(value=1.0), verdict=Verdict.DISPARITY),
    Gap(a="France", b="Chad", gap=Estimate(reason="no units"), verdict=Verdict.INCONCLUSIVE),
)


def monitor() -> WatchedMonitor:
    status = MonitorStatus(
        name="coasts", monitor_id="b" * 32, state="active", suite="countries",
        target="replay:answers", claim="population", rounds=2, comparisons=1, alarms=1,
        alpha=0.05, since=AT,
    )  # fmt: skip
    evidence = [make_evidence(round=number, at=AT) for number in (1, 2)]
    view = MonitorView(status=status, evidence=[], alarms=[make_alarm(words="A gap of 0.5.")])
    return WatchedMonitor(view, histories_of(evidence))


async def batches() -> AsyncIterator[Batch]:
    diagnoses = [make_diagnosis(gaps=GAPS)]
    probe, response, features = make_probe(), make_response(), make_features()
    answer = exported_answer(probe, response.id, response)
    missing = exported_answer(probe, "f" * 32, None)
    measured = exported_features(response.id, [features], [])
    rows: dict[str, Sequence[DatasetRow]] = {
        "runs": [run_row(make_progress())],
        "answers": [answer_row(answer), answer_row(missing)],
        "measurements": list(measurement_rows(probe.run_id, measured)),
        "findings": list(finding_rows(diagnoses)),
        "groups": list(group_rows(diagnoses)),
        "rounds": list(round_rows(monitor())),
        "alarms": list(alarm_rows(monitor())),
    }
    for batch in rows.items():
        yield batch


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    await write_dataset(str(tmp_path / "dataset"), batches())
    return tmp_path / "dataset"


@pytest.fixture
def database(folder: Path, monkeypatch: pytest.MonkeyPatch) -> duckdb.DuckDBPyConnection:
    monkeypatch.chdir(folder)
    connection = duckdb.connect()
    connection.execute((folder / "views.sql").read_text())
    return connection


def asked(database: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return database.execute(query).fetchall()


def test_every_table_and_view_can_be_read(database: duckdb.DuckDBPyConnection) -> None:
    for name in (*TABLES, *VIEWS):
        assert asked(database, f"SELECT count(*) FROM {name}")[0][0] > 0, name


def test_an_undefined_gap_is_null_with_its_reason(database: duckdb.DuckDBPyConnection) -> None:
    gaps = asked(database, "SELECT b, gap, gap_reason, summary FROM findings ORDER BY b")
    assert gaps == [("Chad", None, "no units", "inconclusive"), ("Peru", 1.0, None, "disparity")]
    assert asked(database, "SELECT b FROM disparities") == [("Peru",)]


def test_a_missing_answer_has_a_row_and_no_measurement(database: duckdb.DuckDBPyConnection) -> None:
    query = "SELECT text IS NULL, reason IS NULL FROM answers WHERE response_id = repeat('f', 32)"
    assert asked(database, query) == [(True, False)]
    probe = make_probe()
    [(groups,)] = asked(database, "SELECT DISTINCT groups FROM measured_answers")
    assert groups == probe.groups
    values = dict(asked(database, "SELECT feature, value FROM measured_answers"))
    assert values == make_features().values


def test_a_cleared_alarm_is_not_raised(database: duckdb.DuckDBPyConnection) -> None:
    assert asked(database, "SELECT monitor, description FROM raised_alarms") == [
        ("coasts", "A gap of 0.5.")
    ]
    rounds = asked(database, "SELECT round, gap, log_evidence, bound FROM rounds ORDER BY round")
    assert rounds == [(1, 0.5, 0.1, 4.4), (2, 0.5, 0.1, 4.4)]


def test_the_schema_describes_every_column_of_the_files(
    folder: Path, database: duckdb.DuckDBPyConnection
) -> None:
    schema = json.loads((folder / "schema.json").read_text())
    assert schema["version"] == VERSION
    for name, table in schema["tables"].items():
        columns = [row[0] for row in asked(database, f"DESCRIBE {name}")]
        assert columns == list(table["properties"])
        assert (
            schema["files"][name]["rows"] == asked(database, f"SELECT count(*) FROM {name}")[0][0]
        )


def complete_files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix == ".parquet"]


async def test_a_failed_export_leaves_no_file_that_looks_complete(tmp_path: Path) -> None:
    async def failing() -> AsyncIterator[Batch]:
        yield "runs", [run_row(make_progress())]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await write_dataset(str(tmp_path), failing())
    assert complete_files(tmp_path) == []

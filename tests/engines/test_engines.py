"""Every engine gives the same sums, and the same diagnosis as the rows do in memory."""

import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biaswatch.engines.parquet_tables import parquet_table
from biaswatch.engines.queries import (
    CLICKHOUSE,
    DUCKDB,
    POSTGRESQL,
    SPARK,
    SummedColumns,
    sums_query,
)
from biaswatch.engines.summed_diagnosis import EngineTable, summed_diagnosis
from biaswatch.main import main
from biaswatch.readers.tables import TableColumns, frame_observations
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.table_diagnosis import diagnose_table
from biaswatch.shared.contracts import Against
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.groups.registry import parse_statistic
from tests.support.engine_tables import FEATURES, engine, make_table, write_parquet

SUMMED = SummedColumns("team", FEATURES, ("language",), shifts=(1000120.0, 0.03, 0.2))
PLAN = ComparisonPlan(tolerance=0.05)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return make_table()


@pytest.fixture(scope="module")
def folder(frame: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parquet(frame, tmp_path_factory.mktemp("tables") / "table")


@pytest.fixture(scope="module")
def duckdb(folder: Path) -> Iterator[EngineTable]:
    with parquet_table(str(folder)) as table:
        yield table


@pytest.fixture(scope="module", params=["spark", "clickhouse"])
def other(request: pytest.FixtureRequest, folder: Path) -> Iterator[EngineTable]:
    sources = {"spark": f"parquet.`{folder}`", "clickhouse": f"file('{folder}/*.parquet', Parquet)"}
    with engine(request.param, sources[request.param]) as table:
        yield table


def columns(**fields: Any) -> TableColumns:
    return TableColumns(["team"], list(FEATURES), **{"domains": ["language"], **fields})


def by_group(rows: Sequence[Sequence[Any]]) -> dict[tuple[str, ...], list[float]]:
    return {tuple(map(str, row[:2])): [float(cell) for cell in row[2:]] for row in rows}


@pytest.mark.parametrize("unit", [None, "user"])
def test_sums_are_those_of_duckdb(
    duckdb: EngineTable, other: EngineTable, unit: str | None
) -> None:
    asked = SummedColumns("team", FEATURES, ("language",), unit, SUMMED.shifts)
    here = by_group(duckdb.run(sums_query(duckdb.source, asked, duckdb.dialect)))
    there = by_group(other.run(sums_query(other.source, asked, other.dialect)))
    assert here.keys() == there.keys()
    assert len(here) == 6
    for key, sums in here.items():
        assert there[key] == pytest.approx(sums, rel=1e-12, abs=1e-9)


def test_a_diagnosis_is_that_of_duckdb(duckdb: EngineTable, other: EngineTable) -> None:
    here, there = (summed_diagnosis(item, columns(), PLAN) for item in (duckdb, other))
    assert [statistic.value for statistic in here.description.statistics] == pytest.approx(
        [statistic.value for statistic in there.description.statistics], rel=1e-12
    )
    for a, b in zip(here.comparisons, there.comparisons, strict=True):
        assert (a.a, a.b, a.feature, a.n_a, a.n_b) == (b.a, b.b, b.feature, b.n_a, b.n_b)
        assert (a.conclusion is None) == (b.conclusion is None)
        assert a.conclusion
        assert b.conclusion
        assert a.conclusion.verdict is b.conclusion.verdict
        assert a.p_value == pytest.approx(b.p_value, rel=1e-8)


@pytest.mark.parametrize("unit", [None, "user"])
@pytest.mark.parametrize("against", [Against.PAIRS, Against.REST])
def test_the_numbers_are_those_of_the_rows_in_memory(
    duckdb: EngineTable, frame: pd.DataFrame, unit: str | None, against: Against
) -> None:
    asked = columns(unit=unit, domains=(), ranges={"sentiment": (-1.0, 1.0)})
    plan = ComparisonPlan(tolerance=0.05, against=against)
    summed = summed_diagnosis(duckdb, asked, plan)
    seen, _ = frame_observations(frame, asked, "table")
    statistics = [parse_statistic(name, {}) for name in ("mean", "standard_deviation")]
    rng = np.random.default_rng(0)
    whole = diagnose_table(seen, statistics, plan, ddof=0, rng=rng, permutations=0)

    def key(statistic: Any) -> tuple[str, ...]:
        return statistic.statistic, statistic.feature, *statistic.group.values()

    summed_statistics = {key(statistic): statistic for statistic in summed.description.statistics}
    for expected in whole.description.statistics:
        stat = summed_statistics[key(expected)]
        assert (stat.n, stat.n_missing) == (expected.n, expected.n_missing)
        assert stat.value == pytest.approx(expected.value, rel=1e-12)
        if expected.method.startswith("Student"):
            assert (stat.low, stat.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    compared = {
        (comparison.feature, comparison.a, comparison.b): comparison
        for comparison in summed.comparisons
    }
    regular = 0
    for gap in whole.comparisons:
        summed_gap = compared[gap.feature, gap.a, gap.b]
        counts = ("n_a", "n_b", "n_missing_a", "n_missing_b", "units_a", "units_b")
        assert [getattr(summed_gap, n) for n in counts] == [getattr(gap, n) for n in counts]
        # Of the values: those near a million are themselves known to 1e-10.
        size = 1e-12 * float(np.nanmax(np.abs(frame[gap.feature].where(np.isfinite))))
        assert summed_gap.gap.value == pytest.approx(gap.gap.value, rel=1e-12, abs=size)
        if gap.feature != "refused":  # rare and of two values: bounded means in memory
            assert "Student" in gap.gap.method
            regular += 1
            ends = gap.by_itself.low, gap.by_itself.high
            assert (summed_gap.by_itself.low, summed_gap.by_itself.high) == pytest.approx(
                ends, abs=size
            )
            here, there = (vars(item.statistics["effect_size"]) for item in (gap, summed_gap))
            assert there["method"] == here["method"]
            whole_effect = (here["value"], here["low"], here["high"])
            assert (there["value"], there["low"], there["high"]) == pytest.approx(
                whole_effect, abs=1e-6
            )
    assert regular


def test_units_that_are_in_several_groups_are_not_summed(duckdb: EngineTable) -> None:
    with pytest.raises(UsageError, match="in several groups of team"):
        summed_diagnosis(duckdb, columns(unit="language", domains=()), PLAN)


def test_a_folder_of_parquet_is_diagnosed_by_the_command_line(
    folder: Path, frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole.parquet"
    frame.to_parquet(whole, index=False)
    words = ["--group", "team", "--feature", "refused", "--unit", "user", "--json"]
    one, many, summed = (
        json.loads(diagnosed(source, words, monkeypatch, most)[0])
        for source, most in ((str(whole), 10**9), (str(folder), 10**9), (f"{folder}/*.parquet", 9))
    )
    assert many == one
    assert summed["about"]["units"] == one["about"]["units"]
    assert [row["gap"] for row in summed["comparisons"]] == pytest.approx(
        [row["gap"] for row in one["comparisons"]], rel=1e-9
    )
    assert "larger than memory" in summed["warnings"][0]
    text, code = diagnosed(str(folder), [*words, "--set", "user"], monkeypatch, 9)
    assert code == 2
    assert "--set compares answers one by one" in text
    text, code = diagnosed(f"{folder}/*.parquet", [*words, "--cases", "3"], monkeypatch, 9)
    assert (code, "`cases` needs all values" in text) == (2, True)


def test_what_an_engine_summed_is_shown_to_people_as_well(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    words = ["--group", "team", "--feature", "refused", "--unit", "user"]
    text, code = diagnosed(str(folder), words, monkeypatch, 9)
    assert code == 0
    assert "effect size" in text
    assert "Inconclusive: 3 of 3" in text


def test_a_group_too_small_for_sums_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = pd.DataFrame({"team": ["a", "b"] * 40, "score": [0.0, 1.0, 1.0, 0.0] * 20})
    few.to_parquet(tmp_path / "few.parquet", index=False)
    monkeypatch.setenv("COLUMNS", "200")
    words = ["--group", "team", "--feature", "score"]
    text, code = diagnosed(f"{tmp_path}/*.parquet", words, monkeypatch, 9)
    assert code == 0
    assert "fewer than 1,000 units: diagnose these rows by themselves" in " ".join(text.split())


def diagnosed(
    source: str, words: list[str], monkeypatch: pytest.MonkeyPatch, most: int
) -> tuple[str, int]:
    from biaswatch.diagnosis import large_tables

    monkeypatch.setattr(large_tables, "MOST_CELLS", most)
    monkeypatch.setattr(sys, "argv", ["biaswatch", "diagnose", source, *words])
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main()
    return out.getvalue() or err.getvalue(), int(ended.value.code or 0)


@pytest.mark.parametrize("dialect", [DUCKDB, SPARK, POSTGRESQL, CLICKHOUSE])
def test_a_name_of_a_column_cannot_leave_its_quotes(dialect: Any) -> None:
    hostile = f"x{dialect.quote}) FROM y; DROP TABLE z; --"
    query = sums_query("t", SummedColumns(hostile, ("f",), shifts=(0.0,)), dialect)
    assert f"x{dialect.quote * 2}) FROM y" in query


def test_postgresql_gives_the_same_sums(
    duckdb: EngineTable, frame: pd.DataFrame, postgresql_server: Any
) -> None:
    import psycopg

    with psycopg.connect(postgresql_server.get_uri()) as connection:
        connection.execute(
            'CREATE TEMP TABLE answers (team text, language text, "user" text,'
            " words float8, sentiment float8, refused float8)"
        )
        cells = frame.astype(object).where(frame.notna(), None)
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO answers VALUES (%s, %s, %s, %s, %s, %s)", cells.to_numpy().tolist()
            )
        there = EngineTable(lambda sql: connection.execute(sql).fetchall(), "answers", POSTGRESQL)
        for unit in (None, "user"):
            asked = SummedColumns("team", FEATURES, ("language",), unit, SUMMED.shifts)
            sums = [
                by_group(item.run(sums_query(item.source, asked, item.dialect)))
                for item in (duckdb, there)
            ]
            assert sums[0].keys() == sums[1].keys()
            for key, result in sums[0].items():
                assert sums[1][key] == pytest.approx(result, rel=1e-12, abs=1e-9)

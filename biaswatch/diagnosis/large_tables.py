"""Tables of many Parquet files: all rows where they fit into memory, or else their sums."""

from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console

from biaswatch.diagnosis.sources import DiagnosisInput, frame_input
from biaswatch.engines.parquet_tables import (
    MOST_CELLS,
    check_measured,
    checked_rows,
    column_warnings,
    parquet_table,
    whole_frame,
)
from biaswatch.engines.queries import DUCKDB, named
from biaswatch.engines.summed_diagnosis import summed_diagnosis
from biaswatch.readers.tables import TableColumns
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.table_diagnosis import TableDiagnosis
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import UsageError

SUMMED_WARNING = (
    "The table is larger than memory should hold, so DuckDB summed it: intervals are Student's t"
    " from the sums, and medians, relabelling and the test over all groups are left out."
)


@dataclass(frozen=True)
class SummedTable:
    """A table too large for memory: its files, columns and size."""

    source: str
    columns: TableColumns
    rows: int
    units: int

    @property
    def advice(self) -> str:
        """The advice for computations on all values."""
        return (
            f"{self.source} has {self.rows:,} rows, which is more than fits into memory: name fewer"
            " features, or write a sample of whole units to one file and diagnose that."
        )

    def diagnosis(
        self, plan: ComparisonPlan, ddof: int, *, named_statistics: bool
    ) -> TableDiagnosis:
        """Return the statistics computable from sums of the table.

        Raises
        ------
        UsageError
            The request takes the values themselves.
        """
        refused = {
            "statistic": named_statistics,
            "random": bool(self.columns.random),
            "assigned": plan.assigned,
            "permutations": bool(plan.permutations),
            "claim=bank": plan.claim is Claim.BANK,
        }
        if wrong := [field for field, present in refused.items() if present]:
            raise UsageError(f"`{wrong[0]}` takes all values at once. {self.advice}")
        console = Console(stderr=True)
        with console.status(f"summing {self.rows:,} rows"), parquet_table(self.source) as table:
            return summed_diagnosis(table, self.columns, plan, ddof)


def dataset_input(source: str, columns: TableColumns) -> DiagnosisInput:
    """Return the rows of many files, or their sums if memory is too small.

    Raises
    ------
    UsageError
        There are none, a column is missing, or a large table is to be paired or calibrated.
    """
    with parquet_table(source) as table:
        rows = checked_rows(table, source, columns)
        check_measured(table, source, columns)
        warnings = column_warnings(table, source, columns)
        if rows * len(columns.all) <= MOST_CELLS:
            whole = frame_input(whole_frame(table, columns), columns, source)
            return replace(whole, warnings=[*warnings, *whole.warnings])
        units = rows
        if columns.unit:
            unit = named(columns.unit, DUCKDB)
            [(units,)] = table.run(f"SELECT COUNT(DISTINCT {unit}) FROM {table.source}")  # noqa: S608
    summed = SummedTable(source, columns, rows, int(units))
    options = {
        "--set": columns.set, "baseline": columns.baseline, "labels": columns.labels,
        "--truth": columns.truth,
    }  # fmt: skip
    if named_options := [option for option, value in options.items() if value]:
        raise UsageError(f"{named_options[0]} compares answers one by one. {summed.advice}")
    empty = Observations(tuple(columns.features), np.empty((0, len(columns.features))), {})
    return DiagnosisInput(empty, [SUMMED_WARNING, *warnings], columns.unit, None, summed=summed)

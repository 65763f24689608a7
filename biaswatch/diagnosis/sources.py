"""Input of `diagnose`: the rows of a table in a file, or of a run from the gateway."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import Progress

from biaswatch.readers.labels import label_warnings, labelled_columns
from biaswatch.readers.row_ids import column_labels
from biaswatch.readers.run_observations import RunColumns, run_observations, run_warnings
from biaswatch.readers.run_tables import RunTable
from biaswatch.readers.table_files import frame_of
from biaswatch.readers.tables import TableColumns, check_named, frame_observations
from biaswatch.render.labels import print_corrections
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Labels, Observations
from biaswatch.shared.analysis.labels.table_corrections import LabelledColumn
from biaswatch.shared.contracts import Against, Claim, Correction
from biaswatch.shared.presentation.correction_rows import correction_rows

if TYPE_CHECKING:
    from biaswatch.diagnosis.large_tables import SummedTable
    from biaswatch.local.client import GatewayClient
    from biaswatch.local.connections import Gateway


DECLARED = ComparisonPlan()
"""The default analysis, unless options or the run declare another."""


@dataclass(frozen=True)
class DiagnosisInput:
    """The rows to diagnose, and the declared analysis."""

    rows: Observations
    warnings: list[str]
    unit: str | None
    """The column or field of the unit; None if each row is a unit."""
    set: str | None
    claim: Claim = Claim.POPULATION
    alpha: float = DECLARED.alpha
    """Default level; options replace it, and the tolerance."""
    tolerance: float = DECLARED.tolerance
    compared: Against = DECLARED.against
    corrections: Sequence[Correction] | None = None
    """Corrections of a run's findings by labels; None for other sources."""
    extractors: Sequence[str] = ()
    """The extractors of a run."""
    labelled: Sequence[LabelledColumn] = ()
    """Labels by people of the rows of a table."""
    texts: Mapping[str, Labels] = field(default_factory=dict)
    """By column of a table, the texts of its rows."""
    summed: "SummedTable | None" = None
    """A table that is too large to read; `rows` is then empty."""

    @property
    def corrected_parts(self) -> dict[str, list[dict[str, Any]]]:
        """The corrections of a run's declared findings, as a part; empty for other sources."""
        if self.corrections is None:
            return {}
        return {"corrections": correction_rows(self.corrections)}

    def print_corrections(self) -> None:
        """Print the corrections, or that the run has no labels."""
        if self.corrections is not None:
            print_corrections(Console(emoji=False), self.corrections, self.extractors)

    @property
    def about(self) -> dict[str, Any]:
        """The numbers of rows and units, for the output."""
        summed = self.summed
        return {
            "rows": summed.rows if summed else self.rows.rows,
            "unit": self.unit,
            "units": summed.units if summed else len(np.unique(self.rows.unit_codes)),
            "set": self.set,
        }


def table_input(path: Path, columns: TableColumns) -> DiagnosisInput:
    """Read the rows of a file.

    Raises
    ------
    UsageError
        The file, a column or a value cannot be used; the message names it.
    """
    frame = frame_of(path)
    check_named(columns, frame.columns, path)
    return frame_input(frame, columns, path)


def frame_input(frame: pd.DataFrame, columns: TableColumns, source: Path | str) -> DiagnosisInput:
    """Return the rows of a frame, with its labels."""
    rows, warnings = frame_observations(frame, columns, source)
    labelled = labelled_columns(frame, columns, rows, source)
    warnings = [*warnings, *label_warnings(labelled, rows)]
    texts = {name: column_labels(frame[name]) for name in columns.texts}
    return DiagnosisInput(rows, warnings, columns.unit, columns.set, labelled=labelled, texts=texts)


def run_input(run_id: str, columns: RunColumns, gateway: "Gateway") -> DiagnosisInput:
    """Read the measured answers of a run; no model is called.

    Raises
    ------
    UsageError
        The run has no such field or feature, or the gateway refuses access.
    """
    table, corrections = asyncio.run(_run_with_corrections(run_id, gateway))
    return replace(measured_input(table, columns), corrections=corrections)


def measured_input(table: RunTable, columns: RunColumns) -> DiagnosisInput:
    """Return the measured answers of a run, with the analysis declared by its suite.

    Raises
    ------
    UsageError
        The run has no such field or feature.
    """
    declared, rows = table.declared, run_observations(table, columns)
    return DiagnosisInput(
        rows,
        run_warnings(table, rows),
        columns.unit or "unit",
        columns.set or ("set" if rows.sets is not None else None),
        declared.claim,
        DECLARED.alpha if declared.alpha is None else declared.alpha,
        DECLARED.tolerance if declared.tolerance is None else declared.tolerance,
        declared.compared,
        extractors=[extractor.name for extractor in declared.extractors],
    )


def read_runs(run_ids: Sequence[str], gateway: "Gateway") -> list[RunTable]:
    """Read the measured answers of runs, from one gateway.

    Raises
    ------
    UsageError
        A run does not exist, or the gateway refuses access.
    """
    return asyncio.run(_read_tables(run_ids, gateway))


async def _run_with_corrections(
    run_id: str, gateway: "Gateway"
) -> tuple[RunTable, Sequence[Correction]]:
    """Return a run's measured answers, and the corrections of its findings."""
    from biaswatch.local.runs import corrections_of, whole_run_id

    async with gateway.connect(with_models=False) as client:
        whole = await whole_run_id(client, run_id, or_file=True)
        corrections = await corrections_of(client, whole)
        return await read_run(client, whole), corrections.corrections


async def _read_tables(run_ids: Sequence[str], gateway: "Gateway") -> list[RunTable]:
    """Read runs over one connection."""
    from biaswatch.local.runs import whole_run_id

    async with gateway.connect(with_models=False) as client:
        return [await read_run(client, await whole_run_id(client, text)) for text in run_ids]


async def read_run(client: "GatewayClient", run_id: str) -> RunTable:
    """Read the measured answers of a run, with a progress bar."""
    from biaswatch.local.runs import run_table

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("reading answers", total=None)
        return await run_table(
            client,
            run_id,
            lambda answers: bars.update(task, total=answers),
            lambda: bars.advance(task),
        )

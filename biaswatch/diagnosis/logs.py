"""Input of `diagnose --extract`: recorded answers, measured in this process."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from biaswatch.diagnosis.log_remarks import log_remarks
from biaswatch.diagnosis.sources import DiagnosisInput
from biaswatch.importing.log_files import log_file
from biaswatch.importing.rows import RepeatedIds, Row
from biaswatch.measuring import TextMeasurer
from biaswatch.readers.columns import listed_names
from biaswatch.readers.row_ids import label_form_sentences, rounded_id_warnings
from biaswatch.readers.run_observations import RunColumns, run_observations, run_warnings
from biaswatch.readers.run_tables import RunTable
from biaswatch.shared.contracts import Claim
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.rows import LogFormat
from biaswatch.shared.errors import UsageError


def log_input(
    path: Path,
    columns: RunColumns,
    extractors: Sequence[str],
    format_: LogFormat | None,
    mapping: Path | None,
) -> DiagnosisInput:
    """Return the measured answers of a log; repeated answers count once.

    Raises
    ------
    UsageError
        The log, its mapping, an extractor, a group or a feature cannot be used.
    """
    measurer = TextMeasurer.named(extractors)
    left_out = LeftOut()
    rows, repeated = _distinct(log_file(path, format_, mapping).answers(left_out))
    _check_answered(path, [row for _, row in rows], left_out)
    repeated += rounded_id_warnings(
        {name: [row.get(name) for _, row in rows] for name in ("id", "unit")}
    )
    answers = [{"id": where, **row} for where, row in rows]
    console = Console(stderr=True)
    table = RunTable(measurer.declared(str(path), len(answers)), of=f"The log {path}")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("measuring", total=len(answers))
        for answer in measurer.measured_answers(answers):
            table.add(answer)
            bars.advance(task)
    seen = run_observations(table, columns)
    remarks = log_remarks([row for _, row in rows], columns.groups)
    for name, labels in seen.groups.items():
        remarks += label_form_sentences(name, labels)
    warnings = [*left_out.sentences(), *repeated, *run_warnings(table, seen), *remarks]
    return DiagnosisInput(seen, warnings, columns.unit or "unit", columns.set, Claim.POPULATION)


def _check_answered(path: Path, rows: Sequence[Mapping[str, Any]], left_out: LeftOut) -> None:
    """Raise UsageError if no row has an answer or a reason for a missing one."""
    if not rows:
        why = " ".join(left_out.sentences())
        raise UsageError(f"{path} holds no answer. {why}".strip())
    if not any(row.keys() & {"text", "reason"} for row in rows):
        fields = f"Row 1 has {listed_names(list(rows[0]))}." if rows[0] else "Row 1 is empty."
        raise UsageError(
            f"{path} holds no answer: no row has a `text`, or a `reason` for a missing one."
            f" {fields} Name the answer's field in a map, and pass it with --map;"
            f" `biaswatch ingest --suggest-map {path}` writes one."
        )


def _distinct(rows: Iterable[Row]) -> tuple[list[Row], list[str]]:
    """Return the distinct rows, and a warning about ids with different content."""
    seen = RepeatedIds()
    distinct = [row for row in rows if seen.is_new(row[1])]
    warning = (
        f"{seen.differing} rows have the id of another row but a different text, group or unit."
        " Each counts as a separate answer; without a unit, rows with the same id are one unit."
    )
    return distinct, [warning] if seen.differing else []

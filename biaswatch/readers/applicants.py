"""Applicants in a table: one score and one category of each dimension, from one or more rows."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from biaswatch.readers.columns import check_columns
from biaswatch.readers.row_ids import column_labels, label_form_warnings
from biaswatch.readers.tables import TableColumns, frame_observations
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.studies.local_law_144 import applicant_score


@dataclass(frozen=True)
class ApplicantRows:
    """The scores and the categories of applicants, in one order."""

    scores: list[float | None]
    labels: dict[str, list[str | None]]
    """By dimension."""
    warnings: list[str]


def applicants_in(
    frame: pd.DataFrame, path: Path, groups: Sequence[str], score: str, unit: str | None
) -> ApplicantRows:
    """Return the applicants of a table; rows with the same unit are averaged.

    Raises
    ------
    UsageError
        A column is missing, no row has a score, or rows of one applicant have different categories.
    """
    warnings = []
    if unit:
        check_columns([unit], frame, path)
        named = [label is not None for label in column_labels(frame[unit])]
        if absent := named.count(False):
            warnings.append(f"{absent} of {len(named)} rows have no {unit} and are left out.")
            frame = frame[named]
    columns = TableColumns(list(groups), [score], unit=unit)
    rows, _ = frame_observations(frame, columns, path)
    warnings += label_form_warnings(frame, rows.groups, columns.ids)
    applicants = _averaged(rows)
    if all(value is None for value in applicants.scores):
        raise UsageError(f"No row of {path} has a value of {score}: name another --score.")
    return ApplicantRows(applicants.scores, applicants.labels, warnings)


def _averaged(rows: Observations) -> ApplicantRows:
    scores: dict[int, list[float]] = defaultdict(list)
    first_row: dict[int, int] = {}
    units, values = rows.unit_codes.tolist(), rows.values[:, 0].tolist()
    for row, (unit, value) in enumerate(zip(units, values, strict=True)):
        scores[unit].append(value)
        first = first_row.setdefault(unit, row)
        for name, labels in rows.groups.items():
            if labels[row] != labels[first]:
                categories = " and ".join(str(labels[k] or "none") for k in (first, row))
                raise UsageError(
                    f"The applicant {rows.units[row] if rows.units else row} has several categories"
                    f" of {name}: {categories}. An applicant counts once: correct the rows, or name"
                    " another column by --unit."
                )
    labels_of = {
        name: [labels[row] for row in first_row.values()] for name, labels in rows.groups.items()
    }
    return ApplicantRows([applicant_score(own) for own in scores.values()], labels_of, [])

"""Tables of the distances between all groups of a finding."""

from collections.abc import Sequence

from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.presentation.findings import title_of
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.tables import (
    Table,
    estimate_cell,
    estimates,
    number_cell,
    numbers,
    text_cell,
    texts,
    verdict_cell,
    words,
)

SHOWN_METRICS = ("Max-Min", "Min/Max", "Impact Ratio", "Max Z-Score", "Min Z-Score", "Dixon Q")
"""Metrics in tables for people; JSON and files have all."""


def parities_table(diagnoses: Sequence[Diagnosis]) -> Table:
    """Return how far the groups are from equal rates, of features with a truth."""
    names = ModelNames.among(diagnoses)
    columns = (*texts("of", "parity"), *estimates("value"), *texts("verdict"))
    rows = [
        (
            text_cell(f"{title_of(diagnosis)}, {names.of(diagnosis)}"),
            text_cell(words(f"{row.parity}_{row.metric}")),
            estimate_cell(row.estimate),
            verdict_cell(row.verdict) if row.verdict else text_cell("-"),
        )
        for diagnosis in diagnoses
        for row in diagnosis.parities
    ]
    return Table("Equal rates of decisions and errors", columns, tuple(rows))


def disparities_table(diagnoses: Sequence[Diagnosis], *, statistics: Sequence[str] = ()) -> Table:
    """Return how far the groups lie apart, for some statistics or for all."""
    names = ModelNames.among(diagnoses)
    is_alone = len(diagnoses) == 1
    columns = (
        *(() if is_alone else texts("of")),
        *texts("statistic", "metric"),
        *numbers("value"),
        *texts("held by"),
        *numbers("by chance"),
    )
    rows = [
        (
            *(() if is_alone else [text_cell(f"{title_of(diagnosis)}, {names.of(diagnosis)}")]),
            text_cell(words(row.statistic)),
            text_cell(row.metric),
            number_cell(row.value),
            text_cell(row.group or ""),
            number_cell(row.null_median),
        )
        for diagnosis in diagnoses
        for row in diagnosis.disparities
        if row.value is not None
        and (row.statistic in statistics if statistics else row.metric in SHOWN_METRICS)
    ]
    return Table("Distance between all groups", columns, tuple(rows))

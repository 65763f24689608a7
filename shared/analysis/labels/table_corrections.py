"""Corrections of a table's gaps by a column of labels, by the same code as those of runs."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
from biaswatch.shared.analysis.findings.observations import Observations, within
from biaswatch.shared.analysis.labels.answer_columns import AnswerColumns
from biaswatch.shared.analysis.labels.corrected_groups import CorrectedGroups
from biaswatch.shared.analysis.labels.corrections import corrected_gaps
from biaswatch.shared.analysis.labels.labelled_rows import LabelledRows
from biaswatch.shared.contracts import CorrectedGap, CorrectedGroup, Estimate
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.labels.agreement import agreement
from biaswatch.shared.stats.labels.corrected_values import DrawnLabels

TABLE = "table"


@dataclass(frozen=True)
class LabelledColumn:
    """The labels of one feature of a table."""

    feature: str
    labels: Floats
    """[rows, people]; nan without a label."""
    bounds: Bounds
    """The least and the largest value that a label can be."""
    probabilities: Floats | None = None
    """[rows]: how probable it was that the row would be labelled, where it was labelled; only how
    they compare within a group counts. None: within each group all alike."""
    readings: Floats | None = None
    """[rows]: what the labels correct; None for the values of the feature."""
    dimension: str | None = None
    """The only dimension that it is about; None for all."""


@dataclass(frozen=True)
class TableCorrection:
    """One feature over one dimension of a table, corrected by labels."""

    feature: str
    dimension: str
    domain: str
    labels: int
    people: int
    family: int
    alpha: float
    agreement: Estimate
    groups: tuple[CorrectedGroup, ...]
    gaps: tuple[CorrectedGap, ...]


def table_corrections(
    seen: Observations, columns: Sequence[LabelledColumn], plan: AnalysisPlan
) -> list[TableCorrection]:
    """Return what labels make of the gaps of a table; all corrected gaps are one family.

    Rows are taken as drawn by chance within every crossing of groups, in each domain by itself.
    """
    parts = [part for column in columns for part in _parts(seen, column, plan)]
    compared = [(groups, pair) for groups, _, _ in parts for pair in groups.compared]
    family = max(1, sum(groups.comparable(pair) for groups, pair in compared))
    return [_correction(*part, plan, family) for part in parts]


Part = tuple[CorrectedGroups, str, Floats]
"""The groups of a dimension, their domain, and what each person said of each of their rows."""


def _parts(seen: Observations, column: LabelledColumn, plan: AnalysisPlan) -> Iterator[Part]:
    codes, domains = seen.domain_codes
    for code, domain in enumerate(domains):
        rows = np.flatnonzero(codes == code)
        labelled = labelled_rows_of(seen, column, rows)
        if not len(labelled.drawn.rows):
            continue
        for dimension in seen.groups:
            if dimension in labelled.answers.groups and column.dimension in (None, dimension):
                groups = CorrectedGroups(
                    labelled, column.feature, dimension, column.bounds, plan.comparisons,
                    plan.ranges,
                )  # fmt: skip
                yield groups, domain, column.labels[rows]


def labelled_rows_of(
    seen: Observations, column: LabelledColumn, rows: Sequence[int] | np.ndarray
) -> LabelledRows:
    """Return some rows with their labels, weighted by the chance of having one."""
    answers = _answers(seen, column, rows)
    read = answers.readings[column.feature]
    readings = within(read, column.bounds)
    people = column.labels[rows]
    known = np.isfinite(people)
    counts = known.sum(axis=1)
    sums = np.where(known, people, 0.0).sum(axis=1)
    labels = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    labels = np.where(np.isfinite(read) & np.isfinite(readings), labels, np.nan)
    drawn = _drawn_labels(answers, readings, labels, column, rows)
    return LabelledRows(answers, column.feature, column.bounds, drawn)


def readings_of(seen: Observations, column: LabelledColumn) -> Floats:
    """Return what labels correct: the readings of a column, or the values of its feature."""
    if column.readings is not None:
        return column.readings
    return seen.values[:, seen.features.index(column.feature)]


def _answers(
    seen: Observations, column: LabelledColumn, rows: Sequence[int] | np.ndarray
) -> AnswerColumns:
    """Return some rows of a table as the answers to one target."""
    values = readings_of(seen, column)[rows]
    units, sets = seen.units, seen.sets
    groups = {name: [levels[row] or None for row in rows] for name, levels in seen.groups.items()}
    of_sets = None if sets is None else [sets[row] for row in rows]
    return AnswerColumns(
        extractor=TABLE,
        target=TABLE,
        scaffold=TABLE,
        readings={column.feature: np.where(np.isfinite(values), values, np.nan)},
        units=[
            f"row {row}" if units is None or units[row] is None else f"unit {units[row]}"
            for row in rows
        ],
        sets=of_sets if of_sets is not None and any(of_sets) else None,
        groups={name: levels for name, levels in sorted(groups.items()) if any(levels)},
        row_of={},
        id_hashes=np.empty(0, dtype=np.uint64),
    )


def _drawn_labels(
    answers: AnswerColumns,
    readings: Floats,
    labels: Floats,
    column: LabelledColumn,
    rows: Sequence[int] | np.ndarray,
) -> DrawnLabels:
    """Return how probable each row was to be labelled; nan in crossings where none was."""
    groups = answers.groups.values()
    strata = list(zip(*groups, strict=True)) if groups else [()] * len(readings)
    present, known = np.isfinite(readings), np.isfinite(labels)
    probabilities = None if column.probabilities is None else column.probabilities[rows]
    members: Mapping[tuple[str | None, ...], int] = Counter(strata)
    place = {stratum: number for number, stratum in enumerate(members)}
    codes = np.array([place[stratum] for stratum in strata])
    row_means, set_means = np.full(len(readings), np.nan), np.full(len(place) + 1, np.nan)
    for code in range(len(place)):
        own = (codes == code) & present
        drawn = own & known
        if not drawn.any():
            continue
        weights = (
            np.ones(len(readings))
            if probabilities is None
            else 1 / np.where(drawn, probabilities, 1.0)
        )
        # So that the weights of labelled rows add up to the rows of the crossing.
        scale = weights[drawn].sum() / own.sum()
        shares = np.minimum(1.0, scale / weights)
        set_means[code] = shares[drawn].min()
        row_means[drawn] = shares[drawn]
    at = np.flatnonzero(known)
    return DrawnLabels(at, labels[at], row_means[at], strata=codes, undrawn=set_means)


def _correction(
    groups: CorrectedGroups, domain: str, people: Floats, plan: AnalysisPlan, family: int
) -> TableCorrection:
    middle = sum(groups.bounds) / 2 if groups.yes_or_no else None
    of_groups, gaps = corrected_gaps(groups, middle, plan, family)
    known = np.isfinite(people)
    labels_by_row = [
        [float(label) for label in row[known_]] for row, known_ in zip(people, known, strict=True)
    ]
    return TableCorrection(
        feature=groups.feature,
        dimension=groups.dimension,
        domain=domain,
        labels=len(groups.rows.drawn.rows),
        people=int(known.any(axis=0).sum()),
        family=family,
        alpha=plan.alpha,
        agreement=agreement([row_labels for row_labels in labels_by_row if row_labels], plan.alpha),
        groups=of_groups,
        gaps=gaps,
    )

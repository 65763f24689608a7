"""Columns of a table that hold what people said of its rows, and how probable each label was."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaswatch.readers.tables import TableColumns, numbers_in
from biaswatch.shared.analysis.findings.observations import Floats, Observations
from biaswatch.shared.analysis.labels.table_corrections import LabelledColumn
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

UNIT_SCALE = (0.0, 1.0)


def named_labels(given: Sequence[str], features: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of labels by feature: of several people, several columns.

    With one feature `rude_by_anna` is enough; `rude=rude_by_anna` says of which they are.

    Raises
    ------
    UsageError
        A column is named of no feature, where there are several.
    """
    found: dict[str, tuple[str, ...]] = {}
    for each in given:
        feature, _, column = each.partition("=")
        if feature not in features or not column:
            if len(features) != 1:
                raise UsageError(
                    f"Labels {each!r}: say of which number they are, as in"
                    f" {features[0] if features else 'FEATURE'}={each}."
                )
            feature, column = features[0], each
        found[feature] = (*found.get(feature, ()), column)
    return found


def labelled_columns(
    frame: pd.DataFrame, columns: TableColumns, seen: Observations, source: Path | str
) -> list[LabelledColumn]:
    """Return what people said of the rows of a frame.

    Raises
    ------
    UsageError
        A value is no number, lies outside its scale, or the scale of a number is not known.
    """
    chances = None if columns.probability is None else _chances(frame, columns.probability, source)
    found = []
    for feature, names in columns.labels.items():
        said = np.column_stack([_finite(numbers_in(source, frame, name)) for name in names])
        read = seen.values[:, seen.features.index(feature)]
        bounds = _scale(feature, read, said, columns.ranges)
        for place, name in enumerate(names):
            _check(said[:, place], bounds, f"{source}, column {name}", feature)
        labelled = np.isfinite(said).any(axis=1)
        if chances is not None and (unknown := labelled & ~np.isfinite(chances)).any():
            row = int(np.flatnonzero(unknown)[0])
            raise UsageError(
                f"{source}, row {row + 1}: it has a label of {feature} and no number in"
                f" {columns.probability}."
            )
        found.append(LabelledColumn(feature, said, bounds, chances))
    return found


def label_warnings(columns: Sequence[LabelledColumn], seen: Observations) -> list[str]:
    """Return what somebody who reads corrected numbers of a table should know."""
    said = []
    for each in columns:
        labelled = np.isfinite(each.labels).any(axis=1)
        read = np.isfinite(seen.values[:, seen.features.index(each.feature)])
        if lost := int((labelled & ~read).sum()):
            said.append(f"{lost} labels of {each.feature} stand where it has no number.")
        cells = list(zip(*seen.groups.values(), strict=True)) if seen.groups else []
        known = {cell for cell, there in zip(cells, labelled & read, strict=True) if there}
        without = sum(there and cell not in known for cell, there in zip(cells, read, strict=True))
        if known and without:
            said.append(
                f"{without} rows lie in crossings of groups of which nobody has labelled a row:"
                f" they are left out where {each.feature} is corrected."
            )
    return said


def _scale(feature: str, read: Floats, said: Floats, ranges: Mapping[str, Bounds | None]) -> Bounds:
    if declared := ranges.get(feature):
        return declared
    there = np.concatenate([read[np.isfinite(read)], said[np.isfinite(said)]])
    if np.isin(there, UNIT_SCALE).all():
        return UNIT_SCALE
    raise UsageError(
        f"What labels can show depends on the scale of {feature}: declare the least and the largest"
        f" value, as in {feature}=1:5 (--range; in Python ranges={{...}})."
    )


def _check(values: Floats, bounds: Bounds, where: str, feature: str) -> None:
    outside = np.isfinite(values) & ((values < bounds[0]) | (values > bounds[1]))
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise UsageError(
            f"{where}, row {row + 1}: the label {values[row]:g} lies outside the scale of"
            f" {feature}, {bounds[0]:g} to {bounds[1]:g}."
        )


def _chances(frame: pd.DataFrame, name: str, source: Path | str) -> Floats:
    found = _finite(numbers_in(source, frame, name))
    wrong = np.isfinite(found) & ((found <= 0) | (found > 1))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"{source}, row {row + 1}, column {name}: a probability lies above 0 and is at most 1,"
            f" not {found[row]:g}."
        )
    return found


def _finite(values: Floats) -> Floats:
    return np.where(np.isfinite(values), values, np.nan)

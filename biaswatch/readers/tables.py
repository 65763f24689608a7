"""Tables of measurements from files: columns found, numbers read, slips named."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from biaswatch.readers.columns import (
    MISSING_WORDS,
    as_booleans,
    check_columns,
    is_boolean,
    listed_names,
)
from biaswatch.readers.row_ids import column_labels, floats_in, label_form_warnings, repeats_warning
from biaswatch.readers.table_files import frame_of
from biaswatch.shared.analysis.findings.observations import Floats, Observations
from biaswatch.shared.contracts.response import LARGEST_VALUE
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds


@dataclass(frozen=True)
class TableColumns:
    """Which column is what."""

    groups: Sequence[str]
    features: Sequence[str]
    baseline: str | None = None
    unit: str | None = None
    domains: Sequence[str] = ()
    """Together they name the domain of a row."""
    set: str | None = None
    ranges: Mapping[str, Bounds | None] = field(default_factory=dict)
    """By feature: the least and the largest value there can be."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By feature: the columns of what people said of the same rows."""
    probability: str | None = None
    """The column of how probable it was that the row would be labelled."""

    @property
    def ids(self) -> list[str]:
        """Columns that say which rows belong together."""
        return [*filter(None, [self.unit, self.set]), *self.domains]

    @property
    def all(self) -> list[str]:
        """Every column that is needed."""
        single = [self.baseline, self.unit, self.set, self.probability]
        said = [name for names in self.labels.values() for name in names]
        return [*self.groups, *self.features, *self.domains, *said, *filter(None, single)]


def observations(path: Path, columns: TableColumns) -> tuple[Observations, list[str]]:
    """Read a table; return its rows, and what somebody who reads its numbers should know.

    Raises
    ------
    UsageError
        The file, a column or a value cannot be used; the sentence names it.
    """
    frame = frame_of(path)
    check_named(columns, frame.columns, path)
    return frame_observations(frame, columns, path)


def check_named(columns: TableColumns, there: Iterable[object], source: Path | str) -> None:
    """Raise UsageError, which names the columns that are `there`, if none of them is asked for."""
    if not (columns.groups and columns.features):
        raise UsageError(
            f"Name columns of {source} with --group and --feature. Its columns are"
            f" {listed_names(list(map(str, there)))}."
        )


def frame_observations(
    frame: pd.DataFrame, columns: TableColumns, path: Path | str
) -> tuple[Observations, list[str]]:
    """Return the rows of a frame as `observations` does; sentences call it `path`.

    Raises
    ------
    UsageError
        A column or a value cannot be used; the sentence names it.
    """
    check_columns(columns.all, frame, path)
    if frame.empty:
        raise UsageError(f"{path} has no rows.")
    values = np.column_stack([numbers_in(path, frame, name) for name in columns.features])
    seen = Observations(
        features=tuple(columns.features),
        values=values,
        groups={name: _labels(frame, name) for name in columns.groups},
        units=_labels(frame, columns.unit) if columns.unit else None,
        sets=_labels(frame, columns.set) if columns.set else None,
        domains=_domains(path, frame, columns.domains),
        baseline=_baseline(path, frame, columns),
        ranges={**_boolean_ranges(frame, columns.features), **columns.ranges},
    )
    doubtful = label_form_warnings(frame, seen.groups, columns.ids)
    return seen, [*_unnamed_unit(frame, columns, seen), *doubtful, *observation_warnings(seen)]


def _boolean_ranges(frame: pd.DataFrame, features: Sequence[str]) -> dict[str, Bounds]:
    """Return the range of the features that are true or false; it needs no declaration."""
    return {name: (0.0, 1.0) for name in features if is_boolean(frame[name])}


def _unnamed_unit(frame: pd.DataFrame, columns: TableColumns, seen: Observations) -> list[str]:
    """Say it where rows look like repeats of prompts that no column was named for."""
    if columns.unit or columns.set or not columns.groups:
        return []
    warning = repeats_warning(
        frame,
        used=columns.all,
        groups=columns.groups,
        feature=columns.features[0],
        values=seen.values[:, 0],
    )
    return [] if warning is None else [warning]


def numbers_in(path: Path | str, frame: pd.DataFrame, name: str) -> Floats:
    """Return a column of numbers, or raise UsageError, which names the row that is none."""
    found = _numbers_of_any_size(path, frame, name)
    beyond = np.isfinite(found) & (np.abs(found) > LARGEST_VALUE)
    if beyond.any():
        row = int(np.flatnonzero(beyond)[0])
        raise UsageError(
            f"{path}, row {row + 1}, column {name}: values beyond {LARGEST_VALUE:g} have squares"
            " that no computer holds. Write the column in larger units."
        )
    return found


def _numbers_of_any_size(path: Path | str, frame: pd.DataFrame, name: str) -> Floats:
    column = as_booleans(frame[name])
    if column.dtype == bool or pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    found = floats_in(column).to_numpy(dtype=np.float64)
    words = column.map(lambda value: str(value).strip().lower())
    wrong = np.isnan(found) & ~column.isna().to_numpy() & ~words.isin(MISSING_WORDS).to_numpy()
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UsageError(
            f"{path}, row {row + 1}, column {name}: {str(column.iloc[row])[:60]!r} is no number."
            " Leave it empty where a value is missing."
        )
    return found


def _labels(frame: pd.DataFrame, name: str) -> list[str | None]:
    return column_labels(as_booleans(frame[name]))


def _baseline(path: Path | str, frame: pd.DataFrame, columns: TableColumns) -> Floats | None:
    if columns.baseline is None:
        return None
    values = numbers_in(path, frame, columns.baseline)
    return np.repeat(values[:, None], len(columns.features), axis=1)


def _domains(
    path: Path | str, frame: pd.DataFrame, names: Sequence[str]
) -> list[str | None] | None:
    found = []
    for name in names:
        labels = _labels(frame, name)
        if None in labels:
            raise UsageError(f"{path}, row {labels.index(None) + 1}: column {name} is empty.")
        found.append(labels)
    return joined_labels(found) if found else None


def joined_labels(columns: Sequence[Sequence[str | None]]) -> list[str | None]:
    """Return one label for the labels of each row; a row without any has none."""
    return [", ".join(filter(None, labels)) or None for labels in zip(*columns, strict=True)]


def observation_warnings(seen: Observations) -> list[str]:
    """Return what somebody who reads the numbers of these rows should know."""
    said = []
    if infinite := int(np.isinf(seen.values).sum()):
        said.append(f"{infinite} infinite values were taken as missing.")
    said += [
        f"No row has a value of {name}: is it the right column?"
        for place, name in enumerate(seen.features)
        if not np.isfinite(seen.values[:, place]).any()
    ]
    for name, labels in seen.groups.items():
        if without := sum(label is None for label in labels):
            said.append(f"{without} rows have no {name} and belong to none of its groups.")
        if len(set(labels) - {None}) < 2:
            said.append(f"{name} has fewer than two groups: there is nothing to compare.")
    return said

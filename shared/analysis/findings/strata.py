"""Responses under the levels of strata: conditions of the question, such as contexts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from biaswatch.shared.analysis.findings.measured_columns import CodedColumn, MeasuredColumns
from biaswatch.shared.contracts.derived_features import at_level


def at_levels(
    measured: Sequence[MeasuredColumns], strata: Sequence[str]
) -> Iterator[tuple[MeasuredColumns, str]]:
    """Yield the responses under each level of each stratum; features are named by the level."""
    for columns in measured:
        for stratum in strata:
            levels = {
                level for of in columns.strata.values for name, level in of if name == stratum
            }
            for level in sorted(levels):
                yield _at_level(columns, stratum, level), level


def _at_level(columns: MeasuredColumns, stratum: str, level: str) -> MeasuredColumns:
    places = [place for place, of in enumerate(columns.strata.values) if (stratum, level) in of]
    rows = np.flatnonzero(np.isin(columns.strata.codes, places))
    names = tuple(at_level(name, level) for name in columns.features)
    part = columns.of_rows(rows, "", np.empty(0))
    return replace(part, features=names, numbers=columns.numbers[:, rows])


def crossed_with(columns: MeasuredColumns, stratum: str) -> MeasuredColumns:
    """Return the responses with the levels of a stratum as one more dimension of groups."""
    both = np.stack([columns.levels.codes, columns.strata.codes]).astype(np.intp)
    pairs, places = np.unique(both, axis=1, return_inverse=True)
    groups, strata = columns.levels.values, columns.strata.values
    levels = [
        (*groups[group], *(item for item in strata[of] if item[0] == stratum))
        for group, of in pairs.T.tolist()
    ]
    return replace(columns, levels=CodedColumn(places.reshape(-1), tuple(levels)))

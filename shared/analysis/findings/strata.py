"""Responses under the levels of strata: conditions of the question, such as contexts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns
from biaswatch.shared.contracts.derived_features import at_level


def at_levels(
    measured: Sequence[MeasuredColumns], strata: Sequence[str]
) -> Iterator[tuple[MeasuredColumns, str]]:
    """Yield the responses under each level of each stratum; features are named by the level."""
    for columns in measured:
        for stratum in strata:
            levels = {of[stratum] for of in columns.strata if stratum in of}
            for level in sorted(levels):
                yield _at_level(columns, stratum, level), level


def _at_level(columns: MeasuredColumns, stratum: str, level: str) -> MeasuredColumns:
    places = [place for place, of in enumerate(columns.strata) if of.get(stratum) == level]
    rows = np.flatnonzero(np.isin(columns.strata_of, places))
    names = tuple(at_level(name, level) for name in columns.features)
    part = columns.of_rows(rows, "", np.empty(0))
    return replace(part, features=names, numbers=columns.numbers[:, rows])


def crossed_with(columns: MeasuredColumns, stratum: str) -> MeasuredColumns:
    """Return the responses with the levels of a stratum as one more dimension of groups."""
    both = np.stack([columns.levels_of, columns.strata_of]).astype(np.intp)
    pairs, places = np.unique(both, axis=1, return_inverse=True)
    levels = []
    for group, of in pairs.T.tolist():
        level = columns.strata[of].get(stratum)
        levels.append({**columns.levels[group], **({} if level is None else {stratum: level})})
    return replace(columns, levels_of=places.reshape(-1), levels=tuple(levels))

"""The answers of a run as columns: cases are folded in one by one, and none is kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from biaswatch.shared.analysis.findings.observations import (
    CodedLabels,
    Labels,
    Observations,
    Whole,
    coded,
    within,
)
from biaswatch.shared.contracts import CONVERSATION
from biaswatch.shared.contracts.likelihood import LIKELIHOOD
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

T = TypeVar("T")
Key = tuple[str, str, str]
"""Target, scaffold and extractor."""
NamedLevels = tuple[tuple[str, str], ...]
"""Names and levels: of groups by dimension, or of strata or random factors."""


def why_undefined(scaffold: str) -> str:
    """Return the reason of a measured answer without a value of a feature."""
    return "no value in a turn" if scaffold == CONVERSATION else "undefined"


@dataclass(frozen=True)
class CodedColumn(Generic[T]):
    """A column of few different values."""

    codes: Whole
    """[rows]: places among the values, in as few bytes as they need."""
    values: tuple[T, ...]

    def at(self, rows: Whole) -> "CodedColumn[T]":
        """Return some rows."""
        return CodedColumn(self.codes[rows], self.values)


@dataclass(frozen=True)
class MeasuredColumns:
    """Measurements of one extractor for one target and scaffold: a row for each response."""

    target: str
    scaffold: str
    extractor: str
    features: tuple[str, ...]
    """Sorted."""
    numbers: Floats
    """[features, rows]: nan for a missing number."""
    units_of: Whole
    """[rows]: the rank of the prompt's name."""
    sets_of: Whole | None
    """[rows]: the rank of the set's name over all targets, -1 for none; None where no response has
    one."""
    levels: CodedColumn[NamedLevels]
    """Combinations of groups."""
    strata: CodedColumn[NamedLevels]
    random: CodedColumn[NamedLevels]
    """Combinations of values of random factors."""
    reasons: CodedColumn[str | None]
    """Why responses have no value of any feature."""
    reservations: CodedColumn[str | None]
    """Reservations about the values of responses."""
    truth: Floats | None = None
    """[rows]: the expected answers that are numbers, nan for others; None where there are none."""

    @property
    def source(self) -> tuple[str, str, str]:
        """Target, scaffold and extractor."""
        return self.target, self.scaffold, self.extractor

    @property
    def rows(self) -> int:
        """How many responses there are."""
        return len(self.levels.codes)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The dimensions that any response has a group in, sorted."""
        return tuple(sorted({name for groups in self.levels.values for name, _ in groups}))

    @property
    def by_stratum(self) -> "MeasuredColumns":
        """The same responses, with strata in the place of groups."""
        return replace(self, levels=self.strata)

    def of_rows(self, rows: Whole, feature: str, values: Floats) -> "MeasuredColumns":
        """Return some responses with one feature, which has these values."""
        return replace(
            self,
            features=(feature,),
            numbers=values[None, :],
            units_of=self.units_of[rows],
            sets_of=None if self.sets_of is None else self.sets_of[rows],
            levels=self.levels.at(rows),
            strata=self.strata.at(rows),
            random=self.random.at(rows),
            reasons=self.reasons.at(rows),
            reservations=self.reservations.at(rows),
            truth=None,
        )

    def column(self, feature: str) -> Floats:
        """Return the numbers of a feature, which need not be there."""
        if feature not in self.features:
            return np.full(self.rows, np.nan)
        return np.asarray(self.numbers[self.features.index(feature)])

    def why_missing(self, row: int) -> str:
        """Return why a response has no value of a feature, or of any feature."""
        return self.reasons.values[int(self.reasons.codes[row])] or why_undefined(self.scaffold)

    def reservations_among(self, rows: Whole) -> dict[str, int]:
        """Count the reservations about the values of these rows, by their kind."""
        codes, counts = np.unique(self.reservations.codes[rows], return_counts=True)
        kinds = (self.reservations.values[code] for code in codes)
        counted = zip(kinds, counts.tolist(), strict=True)
        return {kind: count for kind, count in counted if kind is not None}

    def observations(
        self, features: Iterable[str], ranges: Mapping[str, Bounds | None] | None = None
    ) -> Observations:
        """Return one row for each response; a value outside a declared range is missing."""
        names = tuple(features)
        known = {name: ends for name, ends in (ranges or {}).items() if name in names}
        return Observations(
            features=names,
            values=self._values(names, known),
            groups={name: _labels(self.levels, name) for name in self.dimensions},
            units=CodedLabels(self.units_of, ()),
            sets=None if self.sets_of is None else CodedLabels(self.sets_of, ()),
            random={
                name: _labels(self.random, name)
                for name in sorted({name for values in self.random.values for name, _ in values})
            },
            ranges=known,
            drawn=self.scaffold != LIKELIHOOD,
        )

    def _values(self, names: tuple[str, ...], known: Mapping[str, Bounds | None]) -> Floats:
        """Return [rows, features]: the numbers themselves, where they are as wanted."""
        if names == self.features and not known:
            return self.numbers.T
        columns = [within(self.column(name), known.get(name)) for name in names]
        return np.array(columns, dtype=np.float64).T


def _labels(combinations: CodedColumn[NamedLevels], name: str) -> Labels:
    """Return the level of one name in each row."""
    codes, levels = coded([dict(combination).get(name) for combination in combinations.values])
    return CodedLabels(codes.astype(np.int32)[combinations.codes], levels)

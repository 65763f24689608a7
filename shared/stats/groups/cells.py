"""A table of measurements, and its cells: the values of a group on a feature, many at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.arrays import Bools, Floats, Indices
from biaswatch.shared.stats.samples import FLAT_RTOL

Codes = NDArray[np.int8]
Column = tuple[Floats, Codes]
"""Values of one statistic, one per cell, nan where undefined; and why, in parallel."""


class Reason(IntEnum):
    """Reason of an undefined number; DEFINED where there is a number."""

    DEFINED = 0
    NO_VALUES = 1
    ONE_VALUE = 2
    CONSTANT = 3
    NO_BASELINE = 4
    NO_PAIRS = 5
    ONE_PAIR = 6
    CONSTANT_BASELINE = 7
    NO_STANDARD = 8
    NOT_FINITE = 9
    NO_GROUPS = 10
    ONE_GROUP = 11
    TWO_GROUPS = 12
    EQUAL_GROUPS = 13
    MAXIMUM_ZERO = 14
    NEGATIVE = 15
    NOT_A_RATE = 16
    NO_BASELINE_VALUES = 19
    ONE_UNIT_EACH = 20


SENTENCES: dict[Reason, str] = {
    Reason.NO_VALUES: "no values",
    Reason.ONE_VALUE: "one value has no spread",
    Reason.CONSTANT: "all values are equal",
    Reason.NO_BASELINE: "the table has no baseline",
    Reason.NO_BASELINE_VALUES: "no baseline values",
    Reason.NO_PAIRS: "no row has both a value and a baseline value",
    Reason.ONE_PAIR: "one pair of values has no correlation",
    Reason.CONSTANT_BASELINE: "all baseline values are equal",
    Reason.NO_STANDARD: "the feature has no value in any group, so there is no standard",
    Reason.NOT_FINITE: "the calculation gave no finite number: the values may be too large",
    Reason.NO_GROUPS: "no group has a value",
    Reason.ONE_GROUP: "only one group has a value",
    Reason.TWO_GROUPS: "fewer than three groups have a value",
    Reason.EQUAL_GROUPS: "all groups are equal",
    Reason.MAXIMUM_ZERO: "the largest value is 0: there is nothing to divide by",
    Reason.NEGATIVE: "a ratio of values below 0 has no meaning",
    Reason.NOT_A_RATE: "an impact ratio compares selection rates",
    Reason.ONE_UNIT_EACH: "no group has two units, so that nothing shows how much they vary",
}


def sentence(code: int) -> str | None:
    """Return the sentence fragment of a code, or None where the number is defined."""
    return SENTENCES.get(Reason(code))


def with_reasons(values: Floats, *, first_of: list[tuple[Bools, Reason]]) -> Column:
    """Return the values with nan where a condition holds, and the first reason that does.

    Where no condition holds and the value is still not finite, arithmetic overflowed, and that is
    the reason.
    """
    codes = np.zeros(values.shape, dtype=np.int8)
    for condition, reason in reversed(first_of):
        codes[condition] = reason
    codes[~np.isfinite(values) & (codes == Reason.DEFINED)] = Reason.NOT_FINITE
    return np.where(codes == Reason.DEFINED, values, np.nan), codes


@dataclass(frozen=True)
class Measurements:
    """Measurements of responses; nan and infinities are missing values.

    Raises
    ------
    ValueError
        Where shapes disagree, names repeat, or a code names no group.
    """

    values: Floats
    """[rows, features]"""
    codes: NDArray[np.integer]
    """[rows]: each row's group, an index into `groups`."""
    groups: tuple[str, ...]
    features: tuple[str, ...]
    baseline: Floats | None = None
    """[rows, features]: the baseline's value in the same row."""
    baseline_name: str = "baseline"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        if self.baseline is not None:
            object.__setattr__(self, "baseline", np.asarray(self.baseline, dtype=np.float64))
        if self.values.shape != (len(self.codes), len(self.features)):
            raise ValueError(
                f"the values have shape {self.values.shape}, but there are {len(self.codes)} codes"
                f" and {len(self.features)} features"
            )
        if self.baseline is not None and self.baseline.shape != self.values.shape:
            raise ValueError(
                f"the baseline has shape {self.baseline.shape}, the values {self.values.shape}"
            )
        if not np.issubdtype(self.codes.dtype, np.integer):
            raise ValueError(f"group codes are whole numbers, not {self.codes.dtype}")
        if len(self.codes) and not 0 <= self.codes.min() <= self.codes.max() < len(self.groups):
            raise ValueError(f"a group code is not one of 0 to {len(self.groups) - 1}")
        for what, names in (("group", self.groups), ("feature", self.features)):
            if len(set(names)) < len(names):
                raise ValueError(f"a {what} is named twice")


def check_domains(groups: Sequence[str], domain_of: Indices, domains: Sequence[str]) -> None:
    """Raise ValueError unless every group has one of the domains."""
    if len(domain_of) != len(groups):
        raise ValueError(f"there are {len(groups)} groups, but {len(domain_of)} domains")
    if len(domain_of) and not 0 <= domain_of.min() <= domain_of.max() < len(domains):
        raise ValueError(f"a group's domain is not one of 0 to {len(domains) - 1}")


@dataclass(frozen=True, eq=False)
class Cells:
    """Values of many cells, one cell per row; shared intermediate results are computed once.

    Rows of unequal length are padded with nan, and a missing value is nan too: statistics treat
    both alike.
    """

    values: Floats
    """[cells, places]: finite or nan, in the order of the table's rows."""
    baseline: "Cells | None" = None
    """The baseline's values at the same places."""
    baseline_name: str = "baseline"
    feature: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """[cells]: the index of each cell's feature."""
    columns: "Columns | None" = None
    """Each feature over all groups, for standards."""
    ddof: int = 0
    """Subtracted from the number of values by variance and standard deviation."""

    @cached_property
    def present(self) -> Bools:
        """[cells, places]: where there is a value."""
        return ~np.isnan(self.values)

    @cached_property
    def count(self) -> Indices:
        """[cells]: how many values there are."""
        return np.asarray(np.count_nonzero(self.present, axis=1))

    @cached_property
    def complete(self) -> bool:
        """True where every place has a value, so that no mask is needed."""
        return bool((self.count == self.values.shape[1]).all())

    @cached_property
    def low(self) -> Floats:
        """[cells]: the smallest value, nan without values."""
        return np.asarray(np.fmin.reduce(self.values, axis=1, initial=np.nan))

    @cached_property
    def high(self) -> Floats:
        """[cells]: the largest value, nan without values."""
        return np.asarray(np.fmax.reduce(self.values, axis=1, initial=np.nan))

    @cached_property
    def flat(self) -> Bools:
        """[cells]: a mask of cells with values that differ by rounding alone."""
        largest = np.maximum(np.abs(self.low), np.abs(self.high))
        return np.asarray(self.high - self.low <= FLAT_RTOL * largest)

    @cached_property
    def mean(self) -> Floats:
        """[cells]: the mean, nan where there are no values.

        Clipped to the range of the values: rounding would otherwise move the mean of equal values
        away from them, and give them a spread.
        """
        filled = self.values if self.complete else np.where(self.present, self.values, 0.0)
        mean = filled.sum(axis=1) / np.maximum(self.count, 1)
        return np.asarray(np.clip(mean, self.low, self.high))

    @cached_property
    def centred(self) -> Floats:
        """[cells, places]: value minus mean; 0 where missing, so that sums need no mask."""
        deviations = self.values - self.mean[:, None]
        if not self.complete:
            deviations[~self.present] = 0.0
        return deviations

    @cached_property
    def squares(self) -> Floats:
        """[cells, places]: squared deviations from the mean."""
        return self.centred * self.centred

    @cached_property
    def square_sum(self) -> Floats:
        """[cells]: the sum of squared deviations."""
        return np.asarray(self.squares.sum(axis=1))

    @cached_property
    def ordered(self) -> Floats:
        """[cells, places]: the values ascending, nan last."""
        return np.sort(self.values, axis=1)

    def quantile(self, q: float) -> Floats:
        """Return the q-quantile of each cell, linear between order statistics (numpy's default)."""
        if not self.values.shape[1]:
            return np.full(len(self.values), np.nan)
        place = np.maximum(self.count - 1, 0) * q
        below = place.astype(np.intp)
        above = np.minimum(below + 1, np.maximum(self.count - 1, 0))
        rows = np.arange(len(self.values))
        lower = self.ordered[rows, below]
        return np.asarray(lower + (self.ordered[rows, above] - lower) * (place - below))

    def against(self, baseline_name: str) -> "Cells | None":
        """Return the baseline's cells if the table has a baseline; it must be the one named."""
        if self.baseline is not None and baseline_name != self.baseline_name:
            raise ValueError(
                f"the table's baseline is {self.baseline_name!r}; it has none named"
                f" {baseline_name!r}"
            )
        return self.baseline

    @property
    def pairs(self) -> "tuple[Cells, Cells] | None":
        """Values and baseline values at the places that have both; None without a baseline.

        Not cached, because it may hold these cells themselves: a reference cycle would keep the
        memory of every block until garbage collection.
        """
        if self.baseline is not None and self.complete and self.baseline.complete:
            return self, self.baseline
        return self._masked

    @cached_property
    def _masked(self) -> "tuple[Cells, Cells] | None":
        if self.baseline is None:
            return None
        both = self.present & self.baseline.present
        return (
            Cells(np.where(both, self.values, np.nan)),
            Cells(np.where(both, self.baseline.values, np.nan)),
        )


@dataclass(frozen=True, eq=False)
class Columns:
    """Each feature over all groups: what a selection's standard is taken from."""

    table_values: Floats
    """[rows, features]"""
    _known: dict[object, Floats] = field(default_factory=dict)

    @cached_property
    def cells(self) -> Cells:
        """One cell per feature."""
        return clean(self.table_values.T)

    def standard(self, key: object, measure: Callable[[Cells], Floats]) -> Floats:
        """Return a measure of each whole column, computed once per key."""
        if key not in self._known:
            self._known[key] = measure(self.cells)
        return self._known[key]


def clean(values: Floats) -> Cells:
    """Return cells from values, one cell per row; infinities become nan."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    infinite = np.isinf(values)
    return Cells(np.where(infinite, np.nan, values) if infinite.any() else values)

"""The answers of a run as columns: cases are folded in one by one, and none is kept."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Generic, TypeVar

import numpy as np

from biaswatch.shared.analysis.findings.observations import (
    CodedLabels,
    Labels,
    MeasuredResponse,
    Observations,
    Whole,
    coded,
    within,
)
from biaswatch.shared.contracts import CONVERSATION
from biaswatch.shared.contracts.likelihood import LIKELIHOOD
from biaswatch.shared.contracts.response import LARGEST_VALUE
from biaswatch.shared.parsing.texts import truth_of
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


def folded(responses: Iterable[MeasuredResponse]) -> list[MeasuredColumns]:
    """Return the responses of each target, scaffold and extractor, sorted by these names."""
    units, sets = NumberedNames(), NumberedNames()
    columns: dict[Key, _GrowingColumns] = {}
    for response in responses:
        key = response.target, response.scaffold, response.extractor
        if (growing := columns.get(key)) is None:
            growing = columns[key] = _GrowingColumns(units, sets)
        growing.add(response)
    of_units = units.ranked()[1]  # one by one: names of a million take more than their ranks
    of_sets = sets.ranked()[1]
    return [columns.pop(key).columns(key, of_units, of_sets) for key in sorted(columns)]


class NumberedNames:
    """Names, each with a number: what columns keep until all names are known."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def any_named(self) -> bool:
        """True if any name is not empty."""
        return any(self._numbers)

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def number_of(self, name: str | None) -> int:
        """Return the number of a name, a new one where it is new; -1 for none."""
        return -1 if name is None else self._numbers.setdefault(name, len(self._numbers))

    def ranked(self) -> tuple[tuple[str, ...], Whole]:
        """Return the names sorted, and by number the place of each, the last for none.

        The names are freed: a million names take more memory than their columns.
        """
        names = tuple(sorted(self._numbers))
        ranks = np.full(len(names) + 1, -1, dtype=np.int32)
        for rank, name in enumerate(names):
            ranks[self._numbers[name]] = rank
        self._numbers = {}
        return names, ranks


class _GrowingColumn(Generic[T]):
    def __init__(self) -> None:
        self._codes = array("i")
        self._values: dict[T, int] = {}

    def append(self, value: T) -> None:
        self._codes.append(self._values.setdefault(value, len(self._values)))

    def column(self) -> CodedColumn[T]:
        smallest = np.min_scalar_type(max(len(self._values) - 1, 0))
        return CodedColumn(_whole(self._codes).astype(smallest), tuple(self._values))


class _GrowingColumns:
    def __init__(self, units: NumberedNames, sets: NumberedNames) -> None:
        self._units, self._sets = units, sets
        self._numbers: dict[str, array[float]] = {}
        self._units_of, self._sets_of = array("i"), array("i")
        self._levels = _GrowingColumn[NamedLevels]()
        self._strata = _GrowingColumn[NamedLevels]()
        self._random = _GrowingColumn[NamedLevels]()
        self._reasons = _GrowingColumn[str | None]()
        self._reservations = _GrowingColumn[str | None]()
        self._truth = array("d")
        """Empty until a response has an expected number."""

    def add(self, case: MeasuredResponse) -> None:
        rows = len(self._units_of)
        for name, value in case.values.items():
            if (column := self._numbers.get(name)) is None:
                column = self._numbers[name] = array("d")
            if len(column) < rows:  # responses before this one have no such number
                column.extend([nan] * (rows - len(column)))
            column.append(_of_record(value))
        self._units_of.append(self._units.number_of(case.unit))
        self._sets_of.append(self._sets.number_of(case.set or None))
        self._levels.append(tuple(case.groups.items()))
        self._strata.append(tuple(case.strata.items()))
        self._random.append(tuple(case.random.items()))
        self._reasons.append(case.why_missing)
        self._reservations.append(case.reservation)
        if self._truth or truth_of(case.expected) is not None:
            self._truth.extend([nan] * (rows - len(self._truth)))
            self._truth.append(_of_record(truth_of(case.expected)))

    def columns(self, key: Key, of_units: Whole, of_sets: Whole) -> MeasuredColumns:
        for column in self._numbers.values():
            column.extend([nan] * (len(self._units_of) - len(column)))
        names, rows = tuple(sorted(self._numbers)), len(self._units_of)
        numbers = np.empty((len(names), rows))
        for place, name in enumerate(names):
            numbers[place] = self._numbers.pop(name)
        numbers.flags.writeable = False  # observations are views of them
        sets = of_sets[_whole(self._sets_of)]
        return MeasuredColumns(
            *key,
            features=names,
            numbers=numbers,
            units_of=_dense(of_units[_whole(self._units_of)]),
            sets_of=sets.astype(np.int32) if (sets >= 0).any() else None,
            levels=self._levels.column(),
            strata=self._strata.column(),
            random=self._random.column(),
            reasons=self._reasons.column(),
            reservations=self._reservations.column(),
            truth=np.frombuffer(self._truth) if self._truth else None,
        )


def _of_record(value: float | None) -> float:
    """Return nan for none, and infinity for what is too large to compute with."""
    if value is None:
        return nan
    return value if -LARGEST_VALUE <= value <= LARGEST_VALUE else inf


def _whole(numbers: "array[int]") -> Whole:
    return np.frombuffer(numbers, dtype=np.int32)


def _dense(ranks: Whole) -> Whole:
    """Return ranks without gaps, for names that are never looked up; -1 stays."""
    used = np.unique(ranks)
    used = used[used >= 0]
    if len(used) and used[-1] != len(used) - 1:
        ranks = np.where(ranks >= 0, np.searchsorted(used, ranks), -1)
    return ranks.astype(np.int32)

"""Columns that grow response by response, until a run is closed."""

from array import array
from collections.abc import Iterable
from math import inf, nan
from typing import Generic, TypeVar

import numpy as np

from biaswatch.shared.analysis.findings.measured_columns import (
    CodedColumn,
    Key,
    MeasuredColumns,
    NamedLevels,
)
from biaswatch.shared.analysis.findings.measured_responses import MeasuredResponse
from biaswatch.shared.analysis.findings.observations import Whole
from biaswatch.shared.contracts.response import LARGEST_VALUE
from biaswatch.shared.parsing.texts import truth_of

T = TypeVar("T")


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

"""Anytime evidence about many gaps: a table with a row for each."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, nan
from typing import Protocol, Self

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats, Ints


class GapTable(Protocol):
    """States of evidence about many gaps, a row each; tolerances and bounds are [rows].

    Every state satisfies: what decides with some number of units, decides with more of their kind.
    """

    @property
    def units(self) -> Floats:
        """Return the number of units of each row."""
        ...

    @property
    def estimates(self) -> Floats:
        """Return the gaps; NaN where one is undefined."""
        ...

    def of_rows(self, rows: Ints) -> Self:
        """Return the table of these rows."""
        ...

    def log_es_beyond(self, tolerances: Floats) -> Floats:
        """Return the log e-values against gaps of at most the tolerance."""
        ...

    def within(self, tolerances: Floats, bounds: Floats) -> Bools:
        """Return a mask of rows whose interval lies inside the tolerance."""
        ...

    def first_beyond(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first multiple of each row's units that rejects the tolerance, or infinity."""
        ...

    def first_within(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first that puts the interval inside the tolerance, or infinity."""
        ...

    def intervals(self, alphas: Floats) -> Floats:
        """Return [rows, 2]: the ends of the gaps not rejected at each alpha; NaN is infinite."""
        ...


class GapState(Protocol):
    """A state of evidence about one gap; `times` evaluates a multiple of its units."""

    @property
    def units(self) -> int:
        """Return the number of units."""
        ...

    @property
    def estimate(self) -> float | None:
        """Return the gap; None where it is undefined."""
        ...

    def log_e_beyond(self, tolerance: float, times: float = 1.0) -> float:
        """Return the log e-value against a gap of at most the tolerance."""
        ...

    def within(self, tolerance: float, bound: float, times: float = 1.0) -> bool:
        """Return whether the interval lies inside the tolerance."""
        ...

    def interval(self, alpha: float) -> tuple[float | None, float | None]:
        """Return the gaps that are not rejected at alpha; None is infinite."""
        ...


@dataclass(frozen=True)
class StateTable:
    """A `GapTable` of states that are evaluated one by one."""

    states: Sequence[GapState]

    @property
    def units(self) -> Floats:
        """Return the number of units of each state."""
        return np.array([state.units for state in self.states], dtype=np.float64)

    @property
    def estimates(self) -> Floats:
        """Return the gaps; NaN where one is undefined."""
        return np.array([state.estimate for state in self.states], dtype=np.float64)

    def of_rows(self, rows: Ints) -> "StateTable":
        """Return the table of these states."""
        return StateTable([self.states[row] for row in rows.tolist()])

    def log_es_beyond(self, tolerances: Floats) -> Floats:
        """Return the log e-values against gaps of at most the tolerance."""
        rows = zip(self.states, tolerances.tolist(), strict=True)
        return np.array([state.log_e_beyond(tolerance) for state, tolerance in rows])

    def within(self, tolerances: Floats, bounds: Floats) -> Bools:
        """Return a mask of states whose interval lies inside the tolerance."""
        rows = zip(self.states, tolerances.tolist(), bounds.tolist(), strict=True)
        return np.array([state.within(*limits) for state, *limits in rows], dtype=np.bool_)

    def first_beyond(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first multiple of the units that rejects the tolerance, or infinity."""
        return self._first(
            lambda row, times: (
                self.states[row].log_e_beyond(float(tolerances[row]), times) >= bounds[row]
            ),
            multiples,
        )

    def first_within(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first that puts the interval inside the tolerance, or infinity."""
        return self._first(
            lambda row, times: self.states[row].within(
                float(tolerances[row]), float(bounds[row]), times
            ),
            multiples,
        )

    def intervals(self, alphas: Floats) -> Floats:
        """Return the ends of the gaps not rejected at each alpha; NaN is infinite."""
        rows = zip(self.states, alphas.tolist(), strict=True)
        ends = [
            [nan if end is None else end for end in state.interval(alpha)] for state, alpha in rows
        ]
        return np.array(ends, dtype=np.float64).reshape(-1, 2)

    def _first(self, decides: Callable[[int, float], bool], multiples: Floats) -> Floats:
        first = np.full(len(self.states), inf)
        for row, state in enumerate(self.states):
            if state.units:
                place = bisect_left(multiples, True, key=partial(decides, row))
                first[row] = multiples[place] if place < len(multiples) else inf
        return first

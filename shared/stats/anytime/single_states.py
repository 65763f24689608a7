"""States of evidence of any kind as a table: one after another."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, nan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import Bools, Floats

Ints = NDArray[np.int64]


class GapEvidence(Protocol):
    """A state of evidence about one gap."""

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a gap of at most the tolerance."""
        ...

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance."""
        ...

    @property
    def units(self) -> int:
        """Return the number of units in it."""
        ...

    @property
    def estimate(self) -> float | None:
        """Return the gap."""
        ...

    def beyond_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these units, in order, the tolerance would be rejected."""
        ...

    def within_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which the interval would lie within the tolerance."""
        ...

    def interval(self, alpha: float) -> tuple[float | None, float | None]:
        """Return the gaps that are not rejected at alpha; None is no bound."""
        ...


@dataclass(frozen=True)
class SingleStates:
    """Evidence about many gaps, computed one after another."""

    states: Sequence[GapEvidence]

    @property
    def units(self) -> Floats:
        """Return the number of units in each."""
        return np.array([each.units for each in self.states], dtype=np.float64)

    @property
    def estimates(self) -> Floats:
        """Return the gaps; NaN where one is not defined."""
        return np.array([_or_nan(each.estimate) for each in self.states], dtype=np.float64)

    def of_rows(self, rows: Ints) -> "SingleStates":
        """Return some of the states."""
        return SingleStates([self.states[row] for row in rows.tolist()])

    def log_es_beyond(self, tolerances: Floats) -> Floats:
        """Return the log e-values against gaps of at most the tolerance."""
        pairs = zip(self.states, tolerances.tolist(), strict=True)
        return np.array([each.log_e_beyond(tolerance) for each, tolerance in pairs])

    def within(self, tolerances: Floats, bounds: Floats) -> Bools:
        """Tell whose interval lies within the tolerance."""
        rows = zip(self.states, tolerances.tolist(), bounds.tolist(), strict=True)
        return np.array([each.within(*asked) for each, *asked in rows], dtype=np.bool_)

    def first_beyond(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first of these multiples of the units that would reject the tolerance."""
        return self._first("beyond_at", tolerances, bounds, multiples)

    def first_within(self, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        """Return the first with which the interval would lie within it; infinity where none is."""
        return self._first("within_at", tolerances, bounds, multiples)

    def intervals(self, alphas: Floats) -> Floats:
        """Return the ends of what is not rejected at each alpha; NaN is no bound."""
        pairs = zip(self.states, alphas.tolist(), strict=True)
        ends = [list(map(_or_nan, each.interval(alpha))) for each, alpha in pairs]
        return np.array(ends, dtype=np.float64).reshape(-1, 2)

    def _first(self, name: str, tolerances: Floats, bounds: Floats, multiples: Floats) -> Floats:
        found = []
        for row, each in enumerate(self.states):
            asked = float(tolerances[row]), float(bounds[row])
            decided = partial(_decides, getattr(each, name), asked)
            place = bisect_left(multiples, True, key=decided) if each.units else len(multiples)
            found.append(float(multiples[place]) if place < len(multiples) else inf)
        return np.array(found)


def _decides(
    decided_at: Callable[[Floats, float, float], Bools], asked: tuple[float, float], multiple: float
) -> bool:
    return bool(decided_at(np.array([multiple]), *asked)[0])


def _or_nan(value: float | None) -> float:
    return nan if value is None else value

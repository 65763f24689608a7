"""The computations of a monitor's method, found by its name in the package `methods`.

A new method is a file there with a `METHOD`, its name and facts in
`shared/contracts/comparison.py`, a test and a row in `docs/monitors.md`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from biaswatch.shared.analysis.monitors import methods
from biaswatch.shared.analysis.monitors.count_columns import CountedComparisons
from biaswatch.shared.analysis.monitors.round_answers import (
    ComparedSets,
    Counts,
    RoundAnswers,
    RoundCounts,
    RoundScope,
    SetsOfComparisons,
)
from biaswatch.shared.analysis.monitors.set_bounds import RoundRows
from biaswatch.shared.contracts import Comparison, Method, WatchedFeature
from biaswatch.shared.stats.anytime.gap_tables import GapState, GapTable, StateTable
from biaswatch.shared.stats.anytime.matched_planning import Arrivals
from biaswatch.shared.stats.anytime.planning import PlannedUnits
from biaswatch.shared.stats.anytime.units import MissingAnswers

NOTHING_MISSING = MissingAnswers()


@dataclass(frozen=True)
class PlannedGap:
    """A gap to plan for, and what is assumed of the answers."""

    effect: float
    """In the feature's units, or in log odds."""
    sd: float | None
    """Standard deviation of a set's gap, or within the second group, in the feature's units."""
    sd_first: float | None
    """Within the first group, where groups are compared without twins."""
    level: float | None
    """The second group's mean, or the share of it that is selected."""
    binary: bool
    """Answers are low or high and nothing between."""
    alpha: float
    """The share of alpha that is for gaps."""
    family: int
    """How many comparisons share it."""
    missing: MissingAnswers = NOTHING_MISSING
    """Expected missing answers, and the number of answers of sets."""
    spread: float = 0.0
    """The standard deviation of the log odds of sets, where selections are compared."""
    bank: bool = False
    """The claim is about a bank, where a set counts also if answers are missing."""
    twins: bool = False
    """Most sets have both groups, where twins are not needed."""
    arrivals: Arrivals | None = None
    """How users of traffic come, where they are matched."""


@dataclass(frozen=True)
class SortedRound:
    """A closed round of a suite, sorted for all of its comparisons."""

    answers: RoundAnswers
    rows: RoundRows
    sets: SetsOfComparisons
    scope: RoundScope

    @classmethod
    def of(
        cls, comparisons: Sequence[Comparison], answers: RoundAnswers, scope: RoundScope
    ) -> "SortedRound":
        """Sort the answers of a round."""
        sets = SetsOfComparisons(comparisons, answers)
        return cls(answers, RoundRows(answers.planned), sets, scope)


CountAll = Callable[[Sequence[Comparison], SortedRound], CountedComparisons]


def one_by_one(count: Callable[[Comparison, ComparedSets, RoundScope], RoundCounts]) -> CountAll:
    """Return how to count all comparisons of a round from how to count one."""

    def count_all(comparisons: Sequence[Comparison], closed: SortedRound) -> CountedComparisons:
        counted = [count(one, closed.sets[one.key], closed.scope) for one in comparisons]
        return CountedComparisons.of(comparisons, counted)

    return count_all


@dataclass(frozen=True)
class MonitorMethod:
    """All that depends on how evidence is gathered."""

    count: CountAll
    """Comparisons of a closed round of a suite, in whole numbers that add up."""
    evidence: Callable[[Sequence[Counts]], GapTable]
    """The states of evidence that summed counts are, those of a comparison a row."""
    planned_units: Callable[[WatchedFeature, PlannedGap, np.random.Generator], PlannedUnits]
    """How many units such a gap is likely to need."""


def row_by_row(state: Callable[[Counts], GapState]) -> Callable[[Sequence[Counts]], GapTable]:
    """Return how to read the counts of many comparisons from how to read those of one."""
    return lambda counts: StateTable([state(row) for row in counts])


def method_of(method: Method) -> MonitorMethod:
    """Return what a method computes."""
    method_: MonitorMethod = import_module(f"{methods.__name__}.{method}").METHOD
    return method_


def by_method(comparisons: Sequence[Comparison]) -> Iterable[tuple[Method, list[int]]]:
    """Return the places of the comparisons of each method."""
    places: dict[Method, list[int]] = {}
    for place, comparison in enumerate(comparisons):
        places.setdefault(comparison.watched.method, []).append(place)
    return places.items()


def counted(
    comparisons: Sequence[Comparison], answers: RoundAnswers, scope: RoundScope
) -> tuple[CountedComparisons, SetsOfComparisons]:
    """Return what a closed round of a suite adds to each comparison, and the sets behind it."""
    closed = SortedRound.of(comparisons, answers, scope)
    blocks = [
        (
            np.array(places),
            method_of(method).count([comparisons[place] for place in places], closed).columns,
        )
        for method, places in by_method(comparisons)
    ]
    return CountedComparisons.joined(comparisons, blocks), closed.sets

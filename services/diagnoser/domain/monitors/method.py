"""What a method of a monitor computes, found by its name in the package `methods`.

A new method is a file there with a `METHOD`, its name and facts in
`shared/contracts/comparison.py`, a test and a row in `docs/monitors.md`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

import numpy as np

from services.diagnoser.domain.monitors import methods
from services.diagnoser.domain.monitors.round_answers import (
    ComparedSets,
    Counts,
    RoundCounts,
    RoundScope,
)
from shared.contracts import Comparison, Method, WatchedFeature
from shared.stats.anytime.judging import GapEvidence
from shared.stats.anytime.planning import PlannedUnits


class BoundedEvidence(GapEvidence, Protocol):
    """Evidence about one gap that also has a confidence sequence."""

    def interval(self, alpha: float) -> tuple[float | None, float | None]:
        """Return the gaps that are not rejected at alpha; None is no bound."""
        ...


@dataclass(frozen=True)
class PlannedGap:
    """A gap to plan for, and what is assumed of the answers."""

    effect: float
    """In the feature's units, or in log odds."""
    sd: float | None
    """Of a set's gap, or within the second group, in the feature's units."""
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


@dataclass(frozen=True)
class MonitorMethod:
    """All that depends on how evidence is gathered."""

    count: Callable[[Comparison, ComparedSets, RoundScope], RoundCounts]
    """A closed round of a suite in whole numbers that add up."""
    evidence: Callable[[Counts], BoundedEvidence]
    """The state of evidence that summed counts are."""
    planned_units: Callable[[WatchedFeature, PlannedGap, np.random.Generator], PlannedUnits]
    """How many units such a gap is likely to need."""


def method_of(method: Method) -> MonitorMethod:
    """Return what a method computes."""
    found: MonitorMethod = import_module(f"{methods.__name__}.{method}").METHOD
    return found

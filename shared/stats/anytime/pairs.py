"""Fixed bets on bounded differences of pairs, from a histogram of them."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from shared.stats.anytime.bets import STAKES, Floats, against, log_es_beyond, middles
from shared.stats.anytime.inversion import invert
from shared.stats.anytime.rounding import binned

BINS = 129
"""Odd, so that no difference at all is a bin of its own."""
STEPS_PER_SE = 7.5
"""Of the nulls tried for an interval."""


@dataclass(frozen=True)
class PairHistogram:
    """Differences of pairs in [-1, 1], counted; states of disjoint units add up, in any order."""

    counts: tuple[int, ...]
    """Per bin, from -1 to 1; three bins for pairs of binary outcomes."""
    absent: int = 0
    """Units that belong to the claim and have no difference: each counts as the worst case.

    Every bet loses its whole stake on them, which keeps a claim about a whole bank valid however
    the missing ones were chosen.
    """

    def __post_init__(self) -> None:
        """Refuse counts that no units have."""
        if len(self.counts) < 3 or len(self.counts) % 2 == 0:
            raise ValueError(f"a histogram has an odd number of bins from 3, not {self.bins}")
        if min(*self.counts, self.absent) < 0:
            raise ValueError("a count of pairs is at least 0")

    @classmethod
    def empty(cls, bins: int = BINS) -> "PairHistogram":
        """Return the state before any unit."""
        return cls((0,) * bins)

    @classmethod
    def of(
        cls, gaps: Floats, jitter: Floats, *, bins: int = BINS, absent: int = 0
    ) -> "PairHistogram":
        """Count the differences of one closed round; jitter is one number in [0, 1) per unit."""
        return cls(binned(gaps, -1.0, 1.0, bins, jitter), absent)

    @classmethod
    def of_binary(cls, first: int, neither_or_both: int, second: int) -> "PairHistogram":
        """Count pairs of binary outcomes: only the first, no difference, only the second."""
        return cls((second, neither_or_both, first))

    def __add__(self, other: "PairHistogram") -> "PairHistogram":
        if self.bins != other.bins:
            raise ValueError(f"histograms of {self.bins} and {other.bins} bins do not add up")
        summed = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return PairHistogram(summed, self.absent + other.absent)

    @property
    def bins(self) -> int:
        """Return the number of bins."""
        return len(self.counts)

    @property
    def units(self) -> int:
        """Return the number of units that have a difference."""
        return sum(self.counts)

    @property
    def estimate(self) -> float | None:
        """Return the mean difference; None before any unit."""
        if not self.units:
            return None
        return float(np.dot(self.counts, middles(self.bins)) / self.units)

    def log_e(self, null: float = 0.0, *, stakes: tuple[float, ...] = STAKES) -> float:
        """Return the log e-value against a mean difference of exactly the null.

        The mean over the bets of the product of 1 + bet (gap - null), the bets being the stakes
        in both directions over 1 + |null|.

        References
        ----------
        Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting;
        Chugg et al. (2023), Auditing fairness by betting.
        """
        return float(self._log_es(np.array([null]), stakes)[0])

    def log_e_beyond(self, tolerance: float, *, stakes: tuple[float, ...] = STAKES) -> float:
        """Return the log e-value against a mean difference of at most the tolerance in size.

        The average of two one-sided mixtures, of 1 + bet (gap - tolerance) and of
        1 + bet (-gap - tolerance), bets above 0.
        """
        counts = np.array([self.counts], dtype=np.float64)
        return float(log_es_beyond(counts, tolerance, stakes, absent=np.array([self.absent]))[0])

    def interval(self, alpha: float, *, stakes: tuple[float, ...] = STAKES) -> tuple[float, float]:
        """Return the mean differences not rejected at alpha: valid at every look at once.

        What is not rejected is an interval: with u = 1 / (1 + |null|), every factor is linear in
        u on either side of 0, so that the mixture is convex there.
        """
        if not self.units:
            return -1.0, 1.0
        step = max(self.standard_error, 1 / (self.units + 1)) / STEPS_PER_SE
        centre = float(self.estimate or 0.0)
        return invert(lambda nulls: self._log_es(nulls, stakes), centre, step, (-1.0, 1.0), alpha)

    @property
    def standard_error(self) -> float:
        """Return the standard error of the mean difference: a scale, not an inference."""
        values = middles(self.bins)
        mean = np.dot(self.counts, values) / self.units
        return sqrt(float(np.dot(self.counts, (values - mean) ** 2))) / self.units

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance: both its ends are rejected."""
        if self.estimate is None or abs(self.estimate) >= tolerance:
            return False
        return bool((self._log_es(np.array([-tolerance, tolerance]), STAKES) >= bound).all())

    def scaled(self, factor: float) -> "PairHistogram":
        """Return what so many times these units would show if they were like these."""
        counts = tuple(round(count * factor) for count in self.counts)
        return PairHistogram(counts, round(self.absent * factor))

    def _log_es(self, nulls: Floats, stakes: tuple[float, ...]) -> Floats:
        return against(np.array(self.counts, float), self.absent, nulls, stakes)

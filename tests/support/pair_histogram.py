"""One histogram of differences of pairs, evaluated alone: what tables of many must equal."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from operator import add

import numpy as np

from biaswatch.shared.stats.anytime.bets import STAKES, both_ways, log_mean_exp, middles
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS, binned
from biaswatch.shared.stats.arrays import Floats

BETS = both_ways(STAKES)
Counts = tuple[int, ...]


@dataclass(frozen=True)
class PairHistogram:
    """Differences of pairs in [-1, 1], counted; states of disjoint units add up, in any order.

    A unit with missing answers has a difference between two bounds, from the lowest and highest
    possible values of the missing ones. Bets on a gap above a null take the lower bound, bets on
    one below the upper one. So the evidence is at most that of all answers, whichever are missing.
    """

    counts: Counts
    """Complete units per bin, from -1 to 1; three bins for pairs of binary outcomes."""
    seen: Counts = ()
    """Incomplete units, by the difference of the observed answers: for the estimate alone."""
    lower: Counts = ()
    """Incomplete units, by the lower bound of their difference."""
    upper: Counts = ()
    """The same units, by the upper bound."""

    def __post_init__(self) -> None:
        """Fill counts of incomplete units with zeros; raise ValueError for impossible counts."""
        if len(self.counts) < 3 or len(self.counts) % 2 == 0:
            raise ValueError(f"a histogram has an odd number of bins from 3, not {self.bins}")
        for name in ("seen", "lower", "upper"):
            if not getattr(self, name):
                object.__setattr__(self, name, (0,) * self.bins)
        if min(map(min, self._parts)) < 0:
            raise ValueError("a count of pairs is at least 0")
        if sum(self.lower) != sum(self.upper):
            raise ValueError("an incomplete unit has a lower bound and an upper one")

    @classmethod
    def empty(cls, bins: int = DIFFERENCE_BINS) -> "PairHistogram":
        """Return the state before any unit."""
        return cls((0,) * bins)

    @classmethod
    def of(cls, gaps: Floats, jitter: Floats, *, bins: int = DIFFERENCE_BINS) -> "PairHistogram":
        """Count the differences of one closed round; jitter is one number in [0, 1) per unit."""
        return cls(binned(gaps, -1.0, 1.0, bins, jitter))

    @classmethod
    def of_binary(cls, first: int, neither_or_both: int, second: int) -> "PairHistogram":
        """Count pairs of binary outcomes: only the first, no difference, only the second."""
        return cls((second, neither_or_both, first))

    @classmethod
    def unknown(cls, units: int, bins: int = DIFFERENCE_BINS) -> "PairHistogram":
        """Return units without any answer: every bet loses its whole stake on them."""
        zeros = (0,) * (bins - 1)
        return cls((0, *zeros), (), (units, *zeros), (*zeros, units))

    def bounded(self, lower: Floats, upper: Floats, jitter: Floats) -> "PairHistogram":
        """Return this state with incomplete units between these bounds.

        One number of jitter per unit serves both bounds: each is rounded without bias by itself.
        """
        ends = (binned(bound, -1.0, 1.0, self.bins, jitter) for bound in (lower, upper))
        return self + PairHistogram((0,) * self.bins, (), *ends)

    def __add__(self, other: "PairHistogram") -> "PairHistogram":
        if self.bins != other.bins:
            raise ValueError(f"histograms of {self.bins} and {other.bins} bins do not add up")
        parts = zip(self._parts, other._parts, strict=True)
        return PairHistogram(*(tuple(map(add, *counts)) for counts in parts))

    @property
    def _parts(self) -> tuple[Counts, ...]:
        return self.counts, self.seen, self.lower, self.upper

    @property
    def bins(self) -> int:
        """Return the number of bins."""
        return len(self.counts)

    @property
    def units(self) -> int:
        """Return the number of units, incomplete ones included."""
        return sum(self.counts) + sum(self.lower)

    @property
    def limits(self) -> tuple[float, float] | None:
        """Return the bounds of the mean difference of these units.

        They differ by the missing answers, at any number of further units. None before any unit.
        """
        if not self.units:
            return None
        low, high = (float(ends @ middles(self.bins)) / self.units for ends in self.ends)
        return low, high

    @property
    def estimate(self) -> float | None:
        """Return the mean of the observed differences, clipped to the limits; None without any."""
        known = np.add(self.counts, self.seen)
        limits = self.limits
        if limits is None or not known.any():
            return None
        return float(np.clip(known @ middles(self.bins) / known.sum(), *limits))

    def log_e(self, null: float = 0.0) -> float:
        """Return the log e-value against a mean difference of exactly the null.

        The mean over the bets of the product of 1 + bet (gap - null), the bets being the stakes
        in both directions over 1 + |null|.

        References
        ----------
        Waudby-Smith and Ramdas (2024), Estimating means of bounded random variables by betting;
        Chugg et al. (2023), Auditing fairness by betting.
        """
        return float(self.log_es(np.array([null]))[0])

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a mean difference of at most the tolerance in size.

        The average of two one-sided mixtures, of 1 + bet (gap - tolerance) and of
        1 + bet (-gap - tolerance), bets above 0.
        """
        bets = BETS / (1 + tolerance)
        payoffs = np.outer(middles(self.bins), bets) - np.abs(bets) * tolerance
        return float(self._mixture(np.log1p(payoffs)))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the mean differences not rejected at alpha: valid at every look at once.

        The accepted nulls are an interval: with u = 1 / (1 + |null|), every factor is linear in
        u on either side of 0, so that the mixture is convex there. No bet gains between the
        limits, so a null between them is not rejected.
        """
        low, high = self.table.intervals(np.array([alpha]))[0].tolist()
        return low, high

    @property
    def standard_error(self) -> float:
        """Return the standard error of the mean difference: a scale, not an inference."""
        values, counts = middles(self.bins), sum(self.ends) / 2
        mean = np.dot(counts, values) / self.units
        return sqrt(float(np.dot(counts, (values - mean) ** 2))) / self.units

    @property
    def table(self) -> PairHistograms:
        """Return this histogram as a table of one row."""
        known = np.add(self.counts, self.seen, dtype=np.float64)
        return PairHistograms(*(counts[None] for counts in (*self.ends, known)))

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Return the counts per bin of all units, by their lower and upper bounds."""
        complete = np.array(self.counts, dtype=np.float64)
        return complete + self.lower, complete + self.upper

    def log_es(self, nulls: Floats) -> Floats:
        """Return the log e-values against many mean differences."""
        bets = [BETS / (1 + abs(null)) for null in nulls.tolist()]
        factors = (
            np.log1p(np.outer(middles(self.bins) - null, bet))
            for null, bet in zip(nulls, bets, strict=True)
        )
        return np.array([self._mixture(factor) for factor in factors], dtype=np.float64)

    def _mixture(self, log_factors: Floats) -> Floats:
        """Return the log mean wealth of the bets; [bins, bets] are the factors of one unit."""
        (lower, upper), half = self.ends, len(STAKES)
        wealths = lower @ log_factors[:, :half], upper @ log_factors[:, half:]
        return log_mean_exp(np.concatenate(wealths))

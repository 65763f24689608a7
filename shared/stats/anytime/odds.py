"""A common odds ratio over batches, each given its margins: no drift of base rates harms it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp

import numpy as np

from biaswatch.shared.stats.anytime.bets import Bools, Floats
from biaswatch.shared.stats.anytime.inversion import threshold
from biaswatch.shared.stats.anytime.odds_grid import (
    GRID,
    NULL,
    POINTS,
    STEP,
    UNIT,
    beyond,
    index_of,
    last_accepted,
    mixed,
    normalisers,
    tolerance_used,
)

LARGEST = 1_000_000


@dataclass(frozen=True)
class Batch:
    """Responses that differ in nothing but their group, such as those to one prompt."""

    selected_1: int
    n_1: int
    selected_2: int
    n_2: int

    def __post_init__(self) -> None:
        """Refuse more selected than there are."""
        if not (0 <= self.selected_1 <= self.n_1 and 0 <= self.selected_2 <= self.n_2):
            raise ValueError(f"a batch has from 0 to n selected in each group, not {self}")
        if self.size > LARGEST:
            raise ValueError(f"a batch has at most {LARGEST:,} responses: give each prompt its own")

    @property
    def size(self) -> int:
        """Return the number of responses."""
        return self.n_1 + self.n_2

    @property
    def margins(self) -> tuple[int, int, int]:
        """Return what is taken as given: both sizes and the number selected."""
        return self.n_1, self.n_2, self.selected_1 + self.selected_2

    @property
    def least(self) -> int:
        """Return the fewest of group 1 that the margins allow."""
        return max(0, self.selected_1 + self.selected_2 - self.n_2)

    @property
    def most(self) -> int:
        """Return the most of group 1 that the margins allow."""
        return min(self.n_1, self.selected_1 + self.selected_2)

    @property
    def tells(self) -> bool:
        """Tell whether the margins leave anything open."""
        return self.least < self.most


@dataclass(frozen=True)
class CommonOdds:
    """Batches, summed: each was conditioned on its own margins, so that they add up in any order.

    Within a batch, responses are independent and the group says nothing about the difficulty of
    the prompt. The safest batch is a prompt. Base rates and shares of groups may differ between
    batches in any way.
    """

    selected: int = 0
    """Of group 1, over all batches."""
    normalisers: tuple[int, ...] = (0,) * POINTS
    """Sum of the batches' log normalisers at each odds ratio of the grid, in units of 2^-44."""
    units: int = 0
    """Responses in batches that can tell: with both groups, and neither none nor all selected."""
    silent: int = 0
    """Responses in batches that cannot."""

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> "CommonOdds":
        """Count the batches of one closed round."""
        all_batches = list(batches)
        telling = [batch for batch in all_batches if batch.tells]
        sums = [0] * POINTS
        for margins, times in Counter(batch.margins for batch in telling).items():
            sums = [
                total + times * one for total, one in zip(sums, normalisers(*margins), strict=True)
            ]
        units = sum(batch.size for batch in telling)
        silent = sum(batch.size for batch in all_batches) - units
        return cls(sum(batch.selected_1 for batch in telling), tuple(sums), units, silent)

    def __add__(self, other: "CommonOdds") -> "CommonOdds":
        return CommonOdds(
            self.selected + other.selected,
            tuple(a + b for a, b in zip(self.normalisers, other.normalisers, strict=True)),
            self.units + other.units,
            self.silent + other.silent,
        )

    def log_e(self, null: float = 0.0) -> float:
        """Return the log e-value against a log odds ratio of exactly the null, a point of the grid.

        A mixture over odds ratios of the conditional likelihood ratio to the null.

        References
        ----------
        Fisher (1935) for the distribution; Robbins (1970) for mixtures of likelihood ratios.
        """
        logs = self._log_likelihoods()
        return float(mixed(logs) - logs[index_of(null)])

    def log_e_beyond(self, tolerance: float) -> float:
        """Return the log e-value against a log odds ratio of at most the tolerance in size.

        The tolerance is taken to the next point of the grid outwards (`tolerance_used`). Each side
        is a mixture over odds ratios beyond it; as the likelihood ratio rises with the count, it
        expects at most 1 under every odds ratio within.
        """
        return float(beyond(self._log_likelihoods(), tolerance))

    @property
    def estimate(self) -> float | None:
        """Return the logarithm of the conditional maximum-likelihood odds ratio.

        Between the points of the grid by the parabola through the three highest; None where all
        margins are at one end (infinite or 0), before any data, and beyond the grid.
        """
        place = self.most_likely
        if place is None:
            return None
        before, at, after = self._log_likelihoods()[place - 1 : place + 2]
        return float(GRID[place] + STEP / 2 * (before - after) / (before - 2 * at + after))

    @property
    def most_likely(self) -> int | None:
        """Return the place on the grid with the highest likelihood, unless that is an end."""
        place = int(np.argmax(self._log_likelihoods()))
        return place if 0 < place < POINTS - 1 else None

    def interval(self, alpha: float) -> tuple[float | None, float | None]:
        """Return the log odds ratios not rejected at alpha, rounded outwards; None is no bound."""
        logs = self._log_likelihoods()
        evidence = mixed(logs) - logs
        bound = threshold(alpha)
        high = last_accepted(evidence, bound)
        low = last_accepted(evidence[::-1], bound)
        return None if low is None else -low, high

    def within(self, tolerance: float, bound: float) -> bool:
        """Tell whether the interval lies within the tolerance used: both its ends are rejected."""
        return bool(self.units) and bool(self.within_at(np.ones(1), tolerance, bound)[0])

    def beyond_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these batches the tolerance would be rejected."""
        return beyond(np.multiply.outer(factors, self._log_likelihoods()), tolerance) >= bound

    def within_at(self, factors: Floats, tolerance: float, bound: float) -> Bools:
        """Tell for which multiples of these batches the interval would lie within the tolerance."""
        logs, above = self._log_likelihoods(), index_of(tolerance_used(tolerance))
        below = POINTS - 1 - above
        if not below < int(np.argmax(logs)) < above:
            return np.zeros(len(factors), dtype=np.bool_)
        ends = factors * max(logs[above], logs[below])
        return np.asarray(mixed(np.multiply.outer(factors, logs)) - ends >= bound)

    def _log_likelihoods(self) -> Floats:
        sums = np.array(self.normalisers, dtype=np.float64) * UNIT
        return np.asarray(self.selected * GRID - sums, dtype=np.float64)


def log_es(selected: Floats, normalisers: Floats) -> Floats:
    """Return the log e-values of many states, a row each, against an odds ratio of 1."""
    logs = np.multiply.outer(selected, GRID) - normalisers * UNIT
    return mixed(logs) - logs[:, NULL]


def odds_ratio(log_odds: float | None) -> float | None:
    """Return the odds ratio of a logarithm; None stays None."""
    return None if log_odds is None else exp(log_odds)

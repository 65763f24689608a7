"""Evidence that one selection rate is below four fifths of another: shown, never an alarm."""

from dataclasses import astuple, dataclass
from math import inf

import numpy as np

from shared.stats.anytime.bets import STAKES, log_mean_exp
from shared.stats.anytime.inversion import threshold

FOUR_FIFTHS = 0.8
WIDEST = 1e6
"""A ratio of rates beyond which there is no bound."""
PRECISION = 1e-6


@dataclass(frozen=True)
class SelectionPairs:
    """Pairs of selections, one of each group; states of disjoint units add up, in any order."""

    both: int = 0
    first: int = 0
    second: int = 0
    neither: int = 0

    def __post_init__(self) -> None:
        """Refuse counts that no pairs have."""
        if min(astuple(self)) < 0:
            raise ValueError("a count of pairs is at least 0")

    def __add__(self, other: "SelectionPairs") -> "SelectionPairs":
        both = zip(astuple(self), astuple(other), strict=True)
        return SelectionPairs(*(mine + its for mine, its in both))

    @property
    def exchanged(self) -> "SelectionPairs":
        """Return the pairs with the groups exchanged."""
        return SelectionPairs(self.both, self.second, self.first, self.neither)

    @property
    def units(self) -> int:
        """Return the number of pairs."""
        return self.both + self.first + self.second + self.neither

    @property
    def ratio(self) -> float | None:
        """Return the first group's rate over the second's; None where that is zero."""
        selected = self.both + self.second
        return (self.both + self.first) / selected if selected else None

    def log_e(self, ratio: float = FOUR_FIFTHS) -> float:
        """Return the log e-value against the first group's rate being at least the ratio's share.

        Bets of 1 + stake (ratio y - x), where x and y are 1 for a selection of the first and the
        second group. The point estimate of a ratio falls below .8 at some look in 97 to 99 % of
        streams whose true ratio is .8; this does so in at most alpha of them.

        References
        ----------
        29 CFR 1607.4 D for the rule; Chugg et al. (2023) for the bets.
        """
        if not 0 < ratio < inf:
            raise ValueError(f"a ratio of rates is a finite number above 0, not {ratio:g}")
        payoffs = np.array([ratio - 1, -1.0, ratio, 0.0])
        counts = np.array(astuple(self), dtype=np.float64)
        return float(log_mean_exp(np.log1p(np.outer(STAKES, payoffs)) @ counts))

    def interval(self, alpha: float) -> tuple[float, float | None]:
        """Return the rate ratios not rejected, each side at alpha / 2; None is no upper bound."""
        lower = self.exchanged.upper_bound(alpha / 2)
        return (0.0 if lower is None else 1 / lower), self.upper_bound(alpha / 2)

    def upper_bound(self, alpha: float) -> float | None:
        """Return the lowest ratio that is rejected for being too high; evidence rises with it."""
        bound = threshold(alpha)
        if self.log_e(WIDEST) < bound:
            return None
        low, high = 1 / WIDEST, WIDEST
        while high / low > 1 + PRECISION:
            middle = (low * high) ** 0.5
            low, high = (low, middle) if self.log_e(middle) >= bound else (middle, high)
        return high

"""A common odds ratio over batches, each given its margins: no drift of base rates harms it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import exp, log

import numpy as np
from scipy.special import gammaln

from biaswatch.shared.stats.anytime.inversion import threshold
from biaswatch.shared.stats.anytime.limits import MAX_LOG_ODDS
from biaswatch.shared.stats.arrays import Floats

MAX_BATCH_RESPONSES = 1_000_000
POINTS = 161
GRID = np.linspace(-MAX_LOG_ODDS, MAX_LOG_ODDS, POINTS)
"""Logarithms of odds ratios, .05 apart: from 1/55 to 55."""
WEIGHTS = -(GRID**2) / 2 - log(float(np.exp(-(GRID**2) / 2).sum()))
"""Logarithms of the mixture's weights: standard normal, chosen before any data."""
STEP = float(GRID[1] - GRID[0])
UNIT = 2.0**-44
"""Unit of stored log normalisers: whole numbers of it add up exactly, in any order."""
NULL = POINTS // 2


@dataclass(frozen=True)
class Batch:
    """Responses that differ in nothing but their group, such as those to one prompt."""

    selected_1: int
    n_1: int
    selected_2: int
    n_2: int

    def __post_init__(self) -> None:
        """Raise ValueError for impossible counts, or too many responses."""
        if not (0 <= self.selected_1 <= self.n_1 and 0 <= self.selected_2 <= self.n_2):
            raise ValueError(f"a batch has from 0 to n selected in each group, not {self}")
        if self.size > MAX_BATCH_RESPONSES:
            raise ValueError(
                f"a batch has at most {MAX_BATCH_RESPONSES:,} responses: give each prompt its own"
            )

    @property
    def size(self) -> int:
        """Return the number of responses."""
        return self.n_1 + self.n_2

    @property
    def margins(self) -> tuple[int, int, int]:
        """Return the margins: both sizes and the number selected."""
        return self.n_1, self.n_2, self.selected_1 + self.selected_2

    @property
    def informative(self) -> bool:
        """Return whether the margins leave open how many of group 1 are selected."""
        n_1, n_2, selected = self.margins
        return max(0, selected - n_2) < min(n_1, selected)


@dataclass(frozen=True)
class CommonOdds:
    """Batches, summed: each was conditioned on its own margins, so that they add up in any order.

    Within a batch, responses are independent and the group is unrelated to the difficulty of the
    prompt. The safest batch is a prompt. Base rates and shares of groups may differ between batches
    in any way.
    """

    selected: int = 0
    """Selected responses of group 1, over all batches."""
    normalisers: tuple[int, ...] = (0,) * POINTS
    """Sum of the batches' log normalisers at each odds ratio of the grid, in units of 2^-44."""
    units: int = 0
    """Responses in informative batches: with both groups, and neither none nor all selected."""
    silent: int = 0
    """Responses in other batches."""

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> "CommonOdds":
        """Count the batches of one closed round."""
        all_batches = list(batches)
        informative = [batch for batch in all_batches if batch.informative]
        sums = [0] * POINTS
        for margins, times in Counter(batch.margins for batch in informative).items():
            terms = zip(sums, normalisers(*margins), strict=True)
            sums = [total + times * term for total, term in terms]
        units = sum(batch.size for batch in informative)
        silent = sum(batch.size for batch in all_batches) - units
        return cls(sum(batch.selected_1 for batch in informative), tuple(sums), units, silent)

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

        Examples
        --------
        >>> round(CommonOdds.of([Batch(9, 10, 1, 10)]).log_e(), 2)
        3.15
        """
        logs = self._log_likelihoods()
        return float(mixed(logs) - logs[index_of(null)])

    def log_e_beyond(self, tolerance: float, times: float = 1.0) -> float:
        """Return the log e-value against a log odds ratio of at most the tolerance in size.

        The tolerance is rounded outwards to the next point of the grid (`tolerance_used`). Each
        side is a mixture over odds ratios beyond it; as the likelihood ratio rises with the count,
        it expects at most 1 under every odds ratio within.

        Parameters
        ----------
        tolerance
            Largest log odds ratio that does not matter, in [0, 4).
        times
            Multiple of these batches to evaluate, for forecasts.
        """
        return float(beyond(times * self._log_likelihoods(), tolerance))

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
        """Return the log odds ratios not rejected at alpha, rounded outwards; None is infinite."""
        logs = self._log_likelihoods()
        evidence = mixed(logs) - logs
        bound = threshold(alpha)
        high = _last_accepted(evidence, bound)
        low = _last_accepted(evidence[::-1], bound)
        return None if low is None else -low, high

    def within(self, tolerance: float, bound: float, times: float = 1.0) -> bool:
        """Return whether the interval lies within the tolerance: both its ends are rejected."""
        logs, above = self._log_likelihoods(), index_of(tolerance_used(tolerance))
        below = POINTS - 1 - above
        if not self.units or not below < int(np.argmax(logs)) < above:
            return False
        return bool(mixed(times * logs) - times * max(logs[above], logs[below]) >= bound)

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


def mixed(logs: Floats) -> Floats:
    """Return the logarithm of the mixed likelihood of log likelihoods on the grid, per row."""
    weighted = logs + WEIGHTS
    largest = weighted.max(axis=-1, keepdims=True)
    total = np.exp(weighted - largest).sum(axis=-1)  # several times as fast as logaddexp
    return np.asarray(np.log(total) + largest[..., 0], dtype=np.float64)


def beyond(logs: Floats, tolerance: float) -> Floats:
    """Return the log e-value of log likelihoods on the grid against the tolerance, per row."""
    above = index_of(tolerance_used(tolerance))
    below = POINTS - 1 - above
    up = _part(logs, slice(above + 1, None)) - logs[..., above]
    down = _part(logs, slice(None, below)) - logs[..., below]
    return np.asarray(np.logaddexp(up, down) - log(2), dtype=np.float64)


def _part(logs: Floats, part: slice) -> Floats:
    """Mix the likelihoods of a part of the grid, its weights summing to 1."""
    weights = WEIGHTS[part]
    mixed_part = np.logaddexp.reduce(logs[..., part] + weights, axis=-1)
    return np.asarray(mixed_part - np.logaddexp.reduce(weights), dtype=np.float64)


def tolerance_used(tolerance: float) -> float:
    """Return the tolerance of a log odds ratio, rounded outwards to a point of the grid."""
    if not 0 <= tolerance < MAX_LOG_ODDS:
        raise ValueError(f"a tolerance of a log odds ratio lies in [0, 4), not at {tolerance:g}")
    return float(GRID[int(np.flatnonzero(tolerance - 1e-12 <= GRID)[0])])


def index_of(log_odds: float) -> int:
    """Return the place on the grid of one of its log odds ratios."""
    place = int(np.argmin(np.abs(GRID - log_odds)))
    if abs(GRID[place] - log_odds) > 1e-9:
        raise ValueError(
            f"{log_odds:g} is not one of the log odds ratios kept: take {GRID[place]:g}"
        )
    return place


def _last_accepted(evidence: Floats, bound: float) -> float | None:
    """Return the upper end of the accepted nulls, rounded outwards.

    Between two points of the grid the evidence is convex, so it lies above the lines through its
    two neighbours on either side: it is surely above the bound where one of them is.
    """
    last = int(np.flatnonzero(evidence < bound)[-1])
    if last == POINTS - 1:
        return None
    reach = 1.0
    if last and (rise := evidence[last] - evidence[last - 1]) > 0:
        reach = min(reach, (bound - evidence[last]) / rise)
    if last + 2 < POINTS and (rise := evidence[last + 2] - evidence[last + 1]) > 0:
        reach = min(reach, 1 - (evidence[last + 1] - bound) / rise)
    return float(GRID[last] + STEP * reach)


@lru_cache(maxsize=4096)
def normalisers(n_1: int, n_2: int, total: int) -> tuple[int, ...]:
    """Return the log normaliser of a batch at every odds ratio of the grid, in whole units."""
    counts = np.arange(max(0, total - n_2), min(n_1, total) + 1, dtype=np.float64)
    chances = (
        _log_choose(n_1, counts)
        + _log_choose(n_2, total - counts)
        - _log_choose(n_1 + n_2, np.array([float(total)]))
    )
    # Point by point: a table of all would not fit into memory for a large batch.
    logs = [float(np.logaddexp.reduce(chances + counts * log_odds)) for log_odds in GRID]
    logs[NULL] = 0.0  # the chances sum to 1, exactly
    return tuple(round(value / UNIT) for value in logs)


def _log_choose(n: int, k: Floats) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)

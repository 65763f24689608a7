"""Random answers of two groups under the assumptions of a planned study."""

from dataclasses import dataclass
from functools import lru_cache
from math import hypot, isfinite, sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.samples import Vector

Answers = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]
"""[sets, prompts, repeats]; NaN is a missing answer."""
Scores = np.ndarray[tuple[int, int], np.dtype[np.float64]]
"""[sets, prompts]: standard normal."""
MIN_RATINGS = 3
"""Width of the shortest scale of ratings: shares and signed scores are not rounded."""
MIN_ROUNDED_SD = 0.4
"""Deviation from which rounding to the nearest number leaves every mean as it is."""
_GRID = np.linspace(-6.0, 6.0, 2401)


@dataclass(frozen=True)
class AssumedAnswers:
    """Assumed distribution of the answers of two groups, over prompts and repeats."""

    mean_a: float
    mean_b: float
    sd: float | None
    """Standard deviation of answers to one prompt; None for yes or no, implied by the rate."""
    between_sd: float
    """Standard deviation of the means of a group's prompts, at least 0."""
    set_correlation: float
    """Correlation of the means of twins, in [0, 1]."""
    bounds: Bounds | None = None
    """The range of answers; None for normal ones."""
    missing: float = 0.0
    """The share of answers missing at random, in [0, 1)."""
    name_sd: float = 0.0
    """Standard deviation of the names' own effects, a part of `between_sd`, at least 0."""

    def __post_init__(self) -> None:
        """Raise ValueError for impossible assumptions."""
        if not 0 <= self.set_correlation <= 1:
            raise ValueError(f"a correlation of twins lies in [0, 1], not {self.set_correlation:g}")
        if not 0 <= self.missing < 1:
            raise ValueError(f"the share of missing answers is below 1, not {self.missing:g}")
        for sd in (self.sd or 0.0, self.between_sd, self.name_sd):
            if not (isfinite(sd) and sd >= 0):
                raise ValueError(f"a deviation is a number of at least 0, not {sd:g}")
        if self.bounds is None and self.sd is None:
            raise ValueError("answers that are yes or no have the range from 0 to 1")
        for mean in (self.mean_a, self.mean_b):
            _check(mean, self)

    def drawn(self, mean: float, scores: Scores, repeats: int, rng: np.random.Generator) -> Answers:
        """Draw answers to prompts with these normal scores among their group's prompts.

        Within a range, the means of prompts and the answers to each have beta distributions with
        the assumed mean and deviations, so that the gap is exactly the assumed one. Ratings are
        rounded to whole numbers, as models write them: the deviations are those before rounding.
        Where these are small, a rating is rounded up or down at random, which keeps its mean.
        """
        shape = (*scores.shape, repeats)
        if self.bounds is None:
            prompt_means = (mean + self.between_sd * scores)[:, :, None]
            values = prompt_means + (self.sd or 0.0) * rng.standard_normal(shape)
        else:
            low, high = self.bounds
            values = low + (high - low) * self._shares(mean, scores, shape, rng)
            values = self._rounded(values, rng) if self.is_rated else values
        return np.where(rng.random(shape) < self.missing, np.nan, values)

    @property
    def name_share(self) -> float:
        """The names' share of the variance in which the prompts of a set differ."""
        own = self.between_sd**2 * (1 - self.set_correlation)
        return min(1.0, self.name_sd**2 / own) if own else 0.0

    @property
    def is_rated(self) -> bool:
        """True for answers between whole numbers that lie three or more apart, and that vary."""
        if self.sd == 0:  # expected values, which are not rounded
            return False
        low, high = map(float, self.bounds or (0.0, 1.0))
        return low.is_integer() and high.is_integer() and high - low >= MIN_RATINGS

    def _rounded(self, values: Answers, rng: np.random.Generator) -> Answers:
        if hypot(self.sd or 0.0, self.between_sd) >= MIN_ROUNDED_SD:
            return np.rint(values)
        return np.floor(values + rng.random(values.shape))

    def _shares(
        self, mean: float, scores: Scores, shape: tuple[int, int, int], rng: np.random.Generator
    ) -> Answers:
        """Return answers as shares of the range."""
        share, between = _as_shares(mean, self)
        most = share * (1 - share)
        rates = np.full(scores.shape, share)
        if between:
            rates = np.interp(scores, _GRID, _beta_quantiles(share, most / between**2 - 1))
        rates = np.broadcast_to(np.clip(rates, 1e-9, 1 - 1e-9)[:, :, None], shape)
        if self.sd is None:
            return (rng.random(shape) < rates).astype(np.float64)
        if self.sd == 0:
            return np.array(rates)
        low, high = self.bounds or (0.0, 1.0)
        within = (most - between**2) / (self.sd / (high - low)) ** 2 - 1
        return rng.beta(rates * within, (1 - rates) * within)


@lru_cache(maxsize=8)
def _beta_quantiles(share: float, size: float) -> Vector:
    """Return the quantiles of a beta distribution at the scores of the grid."""
    return np.asarray(special.betaincinv(share * size, (1 - share) * size, special.ndtr(_GRID)))


def _as_shares(mean: float, of: AssumedAnswers) -> tuple[float, float]:
    low, high = of.bounds or (0.0, 1.0)
    return (mean - low) / (high - low), of.between_sd / (high - low)


def _check(mean: float, of: AssumedAnswers) -> None:
    if of.bounds is None:
        return
    low, high = of.bounds
    if not low < mean < high:
        raise ValueError(f"a group's mean lies between {low:g} and {high:g}, not at {mean:g}")
    share, between = _as_shares(mean, of)
    most = (high - low) * sqrt(share * (1 - share))
    total = sqrt(of.between_sd**2 + (of.sd or 0.0) ** 2)
    if total >= most or between >= sqrt(share * (1 - share)):
        raise ValueError(
            f"answers from {low:g} to {high:g} with a mean of {mean:g} deviate by less than"
            f" {most:.3g} in all, not by {total:.3g}; assume smaller deviations"
        )

"""One number of a published benchmark, with an interval over independent units.

The papers give no intervals. Here a score has that of the mean of its independent units: a pair, a
sentence, a target term, a question, a person or a prompt, with all answers to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.mean_interval import (
    independent_units,
    mean_interval,
    rate_interval,
)
from biaswatch.shared.stats.estimate import IntervalEstimate

NOTHING = "nothing was answered"
ALPHA = 0.05
"""1 minus the coverage of every interval."""


@dataclass(frozen=True)
class PublishedScore:
    """One number of a benchmark."""

    name: str
    value: float | None
    n: int
    """Of what it is a share or a mean."""
    low: float | None = None
    high: float | None = None
    """The limits of its 95 % interval, over independent units."""
    reason: str | None = None
    """Why there is no number, or no interval."""


Unit = str
"""What is independent of the others: the answers to one of them belong together."""


def share_score(
    name: str, found: Sequence[tuple[Unit, bool]], alpha: float = ALPHA
) -> PublishedScore:
    """Return how many of some answers it is true of, in percent, with an interval over units."""
    return mean_score(name, [(unit, float(hit)) for unit, hit in found], (0.0, 1.0), 100, alpha)


def mean_score(
    name: str,
    found: Sequence[tuple[Unit, float]],
    bounds: Bounds | None,
    times: float = 1.0,
    alpha: float = ALPHA,
) -> PublishedScore:
    """Return the mean of values, times a factor, with the interval of a mean of units.

    Parameters
    ----------
    found
        Of each value its unit; values in `bounds`, where these are known.
    """
    if not found:
        return PublishedScore(name, None, 0, reason=NOTHING)
    codes = {unit: code for code, unit in enumerate(dict(found))}
    families = np.array([codes[unit] for unit, _ in found])
    values = np.array([value for _, value in found], dtype=np.float64)
    units = independent_units(values, families)
    shares = bounds == (0.0, 1.0)
    interval = rate_interval(units, alpha) if shares else mean_interval(units, bounds, alpha)
    return scaled(name, float(values.mean()), interval, len(found), times)


def scaled(
    name: str, value: float, interval: IntervalEstimate, n: int, times: float
) -> PublishedScore:
    """Return a value and its interval, times a factor, as a score of `n` answers."""
    low, high = (
        None if limit is None else times * limit for limit in (interval.low, interval.high)
    )
    return PublishedScore(name, times * value, n, low, high, interval.reason)

"""Units that a monitor is likely to need for an effect, before it starts: by simulation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.special import expit, logit, ndtri

from biaswatch.shared.stats.anytime.bets import STAKES, both_ways, log_mean_exp
from biaswatch.shared.stats.anytime.inversion import threshold
from biaswatch.shared.stats.anytime.odds import GRID, UNIT, beyond, normalisers
from biaswatch.shared.stats.anytime.units import ONE_AND_ONE, MissingAnswers, SetShape
from biaswatch.shared.stats.arrays import Floats

RUNS = 400
LOOKS = 400
MAX_SIZE_RATIO = 4096
"""Largest plan, in multiples of the fixed size."""
MIN_GAP = 1e-9
MAX_SDS_PER_GAP = 1e6
"""Standard deviations per gap above which a number of units is meaningless."""
ROUNDING_TOL = 1e-9


@dataclass(frozen=True)
class PlannedUnits:
    """Units until a monitor has alarmed, under the assumed effect."""

    units: int | None
    """Units until the requested share of runs has alarmed; None beyond the largest plan."""
    median: int | None
    fixed: int
    """Units of the test that looks once and knows the effect: the price of looking is the ratio."""
    looked: int
    """Units of the last look at runs that had not alarmed."""
    why: str | None = None
    """Why any number of units is too small, where that is known without simulation."""

    def of_every(self, counted: float) -> "PlannedUnits":
        """Return the plan in units, only this share of them counting."""
        units, median = (
            None if count is None else ceil(count / counted) for count in (self.units, self.median)
        )
        return PlannedUnits(units, median, self.fixed, ceil(self.looked / counted), self.why)


def fixed_size(effect: float, sd: float, *, alpha: float, power: float, tolerance: float) -> int:
    """Return the pairs that a two-sided test with one look and a known effect needs.

    ((z of 1 - alpha/2) + (z of power))^2 sd^2 / (|effect| - tolerance)^2.
    """
    if not abs(effect) > tolerance:
        raise ValueError("an effect within the tolerance is none that an alarm waits for")
    quantiles = float(ndtri(power) - ndtri(alpha / 2))
    return max(1, ceil((quantiles * sd / (abs(effect) - tolerance)) ** 2))


def check_size(effect: float, sd: float, tolerance: float = 0.0) -> None:
    """Raise ValueError for a gap too small for a number of units.

    The effect hardly exceeds the tolerance.
    """
    gap = abs(effect) - tolerance
    if 0 < gap < max(MIN_GAP, sd / MAX_SDS_PER_GAP):
        raise ValueError(
            "the gap to be found is so small that no number of units can be given;"
            " plan for a larger one"
        )


def plan_gap(
    effect: float,
    sd: float,
    rng: np.random.Generator,
    *,
    alpha: float,
    tolerance: float = 0.0,
    family: int = 1,
    power: float = 0.8,
    binary: bool = False,
    missing: MissingAnswers | None = None,
) -> PlannedUnits:
    """Plan for a mean difference of bounded pairs, monitored by fixed bets.

    Parameters
    ----------
    effect
        The mean of the differences, in [-1, 1].
    sd
        Their standard deviation. Two binary outcomes have sqrt(p1 (1 - p1) + p2 (1 - p2)), less
        where pairs agree.
    binary
        Every difference is -1, 0 or 1.
    missing
        Missing answers of a bank, where each set counts by its bounds. Both groups are assumed to
        miss the same share of answers, at random; for the bounds only the gap of the two groups'
        means matters.
    """
    check_size(effect, sd, tolerance)
    fixed = fixed_size(effect, sd, alpha=alpha / family, power=power, tolerance=tolerance)
    values, shares = _like(effect, sd, binary=binary)
    missing = missing or MissingAnswers()
    if why := _undecidable(effect, tolerance, missing.share):
        return PlannedUnits(None, None, fixed, 0, why)
    parts = missing.open_parts()
    opened = np.array(list(parts))
    lower, upper = (
        (values[:, None] + sign * np.multiply.outer((1 - sign * values) / 2, opened)).ravel()
        for sign in (-1, 1)
    )
    bets = both_ways(STAKES) / (1 + tolerance)
    ends = np.where(bets > 0, lower[:, None], upper[:, None])
    factors = np.log1p(ends * bets - np.abs(bets) * tolerance)

    def evidence(counts: Floats) -> Floats:
        return log_mean_exp(counts @ factors)

    # However little values vary, a unit brings no more than about its gap.
    scale = max(fixed, ceil(1 / (abs(effect) - tolerance)))
    bound, sizes = threshold(alpha, family=family), (fixed, MAX_SIZE_RATIO * scale)
    all_shares = np.outer(shares, list(parts.values())).ravel()
    return plan_histograms(all_shares, evidence, sizes, rng, bound, power)


def _undecidable(effect: float, tolerance: float, missing: float) -> str | None:
    """Return why any number of units is too small: the bounds of the gap reach the tolerance."""
    most = (abs(effect) - tolerance) / (1 + abs(effect))
    if missing < most:
        return None
    return (
        f"with a share of {missing:g} of the answers missing, such a gap may as well be one within"
        f" the tolerance, and no number of units decides; below a share of {most:.2g} it can be"
        " found"
    )


def plan_histograms(
    shares: Floats,
    evidence: Callable[[Floats], Floats],
    sizes: tuple[int, int],
    rng: np.random.Generator,
    bound: float,
    power: float,
) -> PlannedUnits:
    """Simulate runs, with growing steps between looks, until enough of them have alarmed.

    Parameters
    ----------
    shares, evidence
        Probabilities of the kinds of units, and the log evidence of [runs, kinds] counts.
    sizes
        Units of the test with one look, and the largest number of units.
    bound, power
        The log evidence of an alarm, and the share of runs that have to alarm.
    """
    fixed, furthest = sizes
    pace = max(1, fixed // LOOKS)
    counts, alarmed = np.zeros((RUNS, len(shares))), np.full(RUNS, np.inf)
    units = 0
    while np.isfinite(alarmed).mean() < power and units < furthest:
        pace = max(pace, units // LOOKS)
        units += pace
        counts += _drawn(pace, shares, rng)
        over = (evidence(counts) >= bound) & np.isinf(alarmed)
        alarmed[over] = units
    needed, median = (reached(alarmed, share) for share in (power, 0.5))
    return PlannedUnits(needed, median, fixed, units)


def _drawn(units: int, shares: Floats, rng: np.random.Generator) -> Floats:
    """Draw units of every run, in the cheaper way: one by one, or all of a kind at once."""
    if units >= (kinds := len(shares)):
        return rng.multinomial(units, shares, RUNS).astype(np.float64)
    drawn = rng.choice(kinds, (RUNS, units), p=shares) + np.arange(RUNS)[:, None] * kinds
    return np.bincount(drawn.ravel(), minlength=RUNS * kinds).reshape(RUNS, kinds).astype(float)


def reached(alarmed: Floats, share: float) -> int | None:
    """Return the units at which this share of runs has alarmed; None if it never has."""
    units = np.sort(alarmed)[ceil(share * len(alarmed)) - 1]
    return int(units) if np.isfinite(units) else None


def _like(effect: float, sd: float, *, binary: bool) -> tuple[Floats, Floats]:
    """Return values in [-1, 1] and their shares, with this mean and standard deviation."""
    if not sd >= 0 or not -1 <= effect <= 1:
        raise ValueError("an effect lies in [-1, 1], and its standard deviation is at least 0")
    if not binary and abs(effect) + sd <= 1:
        return np.array([effect - sd, effect + sd]), np.array([0.5, 0.5])
    differing = sd**2 + effect**2
    if differing > 1 + ROUNDING_TOL:
        raise ValueError(f"differences in [-1, 1] have no mean {effect:g} and deviation {sd:g}")
    both = np.array([differing - effect, differing + effect]) / 2
    if binary and both.min() < -ROUNDING_TOL:
        raise ValueError(f"differences of -1, 0 and 1 have no deviation as small as {sd:g}")
    below, above = np.clip(both, 0.0, 1.0)
    return np.array([-1.0, 0.0, 1.0]), np.array([below, max(0.0, 1 - below - above), above])


NODES = 61
"""Nodes of the distribution of difficulties, up to 8 deviations."""
MAX_LOGIT = 40.0
MAX_CELLS = 2500
"""Outcomes of a set in a plan: sets of up to 49 answers a side."""


@dataclass(frozen=True)
class _Outcomes:
    """Possible outcomes of one set, one entry each."""

    shares: Floats
    selected: Floats
    """Selected answers of the first side."""
    normalisers: Floats
    """Log normalisers at every odds ratio of the grid, given the outcome's margins."""
    gaps: Floats
    """Differences of the selected shares."""


def plan_odds(
    log_odds: float,
    level: float,
    rng: np.random.Generator,
    *,
    alpha: float,
    tolerance: float = 0.0,
    family: int = 1,
    power: float = 0.8,
    spread: float = 0.0,
    shapes: Sequence[SetShape] = ONE_AND_ONE,
) -> PlannedUnits:
    """Plan for two groups with different selection rates, monitored by a common odds ratio.

    Parameters
    ----------
    log_odds
        Within every set: the log odds of the first group being selected less those of the second.
    level
        The share of the second group that is selected, over all sets; in (0, 1).
    spread
        The standard deviation of the sets' log odds. The more sets differ in difficulty, the more
        of them select all or no answers, and carry no information.
    shapes
        Numbers of answers of each group in a set.

    Raises
    ------
    ValueError
        The level or spread is impossible, sets are too large, or the gap is too small.
    """
    if not 0 < level < 1 or not 0 <= spread < MAX_LOGIT:
        raise ValueError("a level lies between 0 and 1, and a deviation of log odds below 40")
    outcomes = _outcomes(log_odds, level, spread, shapes)
    mean = float(outcomes.shares @ outcomes.gaps)
    sd = sqrt(float(outcomes.shares @ (outcomes.gaps - mean) ** 2))
    check_size(mean, sd)
    fixed = fixed_size(mean, sd, alpha=alpha / family, power=power, tolerance=0.0)

    def evidence(counts: Floats) -> Floats:
        selected = (counts @ outcomes.selected)[:, None]
        return beyond(selected * GRID - counts @ outcomes.normalisers, tolerance)

    bound = threshold(alpha, family=family)
    sizes = (fixed, MAX_SIZE_RATIO * fixed)
    return plan_histograms(outcomes.shares, evidence, sizes, rng, bound, power)


def _outcomes(
    log_odds: float, level: float, spread: float, shapes: Sequence[SetShape]
) -> _Outcomes:
    from scipy.optimize import brentq  # slow to load

    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    centre = float(logit(level))
    if spread:
        ends = (-MAX_LOGIT - 8 * spread, MAX_LOGIT + 8 * spread)
        centre = brentq(lambda at: float(weights @ expit(at + spread * nodes)) - level, *ends)
    odds = centre + spread * nodes
    parts = [_of_shape(shape, expit(odds + log_odds), expit(odds), weights) for shape in shapes]
    shares, selected, sums, gaps = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _Outcomes(shares / shares.sum(), selected, sums, gaps)


def _of_shape(
    shape: SetShape, first: Floats, second: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    from scipy.stats import binom  # slow to load

    n_1, n_2 = shape.first, shape.second
    if (n_1 + 1) * (n_2 + 1) > MAX_CELLS:
        raise ValueError(
            f"sets of {n_1} and {n_2} answers are too large to plan for; up to 49 a side are not"
        )
    a, b = np.arange(n_1 + 1), np.arange(n_2 + 1)
    of_first, of_second = binom.pmf(a[:, None], n_1, first), binom.pmf(b[:, None], n_2, second)
    shares = np.einsum("aw,bw,w->ab", of_first, of_second, weights)
    table = np.array([normalisers(n_1, n_2, total) for total in range(n_1 + n_2 + 1)]) * UNIT
    totals = np.add.outer(a, b).ravel()
    selected = np.repeat(a, n_2 + 1).astype(np.float64)
    gaps = np.subtract.outer(a / n_1, b / n_2).ravel()
    return shape.share * shares.ravel(), selected, table[totals], gaps

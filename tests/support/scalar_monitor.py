"""The numbers of one quiet comparison computed one by one: what many at once must equal.

A small independent copy of the formulas, with loops and without tables: it knows no alarms.
"""

from dataclasses import dataclass, field
from math import ceil, log, sqrt

import numpy as np

from biaswatch.shared.stats.anytime.bets import STAKES, both_ways, middles
from biaswatch.shared.stats.anytime.judging import (
    alpha_of_gap_test,
    alpha_of_search,
    share_of_attempt,
)
from biaswatch.shared.stats.arrays import Floats
from tests.support.pair_histogram import PairHistogram

BETS = both_ways(STAKES)
MILLION, MAX_REFERENCES = 1e6, 3


def mixed(logs: Floats) -> float:
    """Return the logarithm of the mean of exponentials."""
    return float(np.log(np.mean(np.exp(logs - logs.max()))) + logs.max())


def wealths(pairs: PairHistogram, bets: Floats, value: float, allowed: float) -> Floats:
    """Return what each bet earns on the difference from a value, less what is allowed."""
    payoffs = np.outer(middles(pairs.bins) - value, bets) - np.abs(bets) * allowed
    logs, (lower, upper) = np.log1p(payoffs), pairs.ends
    return np.array(
        [(lower if b > 0 else upper) @ row for b, row in zip(bets, logs.T, strict=True)]
    )


def beyond(pairs: PairHistogram, tolerance: float, times: float = 1.0) -> float:
    """Return the evidence of a gap beyond the tolerance."""
    return mixed(times * wealths(pairs, BETS / (1 + tolerance), 0.0, tolerance))


def within(pairs: PairHistogram, tolerance: float, bound: float, times: float = 1.0) -> bool:
    """Tell whether both ends of the tolerance are rejected."""
    if pairs.limits is None or max(map(abs, pairs.limits)) >= tolerance:
        return False
    ends = (wealths(pairs, BETS / (1 + tolerance), end, 0.0) for end in (-tolerance, tolerance))
    return all(mixed(times * end) >= bound for end in ends)


def more_units(pairs: PairHistogram, tolerance: float, bound: float) -> int | None:
    """Return how many more units a decision needs, looking at one multiple after another."""
    for octave in np.exp2(np.arange(1.0, 17.0)):
        for part in np.exp2(np.linspace(-1, 0, 71)[1:]):
            times = float(octave * part)
            if beyond(pairs, tolerance, times) >= bound or within(pairs, tolerance, bound, times):
                return ceil(pairs.units * (times - 1))
    return None


@dataclass
class Late:
    """Bets that may begin with any round."""

    wealth: Floats = field(default_factory=lambda: np.full(len(BETS), -np.inf))

    def add(self, factors: Floats, weight: float) -> None:
        """Add a round, with which bets begin where it has a weight."""
        begun = np.logaddexp(self.wealth, log(weight)) if weight else self.wealth
        self.wealth = np.floor((begun + factors) * MILLION) / MILLION


@dataclass
class ScalarReference:
    """What later rounds are compared with."""

    value: float
    allowed: float
    rounds: int
    late: Late = field(default_factory=Late)


@dataclass
class ScalarSearch:
    """A search for a change of gap or of level."""

    alpha: float
    tolerance: float
    first: int
    references: list[ScalarReference] = field(default_factory=list)
    total: PairHistogram = field(default_factory=PairHistogram.empty)
    rounds: int = 0
    steps: int = 0

    def add(self, pairs: PairHistogram) -> None:
        """Add a round."""
        self.rounds, self.total = self.rounds + 1, self.total + pairs
        self.steps += bool(self.references)
        for reference in self.references:
            factors = wealths(
                pairs,
                BETS / (1 + abs(reference.value) + reference.allowed),
                reference.value,
                reference.allowed,
            )
            newest = reference is self.references[-1]
            reference.late.add(factors, share_of_attempt(self.steps) if newest else 0.0)
        if self.rounds >= (2 * self.references[-1].rounds if self.references else self.first):
            self._make()

    def _make(self) -> None:
        value = self.total.estimate
        if value is None:
            return
        low, high = self.total.interval(self.alpha)
        allowed = max(value - low, high - value) + self.tolerance
        if allowed < 1:
            made = ScalarReference(value, allowed, self.rounds)
            self.references = [*self.references, made][-MAX_REFERENCES:]

    @property
    def log_evidence(self) -> float | None:
        """Return the evidence of a change."""
        result = [mixed(e.late.wealth) for e in self.references if np.isfinite(e.late.wealth[0])]
        return float(np.logaddexp.reduce(result)) if result else None

    @property
    def smallest(self) -> float | None:
        """Return the smallest change that would be found by now."""
        sd = self.total.standard_error * sqrt(self.total.units) if self.total.units else 0.0
        result = []
        for reference in self.references:
            since = self.rounds - reference.rounds
            units = self.total.units / self.rounds * since
            if not units:
                continue
            bound = log(2 * len(STAKES) / share_of_attempt(self.steps - since + 1) / self.alpha)
            for stake in STAKES:
                bet = stake / (1 + abs(reference.value) + reference.allowed)
                rest = 1 - bet**2 * sd**2 - 2 * bound / units
                result += [reference.allowed + (1 - sqrt(rest)) / bet] if rest >= 0 else []
        return min((item for item in result if item < 2), default=None)


@dataclass
class ScalarMonitor:
    """A comparison that never alarms."""

    tolerance: float
    change_tolerance: float
    first: int
    alpha: float
    family: int
    gap: PairHistogram = field(default_factory=PairHistogram.empty)
    late: Late = field(default_factory=Late)
    rounds: int = 0

    def __post_init__(self) -> None:
        """Begin both searches."""
        alpha = alpha_of_search(self.alpha, self.family, 1)
        self.change = ScalarSearch(alpha, self.change_tolerance, self.first)
        self.level_change = ScalarSearch(alpha, 2 * self.change_tolerance, self.first)

    def add(self, gaps: PairHistogram, levels: PairHistogram) -> None:
        """Add a round."""
        self.gap += gaps
        if self.rounds:
            factors = wealths(gaps, BETS / (1 + self.tolerance), 0.0, self.tolerance)
            self.late.add(factors, share_of_attempt(self.rounds))
        self.rounds += 1
        self.change.add(gaps)
        self.level_change.add(levels)

    @property
    def gap_alpha(self) -> float:
        """Return the share of the first test of this member of the family."""
        return alpha_of_gap_test(self.alpha, 1) / self.family

    @property
    def log_e(self) -> float:
        """Return the evidence of the test: four fifths of it is of all rounds."""
        whole = beyond(self.gap, self.tolerance)
        if self.rounds < 2:
            return whole
        return float(np.logaddexp(whole + log(0.8), mixed(self.late.wealth) + log(1 - 0.8)))

    @property
    def forecast(self) -> int | None:
        """Return how many more units a decision needs."""
        share = 1.0 if self.rounds < 2 else 0.8
        return more_units(self.gap, self.tolerance, -log(self.gap_alpha) - log(share))


def interval_by_scanning(pairs: PairHistogram, alpha: float) -> tuple[float, float]:
    """Return the first nulls of three grids, one within the other, that are rejected."""
    bound, (least, most) = log(1 / alpha), pairs.limits or (0.0, 0.0)
    step = max(pairs.standard_error, 1 / (pairs.units + 1)) / 7.5
    ends = []
    for sign in (-1.0, 1.0):
        before, width, start, null = (least + most) / 2, sign * step, (least + most) / 2, 0.0
        grids = 0
        while grids < 3:
            for place in range(1, 49):
                null = float(np.clip(start + width * place, -1, 1))
                if lowered(pairs, null) >= bound:
                    break
                before = null
            if lowered(pairs, null) >= bound:
                start, width, grids = before, (null - before) / 48, grids + 1
            elif abs(null) == 1:
                break
            else:
                width *= 48
        ends.append(null)
    return ends[0], ends[1]


def lowered(pairs: PairHistogram, null: float) -> float:
    """Return the exact evidence, less what reading it from a table may give away."""
    return mixed(wealths(pairs, BETS / (1 + abs(null)), null, 0.0)) - 1e-8 * pairs.units

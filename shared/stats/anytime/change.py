"""Change of a gap: the Shiryaev-Roberts detector, as maps that compose in the order of time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.anytime.bets import (
    STAKES,
    Floats,
    both_ways,
    log_mean_exp,
    log_wealths,
    middles,
)
from biaswatch.shared.stats.anytime.pairs import PairHistogram


@dataclass(frozen=True)
class Baseline:
    """What is no change: a gap within the tolerance of the baseline, both fixed beforehand."""

    gap: float = 0.0
    tolerance: float = 0.0
    stakes: tuple[float, ...] = STAKES

    def __post_init__(self) -> None:
        """Refuse what bets could be ruined by."""
        if not (-1 <= self.gap <= 1 and 0 <= self.tolerance < 1):
            raise ValueError("a baseline lies in [-1, 1] and its tolerance in [0, 1)")

    @property
    def bets(self) -> Floats:
        """Return the bets: up, then down."""
        return both_ways(self.stakes) / (1 + abs(self.gap) + self.tolerance)

    def logs(self, gaps: Floats) -> Floats:
        """Return the log factor of each gap (a row) for each bet."""
        bets = self.bets
        payoffs = np.multiply.outer(gaps - self.gap, bets) - np.abs(bets) * self.tolerance
        return np.asarray(np.log1p(payoffs), dtype=np.float64)

    def of_round(self, pairs: PairHistogram) -> Floats:
        """Return the log factor of a whole closed round for each bet."""
        return log_wealths(*pairs.ends, self.logs(middles(pairs.bins)))


@dataclass(frozen=True)
class Detector:
    """Per bet the map M -> a M + b that a stretch of time makes of the statistic, as logarithms.

    One step of Shiryaev and Roberts's statistic is M -> L (M + 1), L being the likelihood of the
    step's bet. Maps of adjacent stretches compose to that of both, and composition is associative:
    stretches may be reduced apart and joined in the order of time. Equal steps in equal groupings
    give equal digits.
    """

    log_a: tuple[float, ...]
    log_b: tuple[float, ...]
    steps: int = 0

    @classmethod
    def start(cls, baseline: Baseline) -> "Detector":
        """Return the map that changes nothing: at the beginning, and again after an alarm."""
        bets = len(baseline.bets)
        return cls((0.0,) * bets, (-np.inf,) * bets)

    @classmethod
    def step(cls, log_factors: Floats, *, log_weight: float = 0.0) -> "Detector":
        """Return the map of one step: M -> L (M + weight).

        A weight of 1 at every step gives a mean time to false alarm of 1/alpha or more. Weights
        that sum to 1 over all time give false alarms, ever, of at most alpha.
        """
        logs = tuple(np.asarray(log_factors, dtype=np.float64).tolist())
        return cls(logs, tuple(value + log_weight for value in logs), 1)

    @classmethod
    def of_units(cls, gaps: Floats, baseline: Baseline) -> "Detector":
        """Return the map of units in the order of time, each a step."""
        if not len(gaps):
            return cls.start(baseline)
        suffixes = np.cumsum(baseline.logs(np.asarray(gaps))[::-1], axis=0)
        reached = np.logaddexp.reduce(suffixes, axis=0)
        return cls(tuple(suffixes[-1].tolist()), tuple(reached.tolist()), len(gaps))

    @classmethod
    def of_rounds(cls, rounds: Sequence[PairHistogram], baseline: Baseline) -> "Detector":
        """Return the map of closed rounds in the order of time, each a step."""
        found = cls.start(baseline)
        for one in rounds:
            found = found.then(cls.step(baseline.of_round(one)))
        return found

    def then(self, later: "Detector") -> "Detector":
        """Return the map of this stretch of time followed by the next."""
        a, b, then_a, then_b = map(np.array, (self.log_a, self.log_b, later.log_a, later.log_b))
        joined = np.logaddexp(then_a + b, then_b)
        return Detector(
            tuple((a + then_a).tolist()), tuple(joined.tolist()), self.steps + later.steps
        )

    @property
    def log_statistic(self) -> float:
        """Return the logarithm of the statistic, mixed over the bets; alarm at ln(1/alpha).

        References
        ----------
        Shin, Ramdas and Rinaldo (2024), E-detectors: a nonparametric framework for sequential
        change detection.
        """
        return float(log_mean_exp(np.array(self.log_b))) if self.steps else -np.inf


def likeliest_start(rounds: Sequence[PairHistogram], baseline: Baseline) -> int | None:
    """Return the place of the round from which on the evidence of a change is largest."""
    if not rounds:
        return None
    factors = np.array([baseline.of_round(one) for one in rounds])
    suffixes = np.cumsum(factors[::-1], axis=0)[::-1]
    return int(np.argmax(log_mean_exp(suffixes)))

"""Search for a change at any moment: references that sharpen, alpha shared among first rounds.

The mean before a change is not known. A reference is the confidence sequence of all rounds so far,
taken when their number has doubled; no change is any mean inside it. Each later round may be the
first that differs: its bets begin with a weight 1 / (i (i + 1)), against the newest reference, so
that the weights of all rounds to come sum to 1. A confidence sequence holds at all looks at once,
so that one share of alpha serves all references.
"""

from dataclasses import dataclass, replace
from math import floor, log

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import STAKES, Floats
from biaswatch.shared.stats.anytime.judging import share_of_attempt
from biaswatch.shared.stats.anytime.late_starts import LateStarts
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.pairs import BINS, PairHistogram

Ints = NDArray[np.int64]
KEPT = 3
"""References: what older ones could still find is given up, which keeps false alarms below."""
GROWTH = 2


@dataclass(frozen=True)
class References:
    """What later rounds are compared with, and what bets on a difference have earned since.

    A row for each reference; those of one search stand together, the newest last.
    """

    values: Floats
    """The means, from -1 to 1."""
    allowed: Floats
    """How far from it a mean is no change: its uncertainty and the tolerance."""
    rounds: Ints
    """How many rounds it sums up."""
    bets: LateStarts
    """On a difference, since it was made."""

    def after(self, pairs: PairHistograms, log_weights: Floats, round_: int) -> "References":
        """Return them after one more round, with which bets may begin where it has a weight.

        Only the newest reference of a search takes a round as one that may be the first to differ.

        Parameters
        ----------
        pairs
            What the round adds to the search of each reference.
        """
        factors = pairs.log_factors(self.values, self.allowed, STAKES)
        return replace(self, bets=self.bets.after(factors, log_weights, round_))


def made_references(
    pairs: PairHistograms, alphas: Floats, tolerances: Floats
) -> tuple[Floats, Floats]:
    """Return the mean that each row of rounds is, and how far from it a mean is no change.

    The latter is NaN where nothing is left to bet on.
    """
    values, ends = pairs.estimates, pairs.intervals(alphas)
    allowed = np.maximum(values - ends[:, 0], ends[:, 1] - values) + tolerances
    return values, np.where(allowed < 1, allowed, np.nan)


def is_due(newest: int | None, rounds: int, first: int) -> bool:
    """Tell whether so many rounds make another reference.

    Parameters
    ----------
    newest
        The rounds of the newest one; None before the first.
    first
        How many rounds make the first one.
    """
    return rounds >= (first if newest is None else GROWTH * newest)


def log_evidence(references: References, searches: Ints) -> Floats:
    """Return the log evidence of a change; -infinity before any round after a reference.

    The sum over references of the mean over bets. Without a change it is, by Markov's and Ville's
    inequalities, ever at ln(1/alpha) with a probability of at most alpha, if the confidence
    sequence covers.

    Parameters
    ----------
    searches
        Where the references of each search begin.

    References
    ----------
    Shin, Ramdas and Rinaldo (2024), E-detectors; Shekhar and Ramdas (2023) for confidence
    sequences as references, there with a bound on the average run length only.
    """
    found = references.bets.log_evidence
    return np.asarray(np.logaddexp.reduceat(found, searches)) if len(searches) else np.empty(0)


@dataclass(frozen=True)
class TypicalRounds:
    """What a round of each search brings, on average."""

    units: Floats
    sds: Floats

    @classmethod
    def of(cls, pairs: PairHistograms, rounds: Ints) -> "TypicalRounds":
        """Return the average of so many rounds."""
        sds = np.nan_to_num(pairs.standard_errors) * np.sqrt(pairs.units)
        return cls(pairs.units / rounds, sds)

    def of_rows(self, rows: Ints) -> "TypicalRounds":
        """Return some of them."""
        return TypicalRounds(self.units[rows], self.sds[rows])


def smallest_changes(
    references: References, typical: TypicalRounds, rounds: Ints, steps: Ints, bounds: Floats
) -> Floats:
    """Return the smallest change that is found by now in about half of the cases.

    A change that came with the first round after a reference, rounds being like the typical one:
    the smallest for which the expected evidence reaches the bound, for each reference. Infinity
    where none does: no two means in [-1, 1] are further apart than 2.

    Parameters
    ----------
    typical, rounds, steps, bounds
        Of the search of each reference: its typical round; how many rounds there are, those of
        the references included; how many since the first reference; the log evidence of an alarm.

    Notes
    -----
    A bet b on a shift d beyond what is allowed, of values with standard deviation s, earns about
    b d - b^2 (s^2 + d^2) / 2 a unit (the logarithm of 1 + x, to the second order).
    """
    since = rounds - references.rounds
    seen = (since > 0) & (typical.units > 0)
    found = np.full(len(since), np.inf)
    rows = np.flatnonzero(seen)
    shares = np.array([share_of_attempt(each) for each in (steps - since + 1)[rows].tolist()])
    allowed = references.allowed[rows]
    excess = _excess(
        references.values[rows], allowed, typical.of_rows(rows), since[rows],
        bounds[rows] - np.log(shares),
    )  # fmt: skip
    found[rows] = allowed + excess
    return np.where(found < 2, found, np.inf)


def _excess(
    values: Floats, allowed: Floats, typical: TypicalRounds, rounds: Ints | Floats, bounds: Floats
) -> Floats:
    """Return how far beyond what is allowed a shift has to be; infinity where none is enough."""
    bets = np.array(STAKES) / (1 + np.abs(values) + allowed)[:, None]
    needed = bounds + log(2 * len(STAKES))
    rest = 1 - bets**2 * typical.sds[:, None] ** 2
    rest -= (2 * needed / (typical.units * rounds))[:, None]
    shifts = np.where(rest >= 0, (1 - np.sqrt(np.maximum(rest, 0))) / bets, np.inf)
    return np.asarray(shifts.min(axis=1))


def planned_change(
    units: float, sd: float, *, first: int, before: int, after: int, alpha: float, tolerance: float
) -> float | None:
    """Return the smallest change that is found in about half of the cases, before any round.

    Parameters
    ----------
    units, sd
        Of a round: its pairs, and the standard deviation of their differences.
    first
        The rounds of the first reference.
    before
        The rounds without a change.
    after
        The rounds since the change.
    alpha
        Of the detector, and once more of the references.

    Returns
    -------
    A share of the range; None where no change is found.
    """
    made: list[tuple[float, float, int]] = []
    for rounds in range(first, before + 1):
        if is_due(made[-1][2] if made else None, rounds, first):
            pairs = _like(units, sd, rounds).table
            value, allowed = made_references(pairs, np.array([alpha]), np.array([tolerance]))
            made += [(float(value[0]), float(allowed[0]), rounds)] if allowed[0] < 1 else []
    if not made:
        return None
    values, allowed, _ = (
        np.array(each, dtype=np.float64) for each in zip(*made[-KEPT:], strict=True)
    )
    bound = -log(alpha) - log(share_of_attempt(max(1, before - first + 1)))
    same = np.ones(len(values))
    typical = TypicalRounds(units * same, sd * same)
    smallest = (allowed + _excess(values, allowed, typical, after * same, bound * same)).min()
    return float(smallest) if smallest < 2 else None


def _like(units: float, sd: float, rounds: int) -> PairHistogram:
    """Return so many rounds of differences around 0, half above and half below."""
    bins = BINS
    place = min(bins // 2, max(1, round(sd * (bins // 2))))
    half = floor(units * rounds / 2)
    counts = [0] * bins
    counts[bins // 2 - place] = counts[bins // 2 + place] = half
    return PairHistogram(tuple(counts))

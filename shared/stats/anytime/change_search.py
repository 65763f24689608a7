"""Search for a change at any moment: references that sharpen, alpha shared among first rounds.

The mean before a change is unknown. A reference is the confidence sequence of all previous rounds,
taken when their number has doubled; any mean inside it is compatible with no change. Each later
round may be the first that differs: its bets begin with a weight 1 / (i (i + 1)), against the
newest reference, so that the weights of all rounds to come sum to 1. A confidence sequence holds at
all looks at once, so that one share of alpha serves all references.
"""

from dataclasses import dataclass, replace
from math import floor, log

import numpy as np

from biaswatch.shared.stats.anytime.bets import STAKES
from biaswatch.shared.stats.anytime.judging import share_of_attempt
from biaswatch.shared.stats.anytime.late_starts import LateStarts
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS
from biaswatch.shared.stats.arrays import Bools, Floats, Ints

MAX_REFERENCES = 3
"""Older references are dropped, which can only lower the number of false alarms."""
REFERENCE_GROWTH = 2
"""Quotient of the numbers of rounds of consecutive references."""


@dataclass(frozen=True)
class References:
    """References of later rounds, and the wealth of bets on a difference from them.

    A row for each reference; those of one search are adjacent, the newest last.
    """

    values: Floats
    """The means, from -1 to 1."""
    allowed: Floats
    """Largest distance of a mean that is not a change: the uncertainty plus the tolerance."""
    rounds: Ints
    """Number of rounds in the reference."""
    bets: LateStarts
    """Bets on a difference, since the reference was made."""

    def after(self, pairs: PairHistograms, log_weights: Floats, round_: int) -> "References":
        """Return the references after one more round; bets may begin where it has a weight.

        Only the newest reference of a search takes a round as a possible first one that differs.

        Parameters
        ----------
        pairs
            The pairs of the round in the search of each reference.
        log_weights, round_
            As in `LateStarts.after`.
        """
        factors = pairs.log_factors(self.values, self.allowed)
        return replace(self, bets=self.bets.after(factors, log_weights, round_))


def joined_references(one: References, other: References, order: Ints) -> References:
    """Return the references of both, in an order of their places."""
    both = (one, other)
    values, allowed, rounds = (
        np.concatenate([getattr(references, name) for references in both])[order]
        for name in ("values", "allowed", "rounds")
    )
    wealth, best, starts = (
        np.concatenate([getattr(references.bets, name) for references in both])[order]
        for name in ("log_wealth", "log_best", "starts")
    )
    return References(values, allowed, rounds, LateStarts(wealth, best, starts))


def made_references(
    pairs: PairHistograms, alphas: Floats, tolerances: Floats
) -> tuple[Floats, Floats]:
    """Return the mean of each row of rounds, and the largest distance that is not a change.

    The latter is NaN where no bet is possible.
    """
    values, ends = pairs.estimates, pairs.intervals(alphas)
    allowed = np.maximum(values - ends[:, 0], ends[:, 1] - values) + tolerances
    return values, np.where(allowed < 1, allowed, np.nan)


def are_due(newest: Floats, rounds: Ints, first: int) -> Bools:
    """Tell which searches are due another reference after this number of rounds.

    Parameters
    ----------
    newest
        Rounds of the newest reference; NaN before the first.
    rounds
        Number of rounds until now.
    first
        Rounds of the first reference.
    """
    return rounds >= np.where(np.isnan(newest), first, REFERENCE_GROWTH * newest)


def log_evidence(references: References, searches: Ints) -> Floats:
    """Return the log evidence of a change; -infinity before any round after a reference.

    The sum over references of the mean over bets. Without a change it is, by Markov's and Ville's
    inequalities, ever at ln(1/alpha) with a probability of at most alpha, if the confidence
    sequence covers.

    Parameters
    ----------
    references
        The references of all searches.
    searches
        Row of the first reference of each search.

    References
    ----------
    Shin, Ramdas and Rinaldo (2024), E-detectors; Shekhar and Ramdas (2023) for confidence
    sequences as references, there with a bound on the average run length only.
    """
    evidence = references.bets.log_evidence
    return np.asarray(np.logaddexp.reduceat(evidence, searches)) if len(searches) else np.empty(0)


@dataclass(frozen=True)
class TypicalRounds:
    """The average round of each search."""

    units: Floats
    sds: Floats

    @classmethod
    def of(cls, pairs: PairHistograms, rounds: Ints) -> "TypicalRounds":
        """Return the average of these numbers of rounds."""
        sds = np.nan_to_num(pairs.standard_errors) * np.sqrt(pairs.units)
        return cls(pairs.units / rounds, sds)

    def of_rows(self, rows: Ints) -> "TypicalRounds":
        """Return the rounds of these rows."""
        return TypicalRounds(self.units[rows], self.sds[rows])


def smallest_changes(
    references: References, typical: TypicalRounds, rounds: Ints, steps: Ints, bounds: Floats
) -> Floats:
    """Return the smallest change that is detected by now with a probability of about one half.

    A change that came with the first round after a reference, in typical rounds: the smallest with
    an expected evidence at the bound, for each reference. Infinity without any: two means in
    [-1, 1] differ by at most 2.

    Parameters
    ----------
    references
        The references of all searches.
    typical, rounds, steps, bounds
        For the search of each reference: its typical round; the number of rounds, those of the
        reference included, and of rounds since the first reference; the log evidence of an alarm.

    Notes
    -----
    A bet b on a shift d beyond what is allowed, of values with standard deviation s, earns about
    b d - b^2 (s^2 + d^2) / 2 a unit (the logarithm of 1 + x, to the second order).
    """
    since = rounds - references.rounds
    seen = (since > 0) & (typical.units > 0)
    changes = np.full(len(since), np.inf)
    rows = np.flatnonzero(seen)
    attempts, places = np.unique((steps - since + 1)[rows], return_inverse=True)
    shares = np.array([share_of_attempt(attempt) for attempt in attempts.tolist()])[places]
    allowed = references.allowed[rows]
    excess = _excess(
        references.values[rows], allowed, typical.of_rows(rows), since[rows],
        bounds[rows] - np.log(shares),
    )  # fmt: skip
    changes[rows] = allowed + excess
    return np.where(changes < 2, changes, np.inf)


def _excess(
    values: Floats, allowed: Floats, typical: TypicalRounds, rounds: Ints | Floats, bounds: Floats
) -> Floats:
    """Return the least detectable shift beyond the allowed one; infinity without any."""
    bets = np.array(STAKES) / (1 + np.abs(values) + allowed)[:, None]
    needed = bounds + log(2 * len(STAKES))
    rest = 1 - bets**2 * typical.sds[:, None] ** 2
    rest -= (2 * needed / (typical.units * rounds))[:, None]
    shifts = np.where(rest >= 0, (1 - np.sqrt(np.maximum(rest, 0))) / bets, np.inf)
    return np.asarray(shifts.min(axis=1))


def planned_change(
    units: float, sd: float, *, first: int, before: int, after: int, alpha: float, tolerance: float
) -> float | None:
    """Return the smallest change with a detection probability of about one half, before any round.

    Parameters
    ----------
    units, sd
        Pairs of a round, and the standard deviation of their differences.
    first
        Rounds of the first reference.
    before
        Rounds without a change.
    after
        Rounds since the change.
    alpha
        Alpha of the detector, and once more of the references.
    tolerance
        Largest change that does not matter.

    Returns
    -------
    float or None
        A share of the range; None where no change is detected.
    """
    references: list[tuple[float, float, int]] = []
    for rounds in range(first, before + 1):
        newest = np.array([references[-1][2] if references else np.nan])
        if are_due(newest, np.array([rounds]), first)[0]:
            pairs = _like(units, sd, rounds)
            value, allowed = made_references(pairs, np.array([alpha]), np.array([tolerance]))
            references += [(float(value[0]), float(allowed[0]), rounds)] if allowed[0] < 1 else []
    if not references:
        return None
    values, allowed, _ = (
        np.array(column, dtype=np.float64)
        for column in zip(*references[-MAX_REFERENCES:], strict=True)
    )
    bound = -log(alpha) - log(share_of_attempt(max(1, before - first + 1)))
    same = np.ones(len(values))
    typical = TypicalRounds(units * same, sd * same)
    smallest = (allowed + _excess(values, allowed, typical, after * same, bound * same)).min()
    return float(smallest) if smallest < 2 else None


def _like(units: float, sd: float, rounds: int) -> PairHistograms:
    """Return rounds of differences around 0, half above and half below."""
    middle = DIFFERENCE_BINS // 2
    place = min(middle, max(1, round(sd * middle)))
    counts = [0] * DIFFERENCE_BINS
    counts[middle - place] = counts[middle + place] = floor(units * rounds / 2)
    return PairHistograms.of_counts(counts)

"""Search for a change at any moment: references that sharpen, alpha shared among first rounds.

The mean before a change is not known. A reference is the confidence sequence of all rounds so far,
taken when their number has doubled; no change is any mean inside it. Each later round may be the
first that differs: its bets begin with a weight 1 / (i (i + 1)), against the newest reference, so
that the weights of all rounds to come sum to 1. A confidence sequence holds at all looks at once,
so that one share of alpha serves all references.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import floor, log, sqrt

import numpy as np

from shared.stats.anytime.bets import STAKES, Floats
from shared.stats.anytime.change import Baseline
from shared.stats.anytime.late_starts import LateStarts
from shared.stats.anytime.pairs import BINS, PairHistogram
from shared.stats.anytime.spending import share_of_attempt

KEPT = 3
"""References: what older ones could still find is given up, which keeps false alarms below."""
GROWTH = 2


@dataclass(frozen=True)
class ReferenceRounds:
    """What later rounds are compared with, and what bets on a difference have earned since."""

    value: float
    """The mean, from -1 to 1."""
    allowed: float
    """How far from it a mean is no change: its uncertainty and the tolerance."""
    rounds: int
    """How many rounds it sums up."""
    bets: LateStarts = field(default_factory=LateStarts)
    """On a difference, since it was made."""

    @classmethod
    def of(
        cls, pairs: PairHistogram, rounds: int, *, alpha: float, tolerance: float
    ) -> "ReferenceRounds | None":
        """Return the reference that these rounds are; None where nothing is left to bet on."""
        value = pairs.estimate
        if value is None:
            return None
        low, high = pairs.interval(alpha)
        allowed = max(value - low, high - value) + tolerance
        return cls(value, allowed, rounds) if allowed < 1 else None

    def after(
        self, pairs: PairHistogram, log_weight: float | None, round_: int
    ) -> "ReferenceRounds":
        """Return it after one more round: with a weight, that may be the first that differs."""
        factors = Baseline(self.value, self.allowed).of_round(pairs)
        return replace(self, bets=self.bets.after(factors, log_weight, round_))


def after_round(
    references: Sequence[ReferenceRounds], pairs: PairHistogram, step: int, round_: int
) -> tuple[ReferenceRounds, ...]:
    """Return the references after a round, the `step`-th since the first, counted from 1.

    Only the newest takes the round as one that may be the first to differ.
    """
    log_weight = log(share_of_attempt(step))
    return tuple(
        each.after(pairs, log_weight if each is references[-1] else None, round_)
        for each in references
    )


def is_due(references: Sequence[ReferenceRounds], rounds: int, first: int) -> bool:
    """Tell whether so many rounds make another reference."""
    return rounds >= (GROWTH * references[-1].rounds if references else first)


def log_evidence(references: Sequence[ReferenceRounds]) -> float | None:
    """Return the log evidence of a change; None before any round after a reference.

    The sum over references of the mean over bets. Without a change it is, by Markov's and Ville's
    inequalities, ever at ln(1/alpha) with a probability of at most alpha, if the confidence
    sequence covers.

    References
    ----------
    Shin, Ramdas and Rinaldo (2024), E-detectors; Shekhar and Ramdas (2023) for confidence
    sequences as references, there with a bound on the average run length only.
    """
    found = [each.bets.log_evidence for each in references]
    known = [value for value in found if value is not None]
    return float(np.logaddexp.reduce(known)) if known else None


def likeliest_start(references: Sequence[ReferenceRounds]) -> int | None:
    """Return the round with which a change began, most likely; None before any evidence."""
    told = [each.bets for each in references if each.bets.log_wealth]
    return max(told, key=lambda each: each.log_evidence or 0.0).likeliest if told else None


@dataclass(frozen=True)
class TypicalRound:
    """What a round brings, on average."""

    units: float
    sd: float

    @classmethod
    def of(cls, pairs: PairHistogram, rounds: int) -> "TypicalRound":
        """Return the average of so many rounds."""
        sd = pairs.standard_error * sqrt(pairs.units) if pairs.units else 0.0
        return cls(pairs.units / rounds, sd)


def smallest_change(
    references: Sequence[ReferenceRounds],
    typical: TypicalRound,
    *,
    rounds: int,
    steps: int,
    bound: float,
) -> float | None:
    """Return the smallest change that is found by now in about half of the cases.

    A change that came with the first round after a reference, rounds being like the typical one:
    the smallest for which the expected evidence reaches the bound. None where no change is.

    Parameters
    ----------
    rounds
        How many there are, those of the references included.
    steps
        How many there are since the first reference.
    bound
        The log evidence of an alarm.

    Notes
    -----
    A bet b on a shift d beyond what is allowed, of values with standard deviation s, earns about
    b d - b^2 (s^2 + d^2) / 2 a unit (the logarithm of 1 + x, to the second order).
    """
    found = []
    for each in references:
        since = rounds - each.rounds
        if since > 0 and typical.units:
            log_weight = log(share_of_attempt(steps - since + 1))
            excess = _excess(each, typical, since, bound - log_weight)
            found.append(2.0 if excess is None else each.allowed + excess)
    # No two means in [-1, 1] are further apart.
    return min((each for each in found if each < 2), default=None)


def _excess(
    reference: ReferenceRounds, typical: TypicalRound, rounds: int, bound: float
) -> float | None:
    """Return how far beyond what is allowed a shift has to be; None where none is enough."""
    bets = np.array(STAKES) / (1 + abs(reference.value) + reference.allowed)
    needed = bound + log(2 * len(STAKES))
    rest = 1 - bets**2 * typical.sd**2 - 2 * needed / (typical.units * rounds)
    shifts: Floats = (1 - np.sqrt(rest[rest >= 0])) / bets[rest >= 0]
    return float(shifts.min()) if shifts.size else None


def planned_change(
    typical: TypicalRound, *, first: int, before: int, after: int, alpha: float, tolerance: float
) -> float | None:
    """Return the smallest change that is found in about half of the cases, before any round.

    Parameters
    ----------
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
    references: list[ReferenceRounds] = []
    for rounds in range(first, before + 1):
        if is_due(references, rounds, first):
            seen = _like(typical, rounds)
            made = ReferenceRounds.of(seen, rounds, alpha=alpha, tolerance=tolerance)
            references += [made] if made else []
    bound = -log(alpha) - log(share_of_attempt(max(1, before - first + 1)))
    found = [
        each.allowed + excess
        for each in references[-KEPT:]
        if (excess := _excess(each, typical, after, bound)) is not None
    ]
    return min((each for each in found if each < 2), default=None)


def _like(typical: TypicalRound, rounds: int) -> PairHistogram:
    """Return so many rounds of differences around 0, half above and half below."""
    bins = BINS
    place = min(bins // 2, max(1, round(typical.sd * (bins // 2))))
    half = floor(typical.units * rounds / 2)
    counts = [0] * bins
    counts[bins // 2 - place] = counts[bins // 2 + place] = half
    return PairHistogram(tuple(counts))

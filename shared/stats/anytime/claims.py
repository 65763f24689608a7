"""What a monitor's evidence generalises to: which units count, and when they may be looked at."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from shared.stats.anytime.pairs import BINS, PairHistogram
from shared.stats.anytime.rounding import uniforms


class Claim(StrEnum):
    """To what the gap refers."""

    BANK = "bank"
    """These sets of probes, on this model: every round asks all of them again.

    A set may have a gap of its own, as long as they cancel over the bank. Within a complete round
    they do, because the bets are fixed beforehand: the product of 1 + bet x gap then expects at
    most 1 (the mean of logarithms is at most the logarithm of the mean). In the middle of a round,
    or with bets that learn, they do not.
    """

    POPULATION = "population"
    """The sets that these were drawn from: each enters once, ever, and rounds draw new ones.

    A set asked again would bring its own gap again and again: evidence about the bank, taken for
    evidence about the population, alarms falsely in 33 to 79 % of simulations.
    """


@dataclass(frozen=True)
class ClosedRound:
    """A round that takes no more records: its increment, and what was left out of it."""

    increment: PairHistogram
    missing: int
    """Sets without a gap. For a bank they count as the worst case; for a population they do not."""

    repeated: int = 0
    """Sets of a population that entered before, and do not enter again."""


def unit_id(claim: Claim, set_id: str, round_number: int) -> str:
    """Return the id of what counts as one unit: (set, round) of a bank, the set of a population."""
    return f"{set_id}@{round_number}" if claim is Claim.BANK else set_id


def close_bank_round(
    gaps: Mapping[str, float | None], *, round_number: int, salt: str, bins: int = BINS
) -> ClosedRound:
    """Return the increment of a round of a bank.

    Parameters
    ----------
    gaps
        The gap in [-1, 1] of *every* set of the bank, from the means of its repeats; None where an
        answer is missing. Such a set counts as the worst case for every bet, so that the claim
        stays about the whole bank.
    round_number
        Part of the unit, so that a set is rounded anew in each round.
    salt
        The name of what is compared: feature and groups.
    """
    ids = [unit_id(Claim.BANK, name, round_number) for name, gap in gaps.items() if gap is not None]
    missing = len(gaps) - len(ids)
    return ClosedRound(_counted(ids, gaps.values(), salt, bins, absent=missing), missing)


def close_population_round(
    gaps: Mapping[str, float | None], *, entered: frozenset[str], salt: str, bins: int = BINS
) -> ClosedRound:
    """Return the increment of a round of newly drawn sets; those that entered before stay out.

    The claim is about sets whose answers are not missing; whether answers are missing more often
    in one group is a comparison of its own.
    """
    new = {name: gap for name, gap in gaps.items() if name not in entered}
    ids = [name for name, gap in new.items() if gap is not None]
    increment = _counted(ids, new.values(), salt, bins, absent=0)
    return ClosedRound(increment, len(new) - len(ids), len(gaps) - len(new))


def _counted(
    ids: list[str], gaps: Iterable[float | None], salt: str, bins: int, *, absent: int
) -> PairHistogram:
    there = np.array([gap for gap in gaps if gap is not None], dtype=np.float64)
    return PairHistogram.of(there, uniforms(ids, salt), bins=bins, absent=absent)

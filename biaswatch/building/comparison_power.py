"""Minimum detectable gap of each comparison of a suite, before a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

ALPHA = 0.05
POWER = 0.8
TWIN_CORRELATION = 0.5
"""Assumed correlation of answers within a set; the same as in `biaswatch plan`."""


@dataclass(frozen=True)
class ComparisonPower:
    """Minimum detectable gap of one concept against the others, one answer a prompt."""

    concept: str
    prompts: int
    paired_sets: int
    """Number of sets with a twin of the concept; 0 if prompts are compared unpaired."""
    smallest_gap_sd: float | None
    """In standard deviations of one answer; None with too few prompts."""
    reason: str | None = None
    """Reason for a missing gap."""


FEWEST = 6
"""Below this many units, no rank or permutation test reaches the corrected level."""


def smallest_gap_sd(units: int, comparisons: int, variance: float) -> float | None:
    """Return the gap that a two-sided z test detects with power 0.8.

    Parameters
    ----------
    units
        Independent units: sets of a paired comparison, otherwise prompts of a group. None is
        returned for fewer than six.
    comparisons
        Size of the family; each is tested at Bonferroni's level.
    variance
        Variance of one unit's difference, in squared standard deviations of an answer.

    References
    ----------
    Chow, Shao and Wang (2008), chapter 3: n = (z_{1-a/2} + z_{power})^2 variance / gap^2.
    """
    if units < FEWEST:
        return None
    normal = NormalDist()
    z = normal.inv_cdf(1 - ALPHA / (2 * comparisons)) + normal.inv_cdf(POWER)
    return z * sqrt(variance / units)


def power_table(
    concepts: Sequence[str], sets: Sequence[Sequence[str]], features: int
) -> list[ComparisonPower]:
    """Return a row for each concept; `sets` lists the concepts of each set."""
    family = max(1, len(concepts) if len(concepts) > 2 else 1) * max(1, features)
    return [_row(concept, concepts, sets, family) for concept in concepts]


def _row(
    concept: str, concepts: Sequence[str], sets: Sequence[Sequence[str]], family: int
) -> ComparisonPower:
    prompts = sum(members.count(concept) for members in sets)
    paired = [members for members in sets if concept in members and len(set(members)) > 1]
    if len(concepts) < 2:
        return ComparisonPower(concept, prompts, 0, None, "the suite has one concept only")
    if paired:
        other_concepts = min(len(set(members)) for members in paired) - 1
        variance = (1 - TWIN_CORRELATION) * (1 + 1 / other_concepts)
        gap = smallest_gap_sd(len(paired), family, variance)
    else:
        other_prompts = sum(len(members) for members in sets) - prompts
        harmonic = (
            prompts * other_prompts / (prompts + other_prompts)
            if prompts and other_prompts
            else 0.0
        )
        gap = smallest_gap_sd(int(harmonic), family, 1.0)
    reason = None if gap is not None else f"fewer than {FEWEST} units"
    return ComparisonPower(
        concept, prompts, len(paired), None if gap is None else round(gap, 3), reason
    )

"""How small a gap each comparison of a suite can find, before any model is asked."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

ALPHA = 0.05
POWER = 0.8
TWIN_CORRELATION = 0.5
"""Of the answers to the prompts of one set; the same as `biaswatch plan` assumes."""


@dataclass(frozen=True)
class ComparisonPower:
    """What a comparison of a concept with the others can find, with one answer to each prompt."""

    concept: str
    prompts: int
    paired_sets: int
    """Sets in which the concept has a twin; 0 where prompts are compared unpaired."""
    smallest_gap_sd: float | None
    """In standard deviations of one answer; None where there are too few prompts."""
    reason: str | None = None
    """Why there is no number."""


FEWEST = 6
"""With fewer units no rank or permutation test reaches the corrected level."""


def smallest_gap_sd(units: int, comparisons: int, variance: float) -> float | None:
    """Return the gap that a two-sided z test finds in 80 % of runs, or None below six units.

    Parameters
    ----------
    units
        Independent units: sets where the comparison is paired, prompts of a group where not.
    comparisons
        How many are in the family; the level of each is Bonferroni's, as that of Holm's first step.
    variance
        Of the difference of one unit, in squared standard deviations of an answer.

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
    """Return a row for each concept; `sets` has the concepts that each set holds."""
    family = max(1, len(concepts) if len(concepts) > 2 else 1) * max(1, features)
    return [_row(concept, concepts, sets, family) for concept in concepts]


def _row(
    concept: str, concepts: Sequence[str], sets: Sequence[Sequence[str]], family: int
) -> ComparisonPower:
    prompts = sum(members.count(concept) for members in sets)
    paired = [members for members in sets if concept in members and len(set(members)) > 1]
    if len(concepts) < 2:
        return ComparisonPower(concept, prompts, 0, None, "there is no other concept")
    if paired:
        others = min(len(set(members)) for members in paired) - 1
        variance = (1 - TWIN_CORRELATION) * (1 + 1 / others)
        gap = smallest_gap_sd(len(paired), family, variance)
    else:
        rest = sum(len(members) for members in sets) - prompts
        harmonic = prompts * rest / (prompts + rest) if prompts and rest else 0.0
        gap = smallest_gap_sd(int(harmonic), family, 1.0)
    why = None if gap is not None else f"fewer than {FEWEST} units"
    return ComparisonPower(
        concept, prompts, len(paired), None if gap is None else round(gap, 3), why
    )

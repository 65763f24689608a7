"""One-sided tests, and the two-sided questions that are asked of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Tails = Callable[[float], tuple[float, float]]
"""Takes a gap; returns the p-values of "the gap is at most this", and "at least this"."""
Comparators = Mapping[str, Tails]


@dataclass(frozen=True)
class GapPValues:
    """What a comparator says of one comparison, before its family is corrected."""

    above: bool
    """The side that the p-value for a disparity speaks of."""
    p_disparity: float
    p_equivalence: float | None


def p_values_of(tails: Tails, tolerance: float) -> GapPValues:
    """Test |gap| <= tolerance and, where that is above 0, |gap| >= tolerance, each at its level.

    The first adds, at the nearer end of the tolerance, the chance to be as far out on the other
    side: with tolerance 0 it is the two-sided test, with a wide one the one-sided.
    """
    at_most, at_least = tails(tolerance)
    if not tolerance:
        return GapPValues(at_most < at_least, min(1.0, 2 * min(at_most, at_least)), None)
    lower_at_most, lower_at_least = tails(-tolerance)
    up, down = at_most + lower_at_most, at_least + lower_at_least
    return GapPValues(up < down, min(1.0, up, down), max(at_least, lower_at_most))


def holm_rejects(p_values: Sequence[float], alpha: float) -> list[bool]:
    """Return which of a family are rejected by Holm's procedure."""
    rejected = [False] * len(p_values)
    for left, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[place] * (len(p_values) - left) > alpha:
            break
        rejected[place] = True
    return rejected

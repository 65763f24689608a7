"""Pairs of answers in numbers: how many agree, how many are flagged, and of how many."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from biaswatch.shared.stats.comparisons.multiplicity import holm
from biaswatch.shared.stats.estimate import IntervalEstimate, check_alpha, undefined
from biaswatch.shared.stats.tables.paired_table import paired_table
from biaswatch.shared.stats.tables.risks import selection_rate


@dataclass(frozen=True)
class PairShare:
    """How many pairs something is true of."""

    count: int
    of: int
    """Pairs for which it is known; the others are counted as without a verdict."""
    without: int
    share: IntervalEstimate
    """Between 0 and 1, of those for which it is known."""


@dataclass(frozen=True)
class PairDifference:
    """One statement about the pairs of two models, on the pairs both have."""

    name: str
    pairs: int
    difference: float | None
    p_value: float | None
    p_adjusted: float | None
    reason: str | None


Statements = Mapping[str, bool | None]
"""What is true of one pair, by name; None where it is not known."""


def shares_of(
    pairs: Sequence[Statements], names: Iterable[str], alpha: float
) -> dict[str, PairShare]:
    """Count for each statement the pairs of which it is true, with Wilson's interval.

    Pairs for which it is not known are in no numerator and in no denominator: they are counted.
    """
    check_alpha(alpha)
    return {name: _share([pair.get(name) for pair in pairs], alpha) for name in names}


def _share(values: Sequence[bool | None], alpha: float) -> PairShare:
    known = [value for value in values if value is not None]
    count, of = sum(known), len(known)
    nothing = undefined("no pair has a verdict", method="Wilson")
    share = selection_rate(count, of, alpha) if of else nothing
    return PairShare(count, of, len(values) - of, share)


def compared(
    a: Mapping[str, Statements], b: Mapping[str, Statements], names: Sequence[str], alpha: float
) -> list[PairDifference]:
    """Compare two models on the pairs both have a verdict for: McNemar's exact test, Holm."""
    found = [_difference(a, b, name, alpha) for name in names]
    adjusted = holm([each.p_value for each in found])
    return [replace(each, p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def _difference(
    a: Mapping[str, Statements], b: Mapping[str, Statements], name: str, alpha: float
) -> PairDifference:
    both = [(a[key].get(name), b[key].get(name)) for key in a.keys() & b.keys()]
    known = [(x, y) for x, y in both if x is not None and y is not None]
    kinds = ((True, True), (True, False), (False, True), (False, False))
    table = paired_table(*(known.count(kind) for kind in kinds), alpha=alpha)
    return PairDifference(
        name, len(known), table.difference, table.exact_p_value, None, table.reason
    )

"""Pairs of answers in numbers: how many agree, how many are flagged, and of how many."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from statsmodels.stats.proportion import proportion_confint

from shared.stats.alpha import check_alpha
from shared.stats.comparisons.multiplicity import holm
from shared.stats.estimate import Estimate, undefined
from shared.stats.tables.paired_table import paired_table

METHOD = "Wilson"


@dataclass(frozen=True)
class Share:
    """How many pairs something is true of."""

    count: int
    of: int
    """Pairs for which it is known; the others are counted as without a verdict."""
    without: int
    share: Estimate
    """Between 0 and 1, of those for which it is known."""


@dataclass(frozen=True)
class Difference:
    """One statement about the pairs of two models, on the pairs both have."""

    name: str
    pairs: int
    difference: float | None
    p_value: float | None
    p_adjusted: float | None
    reason: str | None


Statements = Mapping[str, bool | None]
"""What is true of one pair, by name; None where it is not known."""


def shares_of(pairs: Sequence[Statements], names: Iterable[str], alpha: float) -> dict[str, Share]:
    """Count for each statement the pairs of which it is true, with Wilson's interval.

    Pairs for which it is not known are in no numerator and in no denominator: they are counted.
    """
    check_alpha(alpha)
    return {name: _share([pair.get(name) for pair in pairs], alpha) for name in names}


def _share(values: Sequence[bool | None], alpha: float) -> Share:
    known = [value for value in values if value is not None]
    count, of = sum(known), len(known)
    if not of:
        nothing = undefined("no pair has a verdict", method=METHOD)
        return Share(0, 0, len(values), nothing)
    low, high = proportion_confint(count, of, alpha, method="wilson")
    return Share(count, of, len(values) - of, Estimate(count / of, float(low), float(high), METHOD))


def compared(
    a: Mapping[str, Statements], b: Mapping[str, Statements], names: Sequence[str], alpha: float
) -> list[Difference]:
    """Compare two models on the pairs both have a verdict for: McNemar's exact test, Holm."""
    found = [_difference(a, b, name, alpha) for name in names]
    adjusted = holm([each.p_value for each in found])
    return [
        Difference(f.name, f.pairs, f.difference, f.p_value, p, f.reason)
        for f, p in zip(found, adjusted, strict=True)
    ]


def _difference(
    a: Mapping[str, Statements], b: Mapping[str, Statements], name: str, alpha: float
) -> Difference:
    both = [(a[key].get(name), b[key].get(name)) for key in a.keys() & b.keys()]
    known = [(x, y) for x, y in both if x is not None and y is not None]
    both_true, only_a, only_b = (
        known.count(each) for each in ((True, True), (True, False), (False, True))
    )
    neither = len(known) - both_true - only_a - only_b
    table = paired_table(both_true, only_a, only_b, neither, alpha=alpha)
    return Difference(name, len(known), table.difference, table.exact_p_value, None, table.reason)

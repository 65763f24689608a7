"""Selection or scoring rates with impact ratios, as New York City's Local Law 144 lays them out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

SMALL_SHARE = 0.02
"""A category with a smaller share of the cases may be left out of the ratios, with a reason."""
ROUNDING = 1e-12
"""Relative: a mean of shares that are all 1 may exceed 1 by this much."""


@dataclass(frozen=True)
class Category:
    """One category's cases."""

    name: str
    cases: int
    selected: float
    """Those selected, or those scored above the sample's median; a case that was asked repeatedly
    counts by its share."""


@dataclass(frozen=True)
class ImpactRow:
    """One line of the table."""

    name: str
    cases: int
    rate: float | None
    impact_ratio: float | None
    reason: str | None = None
    """Why a number is not there."""


def impact_rows(
    categories: Sequence[Category], *, small_share: float = SMALL_SHARE
) -> list[ImpactRow]:
    """Return a row for each category: its rate, and its ratio to the highest rate.

    Small categories are listed with their rate, take no part in the ratios, and say why. The
    highest rate is the highest among the others.

    Raises
    ------
    ValueError
        For more selected than cases, or a negative count.

    References
    ----------
    Rules of the City of New York, title 6, sections 5-300 and 5-301.
    """
    for each in categories:
        if not 0 <= each.selected <= each.cases * (1 + ROUNDING):
            raise ValueError(f"{each.name} has {each.selected} selected of {each.cases} cases.")
    total = sum(each.cases for each in categories)
    counted = [each for each in categories if each.cases and each.cases >= small_share * total]
    highest = max((each.selected / each.cases for each in counted), default=0.0)
    return [_row(each, each in counted, highest, small_share) for each in categories]


def _row(each: Category, counted: bool, highest: float, small_share: float) -> ImpactRow:
    if not each.cases:
        return ImpactRow(each.name, 0, None, None, "there are no cases")
    rate = each.selected / each.cases
    if not counted:
        why = f"fewer than {100 * small_share:g} % of the cases: a rate of so few is mostly chance"
        return ImpactRow(each.name, each.cases, rate, None, why)
    if not highest:
        return ImpactRow(each.name, each.cases, rate, None, "nobody is selected in any category")
    return ImpactRow(each.name, each.cases, rate, rate / highest)


def selected_from(
    scores: Sequence[float | None], names: Sequence[str | None], least: float
) -> tuple[list[Category], int]:
    """Return categories with the cases scored at least so high, and the cases of no category.

    Raises
    ------
    ValueError
        There are not as many scores as names.
    """
    return _counted(scores, names, lambda score: score >= least)


def above_median(
    scores: Sequence[float | None], names: Sequence[str | None]
) -> tuple[list[Category], int]:
    """Return categories with the cases above the median of all scores, and uncategorised cases.

    The median is that of every score, also of cases whose category is unknown.

    Raises
    ------
    ValueError
        There are not as many scores as names.
    """
    known = [score for score in scores if score is not None]
    middle = median(known) if known else 0.0
    return _counted(scores, names, lambda score: score > middle)


def _counted(
    scores: Sequence[float | None], names: Sequence[str | None], meets: Callable[[float], bool]
) -> tuple[list[Category], int]:
    cases: dict[str, list[bool]] = {}
    unknown = 0
    for score, name in zip(scores, names, strict=True):
        if name is None:
            unknown += 1
        elif score is not None:
            cases.setdefault(name, []).append(meets(score))
    return [Category(name, len(met), sum(met)) for name, met in sorted(cases.items())], unknown

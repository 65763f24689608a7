"""Selection or scoring rates with impact ratios, as New York City's Local Law 144 lays them out."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum, isfinite
from statistics import median
from typing import Literal

SMALL_SHARE = 0.02
"""The rule lets an auditor leave a category out of the ratios below this share of the data."""
UNKNOWN_LABELS = frozenset(
    {"", "unknown", "not known", "unspecified", "not specified", "undisclosed", "not disclosed"}
    | {"not stated", "n/a", "na", "nan", "null", "none", "missing", "blank", "-", "?"}
)
"""Labels, in any case, that say that a category is not known."""
REFUSALS = (
    "decline", "prefer not", "prefers not", "rather not", "refuse", "choose not", "chose not",
    "do not wish", "i do not wish", "i don't wish", "i prefer not", "i choose not", "no answer",
    "no response", "not answered", "not available", "not provided", "not reported",
)  # fmt: skip
"""Beginnings, in any case, of labels of applicants who do not name a category."""
NO_SELECTION = "no applicant passes the threshold in any category"
NO_SELECTION_IN_LARGE = "no applicant passes the threshold in any category that is large enough"
Measure = Literal["selection", "scoring"]
Labels = Sequence[str | None]


@dataclass(frozen=True)
class ImpactRow:
    """One category, or one combination of categories."""

    categories: tuple[str, ...]
    """One for each dimension of the table."""
    applicants: int
    """At least 1."""
    selected: int
    """Applicants who are selected, or whose score is above the median."""
    rate: float
    """selected / applicants, in [0, 1]."""
    impact_ratio: float | None
    """The rate over the highest rate of the table, in [0, 1]."""
    reason: str | None = None
    """Why the impact ratio is undefined."""


@dataclass(frozen=True)
class ImpactTable:
    """The categories of one dimension, or the combinations of several."""

    dimensions: tuple[str, ...]
    rows: tuple[ImpactRow, ...]
    """Sorted by category."""
    unknown: int
    """Applicants with a score and without a known category in some dimension: in no row."""


@dataclass(frozen=True)
class ImpactTables:
    """Every table of one tool.

    In each table, applicants = those of its rows + unknown + without_score.
    """

    measure: Measure
    """Selection rates, or scoring rates: shares of scores above the median."""
    threshold: float | None
    """The least score of a selection, or the median of all scores; None without any score."""
    applicants: int
    without_score: int
    """Applicants without any score: in no row, and not in the median."""
    unknown_labels: tuple[str, ...]
    """Labels that were taken for an unknown category."""
    small_share: float
    """Smaller categories are left out of the ratios; 0 leaves none out."""
    tables: tuple[ImpactTable, ...]
    """One for each dimension, then for every combination of dimensions."""


def applicant_score(answers: Sequence[float | None]) -> float | None:
    """Return the mean of an applicant's finite scores; None without any.

    The sum is rounded once, so that the mean of equal scores is that score, in any order: rounding
    never makes a score miss a threshold.
    """
    known = [answer for answer in answers if answer is not None and isfinite(answer)]
    return fsum(known) / len(known) if known else None


def unused_unknown_labels(named: Iterable[str], labels: Iterable[str | None]) -> list[str]:
    """Return the labels named as unknown, beyond the usual ones, that no applicant has."""
    present = {label.strip().casefold() for label in labels if label is not None}
    return [
        name for name in named if name.strip().casefold() not in present and not is_unknown(name)
    ]


def is_unknown(label: str, named: Collection[str] = ()) -> bool:
    """Return whether a label names no category, by `named` in lower case or as usual."""
    word = label.strip().casefold()
    return word in named or word in UNKNOWN_LABELS or word.startswith(REFUSALS)


def impact_tables(
    scores: Sequence[float | None],
    labels: Mapping[str, Labels],
    *,
    selected_at_least: float | None = None,
    small_share: float = SMALL_SHARE,
    unknown_labels: Collection[str] = (),
) -> ImpactTables:
    """Return the impact tables of applicants with one score each.

    Parameters
    ----------
    scores
        One for each applicant; None where it is missing.
    labels
        By dimension, the category of each applicant; None where it is unknown.
    selected_at_least
        Scores from here on are selections; 1 if the scores are 0 and 1. Without it, other scores
        have scoring rates: the share of a category's scores above the median of all, those of
        unknown category included.
    small_share
        Categories with a smaller share of a table's applicants keep their rate and take no part in
        its ratios, also not as the highest rate; 0 keeps all in.
    unknown_labels
        Labels in lower case that are not a category, beyond the usual ones (`is_unknown`).

    Raises
    ------
    ValueError
        A dimension has another number of labels than there are scores, or the share is not in
        [0, 1).

    References
    ----------
    Rules of the City of New York, title 6, sections 5-300, 5-301 and 5-303.
    """
    if not 0 <= small_share < 1:
        raise ValueError(f"The share of small categories is {small_share:g}, but not in [0, 1).")
    known = [score for score in scores if score is not None]
    are_decisions = bool(known) and set(known) <= {0, 1}
    least = 1.0 if selected_at_least is None and are_decisions else selected_at_least
    threshold = least if least is not None else median(known) if known else None
    meets = [_meets(score, threshold, strictly=least is None) for score in scores]
    categories = {name: _categories(of, unknown_labels) for name, of in labels.items()}
    sizes = range(1, len(categories) + 1)
    crossed = [names for size in sizes for names in combinations(categories, size)]
    return ImpactTables(
        measure="scoring" if least is None else "selection",
        threshold=threshold,
        applicants=len(scores),
        without_score=len(scores) - len(known),
        unknown_labels=_taken_for_unknown(labels, categories),
        small_share=small_share,
        tables=tuple(
            _table(names, [categories[name] for name in names], meets, small_share)
            for names in crossed
        ),
    )


def _meets(score: float | None, threshold: float | None, *, strictly: bool) -> bool | None:
    """Return whether a score counts; None without a score."""
    if score is None or threshold is None:
        return None
    return score > threshold if strictly else score >= threshold


def _categories(labels: Labels, unknown_labels: Collection[str]) -> list[str | None]:
    return [
        None if label is None or is_unknown(label, unknown_labels) else label for label in labels
    ]


def _taken_for_unknown(
    labels: Mapping[str, Labels], categories: Mapping[str, Sequence[str | None]]
) -> tuple[str, ...]:
    both = (pair for name in labels for pair in zip(labels[name], categories[name], strict=True))
    return tuple(sorted({label for label, category in both if label and category is None}))


def _table(
    dimensions: tuple[str, ...],
    columns: Sequence[Sequence[str | None]],
    meets: Sequence[bool | None],
    small_share: float,
) -> ImpactTable:
    by_category: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    unknown = 0
    for selected, *levels in zip(meets, *columns, strict=True):
        if selected is None:
            continue
        categories = tuple(level for level in levels if level is not None)
        if len(categories) < len(levels):
            unknown += 1
        else:
            by_category[categories].append(selected)
    return ImpactTable(dimensions, tuple(_rows(by_category, small_share)), unknown)


def _rows(
    by_category: Mapping[tuple[str, ...], Sequence[bool]], small_share: float
) -> list[ImpactRow]:
    total = sum(map(len, by_category.values()))
    rates = {name: sum(chosen) / len(chosen) for name, chosen in by_category.items()}
    # A share and its quotient are rounded alike; a product may miss a boundary that is met exactly.
    large = {name for name, chosen in by_category.items() if len(chosen) / total >= small_share}
    highest = max((rates[name] for name in large), default=0.0)
    no_selection = NO_SELECTION_IN_LARGE if any(rates.values()) else NO_SELECTION
    rows = []
    for name, chosen in sorted(by_category.items()):
        reason = no_selection if not highest else None
        if name not in large:
            reason = f"left out: under {100 * small_share:g} % of {total} applicants"
        ratio = rates[name] / highest if reason is None else None
        rows.append(ImpactRow(name, len(chosen), sum(chosen), rates[name], ratio, reason))
    return rows

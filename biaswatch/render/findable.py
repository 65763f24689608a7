"""Gaps found by studies of this size, and the sample for smaller gaps."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from biaswatch.render.table_rows import Row, comparable_p, is_shift
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.contracts import Claim
from biaswatch.shared.formatting import INCONCLUSIVE, number
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.stats.comparisons.planned_power import POWER, findable_gap


def with_findable(rows: Sequence[Row], seen: Observations, plan: ComparisonPlan) -> list[Row]:
    """Return comparisons with the gap found by about 80 % of such studies.

    None for error rates, for fixed prompts, without a test or an interval, and beyond the range.
    """
    widest = {name: _width(seen, index) for index, name in enumerate(seen.features)}
    if seen.claimed(plan.claim) is Claim.BANK:
        widest = {}
    family = sum(row["feature"] in widest and comparable_p(row) is not None for row in rows)
    return [
        row | {"findable_gap": _findable(row, widest.get(row["feature"]), family, plan)}
        for row in rows
    ]


def _width(seen: Observations, feature: int) -> float:
    """Return the widest range of a feature; infinite where unknown."""
    ranges = seen.bounds(feature)
    return max((inf if ends is None else ends[1] - ends[0] for ends in ranges), default=inf)


def _findable(row: Row, width: float | None, family: int, plan: ComparisonPlan) -> float | None:
    """Return the gap found by about 80 % of such studies; None if unknown."""
    ends = row["summary_ci"]
    if width is None or ends is None or comparable_p(row) is None or ends[0] == ends[1]:
        return None
    gap, _ = findable_gap(
        (ends[1] - ends[0]) / 2,
        plan.tolerance,
        alpha=plan.alpha,
        family=family,
        family_before=family if plan.single_step or is_shift(row) else 1,
    )
    return gap if gap < width else None


def findable_sentences(rows: Sequence[Row], about: Mapping[str, Any]) -> Iterator[str]:
    """Yield for each feature what its strongest inconclusive comparison could have found."""
    sample = "sets" if about["set"] else "units" if about["unit"] else "rows"
    many = " and ".join([sample, *(f"values of {name}" for name in about["random"])])
    gaps: dict[str, float] = {}
    for row in rows:
        if row["summary"] == INCONCLUSIVE and row["findable_gap"] is not None:
            gaps.setdefault(row["feature"], row["findable_gap"])
    for feature, gap in gaps.items():
        smaller = (gap + about["tolerance"]) / 2
        yield (
            f"{words(feature)}: about {number(100 * POWER)} % of studies of this size find a gap of"
            f" {number(gap, 2)}; with four times as many {many}, one of {number(smaller, 2)}."
        )

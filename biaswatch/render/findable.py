"""The gaps that studies of this size find, and what finds smaller ones."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from biaswatch.render.table_rows import Row, is_shift
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.contracts import Claim
from biaswatch.shared.formatting import INCONCLUSIVE, number
from biaswatch.shared.presentation.tables import words
from biaswatch.shared.stats.comparisons.planned_power import POWER, findable_gap


def with_findable(rows: Sequence[Row], seen: Observations, plan: ComparisonPlan) -> list[Row]:
    """Return comparisons with the gap that about 80 % of studies of this size find.

    None for error rates, for fixed prompts, without an interval, and beyond the range of values.
    """
    widest = {name: _width(seen, index) for index, name in enumerate(seen.features)}
    family = sum(row["feature"] in widest and row["p_value"] is not None for row in rows)
    if seen.claimed(plan.claim) is Claim.BANK:
        widest = {}
    gaps = (_findable(row, family, plan) for row in rows)
    return [
        row | {"findable_gap": gap if gap < widest.get(row["feature"], 0.0) else None}
        for row, gap in zip(rows, gaps, strict=True)
    ]


def _width(seen: Observations, feature: int) -> float:
    ranges = seen.bounds(feature)
    return max((inf if ends is None else ends[1] - ends[0] for ends in ranges), default=inf)


def _findable(row: Row, family: int, plan: ComparisonPlan) -> float:
    """Return the gap of one comparison; infinity without an interval."""
    low, high = row["summary_ci"] or (0.0, 0.0)
    if low == high:
        return inf
    is_shared = plan.single_step or is_shift(row)
    gap, _ = findable_gap(
        (high - low) / 2,
        plan.tolerance,
        alpha=plan.alpha,
        family=family,
        family_before=family if is_shared else 1,
    )
    return gap


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

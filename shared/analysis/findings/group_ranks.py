"""Ranks of groups in a run: by means, and by the comparisons of all pairs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from biaswatch.shared.analysis.findings.group_statistics import GroupingDescription
from biaswatch.shared.contracts import Gap, GroupSummary
from biaswatch.shared.lookup import first
from biaswatch.shared.stats.estimate import Estimate

RANKS_BY_GAPS = "simultaneous intervals of the comparisons"


def with_ranks(
    groups: tuple[GroupSummary, ...], described: GroupingDescription, feature: str
) -> tuple[GroupSummary, ...]:
    """Add each group's shrunken mean and its rank, where there are three groups or more."""
    updates = {}
    for mean in described.means:
        if mean.feature == feature:
            shrunken = Estimate(
                mean.shrunken_mean,
                mean.shrunken_low,
                mean.shrunken_high,
                mean.shrunken_method,
                mean.shrunken_reason,
            )
            rank = Estimate(
                value=mean.rank, low=mean.rank_low, high=mean.rank_high, method=mean.rank_method,
                reason=None if mean.rank is not None else mean.shrunken_reason,
            )  # fmt: skip
            updates[first(mean.group.values(), "A group has no level.")] = {
                "shrunken_mean": shrunken,
                "rank": rank,
            }
    return tuple(group.model_copy(update=updates.get(group.group, {})) for group in groups)


def ranked_by_gaps(
    groups: tuple[GroupSummary, ...], gaps: Sequence[Gap]
) -> tuple[GroupSummary, ...]:
    """Replace the possible ranks by those of the comparisons, where all pairs are compared."""
    ranked = {group.group for group in groups if group.rank and group.rank.value is not None}
    compared = [gap for gap in gaps if gap.a in ranked and gap.b in ranked]
    intervals = [
        (gap.a, gap.b, low, high)
        for gap in compared
        if (low := gap.summary_gap.low) is not None and (high := gap.summary_gap.high) is not None
    ]
    pairs = {frozenset((a, b)) for a, b, _, _ in intervals}
    if not all(frozenset(pair) in pairs for pair in combinations(ranked, 2)):
        return groups
    higher = [(a, b) for a, b, low, _ in intervals if low > 0]
    higher += [(b, a) for a, b, _, high in intervals if high < 0]
    above, below = Counter(b for _, b in higher), Counter(a for a, _ in higher)

    def with_rank(group: GroupSummary) -> GroupSummary:
        if group.rank is None or group.group not in ranked:
            return group
        low, high = 1 + above[group.group], len(ranked) - below[group.group]
        rank = replace(group.rank, low=low, high=high, method=RANKS_BY_GAPS)
        return group.model_copy(update={"rank": rank})

    return tuple(map(with_rank, groups))

"""Findings in sentences: what is concluded of each gap, and what is worth saying beside it."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from biaswatch.render.columns import estimate_text
from shared.contracts import Diagnosis, Gap, Verdict
from shared.formatting import number, p_equals

NOTHING_TO_COMPARE = "There is nothing to compare: no probe names a group."


class FromTarget(Protocol):
    """Whatever was found of one target under one scaffold."""

    @property
    def target(self) -> str:
        """Who was asked."""

    @property
    def scaffold(self) -> str:
        """How."""


def target_name(found: FromTarget) -> str:
    """Return the target, and the scaffold where it is not the plain question."""
    return found.target + ("" if found.scaffold == "direct" else f", {found.scaffold}")


def conclusions(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return what is concluded of each gap, in words and numbers."""
    return [
        f"{target_name(diagnosis)}: {gap.a} against {gap.b}, {diagnosis.feature}:"
        f" {_conclusion(gap)}"
        for diagnosis in diagnoses
        for gap in diagnosis.gaps
    ]


def _conclusion(gap: Gap) -> str:
    found = estimate_text(gap.gap)
    if gap.verdict is Verdict.DISPARITY:
        return f"a disparity of {found}, adjusted {p_equals(gap.comparable_p(gap.p_adjusted), 3)}."
    if gap.verdict is Verdict.NO_DISPARITY:
        return f"no disparity beyond the tolerance ({found})."
    return f"not enough evidence for a disparity ({found})."


def dimension_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Return what concerns all groups of a dimension together."""
    where = f"{diagnosis.feature} by {diagnosis.dimension}"
    disparities = {each.metric: each for each in diagnosis.disparities}
    if (spread := disparities.get("Max-Min")) and spread.value is not None:
        yield (
            f"{where}: the groups span {number(spread.value)}; random labels span"
            f" {number(spread.null_median)} half of the time,"
            f" {p_equals(spread.p_value)}."
        )
    yield from gap_notes(diagnosis)
    if (missing := diagnosis.missing) and missing.p_value is not None:
        yield (
            f"{where}: missing answers alike in all groups? {p_equals(missing.p_value)}"
            f" ({missing.method})."
        )


def gap_notes(diagnosis: Diagnosis) -> Iterator[str]:
    """Return what is shown beside gaps and concludes nothing."""
    for gap in diagnosis.gaps:
        if by_set := gap.by_set:
            tested = by_set.low is not None
            by_set_p = gap.comparable_p(gap.by_set_p) if tested else gap.by_set_p
            rank_p = gap.comparable_p(gap.mann_whitney_p)
            yield (
                f"{diagnosis.feature}, {gap.a} - {gap.b}: with sets as units"
                f" {estimate_text(by_set)}, {p_equals(by_set_p)}; rank test over"
                f" pooled answers {p_equals(rank_p)} (the convention of"
                " hiring studies: it takes repeats as independent)."
            )
    for gap in diagnosis.gaps:
        if own := gap.instrument:
            yield (
                f"{diagnosis.feature}, {gap.a} - {gap.b}: of this, the extractor"
                f" {diagnosis.extractor} makes {estimate_text(own)} alone, on sentences that"
                " differ in the name and nothing else."
            )

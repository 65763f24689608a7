"""What a run's record of a gap holds: the family's correction, missing answers, families."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from biaswatch.shared.analysis.findings.diagnosis import diagnose
from biaswatch.shared.analysis.findings.gap_samples import FEW_CLUSTERS
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
from biaswatch.shared.analysis.findings.growing_columns import folded
from biaswatch.shared.analysis.findings.measured_responses import MeasuredResponse
from biaswatch.shared.contracts import Gap, Verdict
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.multiplicity import adjust

PLAN = AnalysisPlan(permutations=0)


def answered(
    values: Sequence[float | None], groups: Sequence[str], sets: Sequence[str | None] | None = None
) -> list[MeasuredResponse]:
    return [
        MeasuredResponse(
            target="t", scaffold="direct", unit=f"p{n}", set=sets[n] if sets else None,
            groups={"race": group}, extractor="rating", values={"rating": value},
            why_missing="refused" if value is None else None,
        )
        for n, (value, group) in enumerate(zip(values, groups, strict=True))
    ]  # fmt: skip


def gaps_of(cases: Sequence[MeasuredResponse], plan: AnalysisPlan = PLAN) -> tuple[Gap, ...]:
    [finding] = diagnose(folded(cases), plan, np.random.default_rng(1))
    return finding.gaps


def test_the_interval_and_both_p_values_of_a_gap_are_corrected_for_its_family() -> None:
    rng = np.random.default_rng(4)
    values = rng.uniform(0, 1, 90)
    gaps = gaps_of(answered(values.tolist(), ["a", "b", "c"] * 30), replace(PLAN, tolerance=0.3))
    bounded = [values[place::3] for place in range(3)]
    expected = [
        compare_samples(
            ComparedSamples(only_a=bounded[a], only_b=bounded[b], bounds=(0.0, 1.0)),
            alpha=0.05, tolerance=0.3, family=3,
        )
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]  # fmt: skip
    adjusted = adjust([item.p_equivalence for item in expected], "bonferroni")
    for gap, one, equivalence in zip(gaps, expected, adjusted, strict=True):
        assert gap.by_itself is not None
        assert (gap.gap.low, gap.gap.high) == pytest.approx(
            (one.simultaneous.low, one.simultaneous.high)
        )
        assert (gap.by_itself.low, gap.by_itself.high) == pytest.approx(
            (one.marginal.low, one.marginal.high)
        )
        assert gap.p_value == pytest.approx(one.p_disparity)
        assert gap.p_adjusted == pytest.approx(min(1.0, 3 * (one.p_disparity or 1.0)))
        assert gap.p_equivalence == pytest.approx(equivalence)
        assert gap.gap.method.endswith("one of 3 comparisons")


def test_a_disparity_says_whether_the_missing_answers_could_undo_it() -> None:
    values = [1.0] * 60 + [0.0] * 60
    groups = ["a"] * 60 + ["b"] * 60
    [whole] = gaps_of(answered(values, groups))
    [some] = gaps_of(answered([None, *values[1:]], groups))
    [many] = gaps_of(answered([*values[:3], *[None] * 57, *values[60:]], groups))
    for gap, survives in ((whole, True), (some, True), (many, False)):
        assert gap.verdict is Verdict.DISPARITY
        assert gap.survives_missing is survives
    assert "cannot undo it" in (some.reason or "")
    assert "could undo it" in (many.reason or "")


def test_no_disparity_says_whether_the_missing_answers_could_undo_it() -> None:
    values = [0.0, 1.0] * 300
    groups = ["a"] * 300 + ["b"] * 300
    plan = replace(PLAN, tolerance=0.2)
    [some] = gaps_of(answered([None, *values[1:]], groups), plan)
    [many] = gaps_of(answered([*[None] * 100, *values[100:]], groups), plan)
    for gap, survives in ((some, True), (many, False)):
        assert gap.verdict is Verdict.NO_DISPARITY
        assert gap.survives_missing is survives


def test_without_a_verdict_nothing_is_said_of_missing_answers() -> None:
    [gap] = gaps_of(answered([None, 0.0, 1.0, 1.0, 0.0, 1.0], ["a"] * 3 + ["b"] * 3))
    assert gap.verdict is Verdict.INCONCLUSIVE
    assert gap.survives_missing is None


@pytest.mark.parametrize("alone", [0, 1, 2, 4])
def test_few_prompts_without_a_twin_do_not_undo_sets_of_several_prompts(alone: int) -> None:
    """Each of 30 sets has three prompts a side; a few prompts more have no set."""
    values, groups, sets = [], list[str](), list[str | None]()
    rng = np.random.default_rng(4)
    for n in range(30):
        for group in "aaabbb":
            values.append(0.4 * (group == "a") + 0.5 * rng.random())
            groups.append(group)
            sets.append(f"s{n}")
    values += [0.5] * (2 * alone)
    groups += [*["a"] * alone, *["b"] * alone]
    sets += [None] * (2 * alone)
    [gap] = gaps_of(answered(values, groups, sets))
    assert gap.verdict is Verdict.DISPARITY
    assert gap.gap.value == pytest.approx(0.4, abs=0.05)


def test_of_families_of_prompts_five_a_side_are_needed() -> None:
    """Sets that lie within one group are families, and each is one unit."""
    values = np.random.default_rng(3).uniform(0, 1, 80).tolist()
    groups = ["a"] * 40 + ["b"] * 40
    few = [f"{group}{n // 10}" for n, group in enumerate(groups)]
    many = [f"{group}{n // 8}" for n, group in enumerate(groups)]
    [gap] = gaps_of(answered(values, groups, few))
    assert (gap.gap.low, gap.p_value, gap.gap.reason) == (None, None, FEW_CLUSTERS)
    assert gap.verdict is Verdict.INCONCLUSIVE
    [gap] = gaps_of(answered(values, groups, many))
    assert gap.p_value is not None

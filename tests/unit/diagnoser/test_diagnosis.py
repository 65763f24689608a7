"""The diagnosis of a run: units, sets, absences, families, and what changes nothing."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    MeasuredResponse,
    RunFinding,
    diagnose,
    folded,
    gap_statistics,
)
from biaswatch.shared.analysis.findings.gap_statistics import GAP_STATISTICS
from biaswatch.shared.contracts import Claim, Gap, Verdict
from biaswatch.shared.formatting import TOO_SMALL

PLAN = AnalysisPlan(measured={"rating": ("rating",)}, selected_at_least={"rating": 3.0})
RATED_BANK = replace(PLAN, claim=Claim.BANK, ranges={"rating": (1.0, 5.0)})


def cases_of(
    values: Sequence[float | None], groups: Sequence[str], *, sets: bool = False, repeats: int = 1
) -> list[MeasuredResponse]:
    return [
        MeasuredResponse(
            target="t",
            scaffold="direct",
            unit=f"p{n // repeats}",
            set=f"s{n // repeats // 2}" if sets else None,
            groups={"race": group},
            extractor="rating",
            values={} if value is None else {"rating": value},
            why_missing="refused" if value is None else None,
        )
        for n, (value, group) in enumerate(zip(values, groups, strict=True))
    ]


def diagnosed(cases: Sequence[MeasuredResponse], plan: AnalysisPlan = PLAN) -> list[RunFinding]:
    return diagnose(folded(cases), plan, np.random.default_rng(1))


def test_twins_are_compared_within_their_sets() -> None:
    rng = np.random.default_rng(2)
    base = np.repeat(rng.normal(3, 2, 20), 2)
    values = base + np.tile([0.0, 0.3], 20) + rng.normal(0, 0.1, 40)
    [finding] = diagnosed(cases_of(values.tolist(), ["a", "b"] * 20, sets=True))
    [gap] = finding.gaps
    test = stats.ttest_rel(values[::2], values[1::2])
    assert gap.p_value is not None
    assert test.pvalue < gap.p_value < 1e-4  # the signs of twenty pairs have to agree
    assert gap.verdict is Verdict.DISPARITY


def test_repeats_of_a_prompt_are_one_unit() -> None:
    values = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 5.0]
    [finding] = diagnosed(cases_of(values, ["a"] * 6 + ["b"] * 6, repeats=3))
    assert [group.units for group in finding.groups] == [2, 2]
    assert [group.responses for group in finding.groups] == [6, 6]
    p_value = finding.gaps[0].p_value
    assert p_value is not None
    assert p_value > 0.05  # two prompts a side say little, however often they were asked


def test_absent_answers_are_counted_by_group_and_reason_and_tested() -> None:
    values = [None, None, None, None, None, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, float("inf")]
    [finding] = diagnosed(cases_of(values, ["a"] * 6 + ["b"] * 6))
    a, b = finding.groups
    assert a.missing_reasons == {"refused": 5}
    assert b.missing_reasons == {"not finite, or beyond 1e150": 1}
    expected = stats.fisher_exact([[5, 1], [1, 5]]).pvalue
    assert finding.missing is not None
    assert finding.missing.p_value == pytest.approx(expected)


@pytest.mark.parametrize("huge", [1e200, -1.7e308])
def test_a_value_too_large_to_be_squared_is_missing_and_the_others_are_compared(
    huge: float,
) -> None:
    values = [1.0, 2.0, 3.0, huge, 2.0, 3.0, 1.0, 2.0]
    [finding] = diagnosed(cases_of(values, ["a"] * 4 + ["b"] * 4))
    [without] = diagnosed(cases_of([*values[:3], None, *values[4:]], ["a"] * 4 + ["b"] * 4))
    assert finding.groups[0].missing_reasons == {"not finite, or beyond 1e150": 1}
    assert finding.gaps == without.gaps


def test_an_extractor_that_could_measure_nothing_still_has_its_finding() -> None:
    [finding] = diagnosed(cases_of([None] * 4, ["a", "a", "b", "b"]))
    assert [group.missing for group in finding.groups] == [2, 2]
    assert finding.gaps[0].verdict is Verdict.INCONCLUSIVE
    assert finding.gaps[0].gap.reason == "a group has no values"


def test_the_family_is_every_comparison_of_the_run() -> None:
    rng = np.random.default_rng(3)
    cases = cases_of(rng.normal(size=60).tolist(), ["a", "b", "c"] * 20)
    other = [replace(case, target="u", groups={"race": case.groups["race"]}) for case in cases]
    result = diagnosed([*cases, *other])
    assert [finding.family for finding in result] == [6, 6]


def test_three_groups_have_their_disparity_with_what_chance_gives() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=90) + np.tile([0.0, 0.0, 2.0], 30)
    [finding] = diagnosed(cases_of(values.tolist(), ["a", "b", "c"] * 30))
    apart = {
        (disparity.statistic, disparity.metric): disparity for disparity in finding.disparities
    }
    assert apart["mean", "Max"].group == "c"
    gap = apart["mean", "Max-Min"]
    assert gap.null_median is not None
    assert gap.value is not None
    assert gap.null_median < gap.value < 3


def test_a_run_hands_out_no_labels_for_a_p_value_that_nobody_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    relabelled: list[object] = []
    monkeypatch.setattr(
        gap_statistics, "studentised_exchange_p", lambda *given: relabelled.append(given)
    )
    values = np.random.default_rng(7).normal(size=60).tolist()
    [finding] = diagnosed(cases_of(values, ["a", "b"] * 30))
    assert finding.gaps[0].p_value is not None
    assert not relabelled


def test_a_case_outside_a_dimension_belongs_to_none_of_its_groups() -> None:
    cases = cases_of([1.0, 2.0, 3.0, 4.0], ["a", "a", "b", "b"])
    cases.append(replace(cases[0], unit="p9", groups={"gender": "f"}))
    result = {finding.key.dimension: finding for finding in diagnosed(cases)}
    assert [group.responses for group in result["race"].groups] == [2, 2]
    assert [group.responses for group in result["gender"].groups] == [1]


numbers = st.lists(st.floats(-1e3, 1e3), min_size=12, max_size=12)


@settings(max_examples=25, deadline=None)
@given(numbers, st.permutations(range(12)))
def test_the_order_of_answers_changes_nothing(values: list[float], order: list[int]) -> None:
    cases = cases_of(values, ["a", "b", "c"] * 4)
    first = diagnosed(cases, replace(PLAN, permutations=0))
    second = diagnosed([cases[n] for n in order], replace(PLAN, permutations=0))
    for one, other in zip(first[0].gaps, second[0].gaps, strict=True):
        assert one.gap.value == pytest.approx(other.gap.value, abs=1e-9)
        assert one.verdict == other.verdict


@settings(max_examples=25, deadline=None)
@given(numbers, st.floats(-100, 100))
def test_a_constant_moves_means_and_leaves_gaps(values: list[float], constant: float) -> None:
    plan = replace(PLAN, permutations=0)
    [first] = diagnosed(cases_of(values, ["a", "b"] * 6), plan)
    [second] = diagnosed(cases_of([v + constant for v in values], ["a", "b"] * 6), plan)
    assert second.gaps[0].gap.value == pytest.approx(first.gaps[0].gap.value, abs=1e-6)
    for one, other in zip(first.groups, second.groups, strict=True):
        assert other.mean.value == pytest.approx((one.mean.value or 0) + constant, abs=1e-6)


def test_on_a_bank_answers_are_units_and_the_sets_stand_beside() -> None:
    rng = np.random.default_rng(6)
    level, shift = np.repeat([1.0, 2.0, 4.0], 20), np.tile(np.repeat([0.0, 0.6], 10), 3)
    values = level + shift + rng.normal(0, 0.4, 60)
    cases = cases_of(values.tolist(), (["a"] * 10 + ["b"] * 10) * 3, sets=True, repeats=10)
    [finding] = diagnosed(cases, replace(PLAN, claim=Claim.BANK))
    [gap] = finding.gaps
    assert gap.gap.method == "t over answers within prompts"
    for group, label in zip(finding.groups, "ab", strict=True):
        ratings = [case.values["rating"] for case in cases if case.groups["race"] == label]
        assert group.mean.value == pytest.approx(np.mean(ratings))  # type: ignore[arg-type]
        assert group.mean.high is not None
        assert group.mean.value is not None
        assert group.mean.high - group.mean.value < 0.3  # prompts lie a point apart
    assert gap.verdict is Verdict.DISPARITY
    assert gap.by_set is not None
    assert gap.by_set.value == pytest.approx(gap.gap.value)
    assert gap.by_set.method == "Student's t and relabelling, over pairs"
    test = stats.mannwhitneyu(*(values[shift == s] for s in (0.0, 0.6)))
    assert gap.mann_whitney_p == pytest.approx(test.pvalue)


def test_every_statistic_of_the_registry_is_in_the_record_of_a_gap() -> None:
    values = np.random.default_rng(9).normal(size=60).tolist()
    gap = gap_of(cases_of(values, ["a", "b"] * 30)).model_dump()
    named = GAP_STATISTICS.keys() - {"permutation_p", "constant_shift"}  # of tables, of twins
    assert {name for name in named if gap[name] is None} == set()


def gap_of(cases: Sequence[MeasuredResponse], plan: AnalysisPlan = PLAN) -> Gap:
    [finding] = diagnosed(cases, plan)
    return finding.gaps[0]


@pytest.mark.parametrize("tolerance", [0.0, 0.5])
def test_twins_that_always_differ_alike_are_a_disparity(tolerance: float) -> None:
    values = np.repeat(np.arange(300) % 4, 2) + np.tile([1.0, 0.0], 300)
    cases = cases_of(values.tolist(), ["a", "b"] * 300, sets=True)
    gap = gap_of(cases, replace(PLAN, tolerance=tolerance))
    assert gap.verdict is Verdict.DISPARITY
    assert gap.p_value is not None
    assert gap.p_value < 1e-10
    assert gap.gap.value == 1.0
    assert gap.gap.low is not None
    assert tolerance < gap.gap.low < 1


@pytest.mark.parametrize("tolerance", [0.0, 0.5])
def test_all_of_one_group_selected_and_none_of_the_other_is_a_disparity(tolerance: float) -> None:
    gap = gap_of(cases_of([1.0, 0.0] * 40, ["a", "b"] * 40), replace(PLAN, tolerance=tolerance))
    assert gap.verdict is Verdict.DISPARITY
    assert gap.gap.low is not None
    assert 0.7 < gap.gap.low < 1


def test_none_of_a_small_group_against_a_few_of_a_large_one_is_no_disparity() -> None:
    values = [0.0] * 25 + [1.0] * 70 + [0.0] * 930
    gap = gap_of(cases_of(values, ["a"] * 25 + ["b"] * 1000))
    assert gap.verdict is Verdict.INCONCLUSIVE
    assert gap.p_value is not None
    assert gap.p_value > 0.1
    wide = gap_of(cases_of(values, ["a"] * 25 + ["b"] * 1000), replace(PLAN, tolerance=0.04))
    assert wide.verdict is Verdict.INCONCLUSIVE


def test_three_units_against_four_are_decided_by_all_relabellings() -> None:
    gap = gap_of(cases_of([1.0, 2.0, 3.0, 91.0, 92.0, 93.0, 94.0], ["a"] * 3 + ["b"] * 4))
    assert gap.p_value == pytest.approx(2 / 35)
    assert gap.verdict is Verdict.INCONCLUSIVE


def test_a_steady_group_is_not_known_to_be_within_the_tolerance() -> None:
    values = [4.0] * 12 + [3.0, 4.0, 5.0, 4.0] * 100
    gap = gap_of(cases_of(values, ["a"] * 12 + ["b"] * 400), replace(PLAN, tolerance=0.5))
    assert gap.verdict is Verdict.INCONCLUSIVE
    assert gap.gap.low is not None
    assert gap.gap.low < -0.5  # one of 1 to 5 in twelve could well be unseen


def bank_cases(repeats: int) -> list[MeasuredResponse]:
    values = np.repeat([2.0, 3.0, 5.0, 5.0], repeats).tolist()
    groups = np.repeat(["a", "b", "a", "b"], repeats).tolist()
    return cases_of(values, groups, sets=True, repeats=repeats)


def test_a_gap_of_a_bank_whose_answers_never_vary_is_a_disparity_for_this_bank() -> None:
    gap = gap_of(bank_cases(16), RATED_BANK)
    assert (gap.verdict, gap.gap.value) == (Verdict.DISPARITY, -0.5)
    assert (gap.same_treatment, gap.summary.value) == ("differs", "disparity")
    assert (gap.gap.low, gap.gap.high) == (None, None)
    assert gap.reason == "the answers to these prompts never vary"
    assert gap_of(bank_cases(1), RATED_BANK).verdict is Verdict.INCONCLUSIVE
    within = gap_of(bank_cases(16), replace(RATED_BANK, tolerance=0.6))
    assert within.p_same_treatment == gap.p_same_treatment  # at 0, whatever the tolerance
    assert within.verdict is Verdict.INCONCLUSIVE


def test_a_gap_of_a_bank_is_not_known_by_the_range_that_was_seen() -> None:
    seen = gap_of(bank_cases(16), replace(PLAN, claim=Claim.BANK))
    assert (seen.verdict, seen.p_value) == (Verdict.INCONCLUSIVE, 1.0)
    assert "declare the range" in (seen.reason or "")
    wide = gap_of(bank_cases(16), replace(RATED_BANK, ranges={"rating": (0.0, 100.0)}))
    assert wide.verdict is Verdict.INCONCLUSIVE


def test_a_gap_of_one_set_answered_twice_is_not_known_since_chance_makes_it_too() -> None:
    gap = gap_of(bank_cases(2), RATED_BANK)
    assert gap.verdict is Verdict.INCONCLUSIVE
    assert gap.p_value is not None
    assert gap.p_value > 0.125
    assert gap.gap.low is not None
    assert gap.gap.low < 0 < (gap.gap.high or 0.0)


def test_on_a_bank_families_within_a_group_are_prompts_like_any_others() -> None:
    rng = np.random.default_rng(5)
    values = [float(rng.integers(1, 4) + (n < 60)) for n in range(120)]
    cases = cases_of(values, ["a"] * 60 + ["b"] * 60, repeats=3)
    families = [
        replace(case, set=f"{case.groups['race']}{n // 12}") for n, case in enumerate(cases)
    ]
    plan = replace(PLAN, claim=Claim.BANK)
    result, expected = gap_of(families, plan), gap_of(cases, plan)
    assert result.gap.low is not None
    assert (result.gap, result.p_value, result.verdict) == (
        expected.gap, expected.p_value, expected.verdict
    )  # fmt: skip


def test_a_steady_group_of_a_bank_borrows_no_certainty_from_the_other() -> None:
    values = [0.0] * 25 + [1.0] * 70 + [0.0] * 930
    cases = [
        replace(case, unit=case.groups["race"])
        for case in cases_of(values, ["a"] * 25 + ["b"] * 1000)
    ]
    gap = gap_of(cases, replace(PLAN, claim=Claim.BANK))
    assert gap.verdict is Verdict.INCONCLUSIVE
    assert gap.p_value is not None
    assert gap.p_value > 0.1


def test_a_p_value_too_small_to_be_computed_is_null_with_its_reason() -> None:
    rng = np.random.default_rng(9)
    values = rng.normal(size=2000) * 1e-3 + np.repeat([0.0, 1000.0], 1000)
    [finding] = diagnosed(cases_of(values.tolist(), ["a"] * 1000 + ["b"] * 1000))
    [gap] = finding.gaps
    assert (gap.p_value, gap.p_adjusted, gap.p_reason) == (None, None, TOO_SMALL)
    assert gap.comparable_p(gap.p_adjusted) == 0
    assert gap.verdict is Verdict.DISPARITY

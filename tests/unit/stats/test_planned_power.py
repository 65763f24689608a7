"""Planned power: assumed answers have what was assumed; the smallest number is found."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.assumed_answers import AssumedAnswers
from biaswatch.shared.stats.comparisons.planned_power import (
    SufficientSize,
    findable_gap,
    repeated_half_width,
    simulated_power,
    smallest_enough,
)
from biaswatch.shared.stats.comparisons.simulated_studies import PlannedTest, StudyShape
from biaswatch.shared.stats.estimate import Question

YES_OR_NO = AssumedAnswers(0.6, 0.4, None, 0.1, 0.5, (0.0, 1.0))


@pytest.mark.parametrize(
    "answers",
    [
        AssumedAnswers(3.5, 3.0, 0.6, 0.5, 0.7, (1.0, 5.0), 0.1),
        YES_OR_NO,
        AssumedAnswers(210, 200, 12, 8, 0.7),
    ],
)
def test_answers_have_the_assumed_mean_deviations_and_missing_share(
    answers: AssumedAnswers,
) -> None:
    rng = np.random.default_rng(3)
    drawn = answers.drawn(answers.mean_a, rng.standard_normal((4000, 1)), 40, rng)
    of_prompts, within = np.nanmean(drawn, axis=2), np.nanvar(drawn, axis=2, ddof=1)
    span = np.ptp(answers.bounds) if answers.bounds else 100
    assert np.nanmean(drawn) == pytest.approx(answers.mean_a, abs=0.01 * span)
    spread = np.sqrt(of_prompts.var() - within.mean() / 40 / (1 - answers.missing))
    assert spread == pytest.approx(answers.between_sd, rel=0.05)
    if answers.sd is not None:
        rounding = 1 / 12 if answers.is_rated else 0.0
        assert np.sqrt(within.mean() - rounding) == pytest.approx(answers.sd, rel=0.03)
    assert np.isnan(drawn).mean() == pytest.approx(answers.missing, abs=0.005)
    if answers.bounds is not None:
        assert answers.bounds[0] <= np.nanmin(drawn) <= np.nanmax(drawn) <= answers.bounds[1]


def test_the_same_seed_has_the_same_power_and_a_larger_family_less() -> None:
    one, again, many = (
        simulated_power(StudyShape(80), 1, YES_OR_NO, PlannedTest(family=family), runs=100)
        for family in (1, 1, 100)
    )
    assert one == again > many


def test_without_a_gap_beyond_the_tolerance_hardly_anything_is_found() -> None:
    test = PlannedTest(tolerance=0.2)
    assert simulated_power(StudyShape(60), 2, YES_OR_NO, test, runs=200) < 0.05


def test_families_of_prompts_are_planned_for_as_they_are_judged() -> None:
    """The prompts of a family are averaged; fewer than five families a side are never enough."""
    answers = AssumedAnswers(0.6, 0.3, None, 0.1, 0.2, (0.0, 1.0))

    def power(shape: StudyShape) -> float:
        return simulated_power(shape, 1, answers, PlannedTest(), runs=100)

    families = StudyShape(0, 10, 10, family_a=10, family_b=10)
    assert power(families) > power(StudyShape(0, 10, 10)) + 0.3
    assert power(replace(families, only_a=4)) == 0.0


def test_a_study_of_another_size_has_the_same_structure() -> None:
    shape = StudyShape(10, 4, 6, 2, 3)
    assert shape.scaled(25) == StudyShape(25, 10, 15, 2, 3)
    assert StudyShape(0, 20, 60).scaled(5) == StudyShape(0, 5, 15)


@pytest.mark.parametrize("needed", [2, 3, 17, 900])
def test_the_smallest_number_that_is_enough_is_found_to_four_percent(needed: int) -> None:
    plan = smallest_enough(lambda number: 0.9 if number >= needed else 0.1)
    assert plan is not None
    assert plan.power == 0.9
    assert needed <= plan.number <= max(needed * 1.05, needed)


def test_what_is_never_enough_has_no_number() -> None:
    assert smallest_enough(lambda _: 0.5, furthest=64) is None
    assert smallest_enough(lambda _: 0.9) == SufficientSize(2, 0.9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"set_correlation": 1.2}, "correlation of twins"),
        ({"missing": 1.0}, "missing answers is below 1"),
        ({"between_sd": -0.1}, "at least 0"),
        ({"between_sd": 0.6}, "deviate by less than"),
        ({"mean_a": 1.2}, "lies between 0 and 1"),
        ({"bounds": None}, "yes or no"),
    ],
)
def test_answers_that_cannot_be_are_refused(change: dict[str, float], message: str) -> None:
    fields = {**vars(YES_OR_NO), **change}
    with pytest.raises(ValueError, match=message):
        AssumedAnswers(**fields)


@pytest.mark.parametrize("sd", [0.05, 0.2, 0.6])
def test_ratings_are_whole_numbers_with_the_assumed_gap(sd: float) -> None:
    """Rounding to the nearest number alone would hide a gap of 0.2 between 3.0 and 3.2."""
    answers, rng = AssumedAnswers(3.2, 3.0, sd, 0.0, 0.5, (1.0, 5.0)), np.random.default_rng(1)
    drawn = [
        answers.drawn(mean, rng.standard_normal((4000, 1)), 5, rng)
        for mean in (answers.mean_a, answers.mean_b)
    ]
    assert set(np.unique(drawn)) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert drawn[0].mean() - drawn[1].mean() == pytest.approx(0.2, abs=0.03)


def test_a_plan_promises_what_sign_flips_of_rounded_ratings_find() -> None:
    """Independent studies: normal ratings of twins, rounded and cut off; scipy's flips."""
    rng, result, runs = np.random.default_rng(7), 0, 400
    for _ in range(runs):
        level = rng.normal(0, 0.3, 10)
        a, b = (
            np.clip(np.rint(mean + level + rng.normal(0, 0.5, 10)), 1, 5) for mean in (3.3, 2.7)
        )
        flips = stats.permutation_test(
            ((a - b),), np.mean, permutation_type="samples", n_resamples=2000
        )
        result += flips.pvalue <= 0.05
    answers = AssumedAnswers(3.3, 2.7, 0.5, 0.3, 1.0, (1.0, 5.0))
    planned = simulated_power(StudyShape(10), 1, answers, PlannedTest(), runs=runs)
    assert planned == pytest.approx(result / runs, abs=0.09)


def test_more_names_find_more_and_few_are_planned_about_these_names() -> None:
    answers = AssumedAnswers(3.3, 2.7, 0.5, 0.5, 0.5, (1.0, 5.0), name_sd=0.3)
    powers = {
        count: simulated_power(
            StudyShape(36, names=(count, count)), 1, answers, PlannedTest(), runs=100
        )
        for count in (4, 6, 18)
    }
    assert powers[4] < powers[6] < powers[18]
    assert StudyShape(36, names=(4, 4)).headline(0.0) is Question.SAME_TREATMENT
    assert StudyShape(36, names=(6, 6)).headline(0.0) is Question.GROUP_EFFECT
    assert StudyShape(36, names=(6, 6), texts=4).headline(0.0) is Question.SAME_TREATMENT
    assert StudyShape(36, names=(6, 6)).headline(0.5) is Question.GAP


@pytest.mark.parametrize(("sets", "tolerance", "family"), [(12, 0.0, 1), (40, 0.2, 6)])
def test_the_gap_that_an_earlier_interval_promises_is_found(
    sets: int, tolerance: float, family: int
) -> None:
    sd, between, correlation = 1.0, 0.5, 0.5
    error = sqrt((2 * sd**2 + 2 * between**2 * (1 - correlation)) / sets)
    half = float(stats.t.isf(0.025 / family, sets - 1)) * error
    gap, _ = findable_gap(half, tolerance, alpha=0.05, family=family, family_before=family)
    answers = AssumedAnswers(gap / 2, -gap / 2, sd, between, correlation, None, 0.0, 0.0)
    test = PlannedTest(0.05, tolerance, family, fixed_prompts=False)
    assert 0.75 < simulated_power(StudyShape(sets), 1, answers, test, runs=200) < 0.95


@pytest.mark.parametrize(("before", "now"), [(2, 8), (8, 2), (4, 16)])
def test_the_gap_that_other_repeats_promise_is_found(before: int, now: int) -> None:
    """An interval of twins of known variances, asked another number of times."""
    sets, sd, between, correlation = 30, 1.0, 0.5, 0.5
    of_answers = 2 * sd**2 / sets / before
    error = sqrt(of_answers + 2 * between**2 * (1 - correlation) / sets)
    half, quantile = float(stats.t.isf(0.025, sets - 1)) * error, float(stats.norm.isf(0.025))
    low, high = repeated_half_width(half, quantile, sqrt(of_answers), before / now)
    assert low == high
    gap, _ = findable_gap(high, 0.0, alpha=0.05, family=1, family_before=1)
    answers = AssumedAnswers(gap / 2, -gap / 2, sd, between, correlation, None, 0.0, 0.0)
    test = PlannedTest(0.05, 0.0, 1, fixed_prompts=False)
    assert 0.74 < simulated_power(StudyShape(sets), now, answers, test, runs=300) < 0.93

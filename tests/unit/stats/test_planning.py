"""How long a monitor is likely to need."""

from math import log

import numpy as np
import pytest
from scipy.special import expit, logit

from biaswatch.shared.stats.anytime.odds import Batch, CommonOdds
from biaswatch.shared.stats.anytime.planning import PlannedUnits, fixed_size, plan_gap, plan_odds
from biaswatch.shared.stats.anytime.two_groups import TwoHistograms
from biaswatch.shared.stats.anytime.two_groups_planning import plan_two_groups
from biaswatch.shared.stats.anytime.units import MissingAnswers, SetShape
from tests.support.pair_histogram import PairHistogram


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def plan_rates(p_1: float, p_2: float, **assumed: float) -> PlannedUnits:
    return plan_odds(float(logit(p_1) - logit(p_2)), p_2, rng(), alpha=0.05, **assumed)  # type: ignore[arg-type]


def test_the_fixed_size_is_the_textbooks() -> None:
    sd = (0.3 * 0.7 + 0.35 * 0.65) ** 0.5
    assert fixed_size(0.05, sd, alpha=0.05, power=0.8, tolerance=0) == 1374
    assert fixed_size(-0.05, sd, alpha=0.05, power=0.8, tolerance=0) == 1374
    with pytest.raises(ValueError, match="within the tolerance"):
        fixed_size(0.02, 0.2, alpha=0.05, power=0.8, tolerance=0.02)


def test_a_plan_costs_a_little_more_than_looking_once() -> None:
    for plan in (plan_gap(0.05, 0.28, rng(), alpha=0.05), plan_rates(0.30, 0.40)):
        assert plan.units is not None
        assert plan.median is not None
        assert plan.fixed < plan.units < 2.5 * plan.fixed
        assert plan.median < plan.units


def test_a_tolerance_a_family_and_more_power_take_longer() -> None:
    simple = plan_gap(0.1, 0.3, rng(), alpha=0.05).units or 0
    assert (plan_gap(0.1, 0.3, rng(), alpha=0.05, tolerance=0.02).units or 0) > simple
    assert (plan_gap(0.1, 0.3, rng(), alpha=0.05, family=100).units or 0) > simple
    assert (plan_gap(0.1, 0.3, rng(), alpha=0.05, power=0.95).units or 0) > simple
    wide = plan_rates(0.3, 0.5, tolerance=0.3).units or 0
    assert wide > (plan_rates(0.3, 0.5).units or 0)


def test_a_plan_holds_for_other_differences_of_the_same_mean_and_deviation() -> None:
    plan = plan_gap(0.1, 0.3, rng(), alpha=0.05)
    assert plan.units is not None
    generator, alarmed = np.random.default_rng(2), 0
    for _ in range(200):
        gaps = np.clip(generator.normal(0.1, 0.3, plan.units), -1, 1)
        state, jitter = PairHistogram.empty(), generator.random(plan.units)
        for part, lucky in zip(np.array_split(gaps, 20), np.array_split(jitter, 20), strict=True):
            state += PairHistogram.of(part, lucky)
            if state.log_e() >= log(20):
                alarmed += 1
                break
    assert 0.7 <= alarmed / 200 <= 0.9


def test_large_effects_and_impossible_deviations() -> None:
    assert (plan_gap(0.9, 0.3, rng(), alpha=0.05).units or 0) >= 1
    with pytest.raises(ValueError, match="have no mean"):
        plan_gap(0.9, 0.9, rng(), alpha=0.05)


@pytest.mark.slow
def test_small_deviations_still_take_the_units_that_bets_need() -> None:
    for sd in (0.0, 0.001):
        plan = plan_gap(0.2, sd, rng(), alpha=0.05)
        groups = plan_two_groups(0.2, (sd, sd), 0.5, rng(), alpha=0.05)
        # A unit brings at most log(1 + .95 gap), and a group about as much in each of two bets.
        assert log(20) / log(1.19) < (plan.units or 0) < 60
        assert 20 < (groups.units or 0) < 80
        assert (plan.fixed, groups.fixed) == (1, 2)
    tiny = plan_gap(0.001, 0.0, rng(), alpha=0.05).units or 0
    assert log(20) / 0.00095 < tiny < 4 * log(20) / 0.00095


def test_a_plan_that_finds_no_number_says_how_far_it_looked() -> None:
    plan = plan_two_groups(0.001, (0.3, 0.3), 0.5, rng(), alpha=0.05)
    assert plan.units is None
    assert plan.looked == 800_000
    for effect, tolerance in ((1e-12, 0.0), (0.1, 0.1 - 1e-12)):
        with pytest.raises(ValueError, match="so small that no number"):
            plan_gap(effect, 0.2, rng(), alpha=0.05, tolerance=tolerance)


def test_a_plan_for_binary_twins_holds_for_independent_answers() -> None:
    sd = (0.6 * 0.4 + 0.3 * 0.7) ** 0.5
    plan = plan_gap(0.3, sd, rng(), alpha=0.05, binary=True)
    assert plan.units is not None
    generator, alarmed = np.random.default_rng(2), 0
    for _ in range(200):
        first, second = (generator.random(plan.units) < share for share in (0.6, 0.3))
        gaps, state = first.astype(float) - second, PairHistogram.empty()
        for part in np.array_split(gaps, min(20, plan.units)):
            state += PairHistogram.of(part, generator.random(len(part)))
            if state.log_e() >= log(20):
                alarmed += 1
                break
    assert 0.7 <= alarmed / 200 <= 0.9
    with pytest.raises(ValueError, match="no deviation as small"):
        plan_gap(0.3, 0.1, rng(), alpha=0.05, binary=True)


def test_each_of_two_groups_has_a_deviation_of_its_own_also_none_at_an_end() -> None:
    refusals = plan_two_groups(0.3, (0.3**0.5 * 0.7**0.5, 0.0), 0.0, rng(), alpha=0.05)
    assert refusals.units is not None
    generator, alarmed = np.random.default_rng(2), 0
    for _ in range(100):
        state = TwoHistograms()
        for _ in range(refusals.units // 10):
            first, none = (generator.random(5) < 0.3).astype(float), np.zeros(5)
            state += TwoHistograms.of(first, none, none, none)
            if state.log_e_beyond(0.0) >= log(20):
                alarmed += 1
                break
    assert 0.65 <= alarmed / 100 <= 0.93
    with pytest.raises(ValueError, match="have no deviation"):
        plan_two_groups(0.3, (0.1, 0.1), 0.0, rng(), alpha=0.05)


@pytest.mark.slow
def test_groups_without_twins_need_more_units_and_near_an_end_fewer() -> None:
    middle = plan_two_groups(0.3, (0.25, 0.25), 0.35, rng(), alpha=0.05).units or 0
    assert middle > (plan_gap(0.3, 0.25, rng(), alpha=0.05).units or 0)
    assert (plan_two_groups(0.3, (0.15, 0.15), 0.03, rng(), alpha=0.05).units or 0) < middle
    for level, sd, message in ((0.9, 0.2, "within the range"), (0.01, 0.2, "have no deviation")):
        with pytest.raises(ValueError, match=message):
            plan_two_groups(0.3, (sd, sd), level, rng(), alpha=0.05)


def units(plan: PlannedUnits) -> int:
    assert plan.units is not None
    return plan.units


TEN_A_SIDE = (SetShape(10, 10),)


def planned(share: float, shapes: tuple[SetShape, ...] = TEN_A_SIDE) -> PlannedUnits:
    missing = MissingAnswers(share, shapes)
    return plan_gap(0.075, 0.25, rng(), alpha=0.025, family=2, tolerance=0.025, missing=missing)


def test_a_plan_says_what_missing_answers_cost_and_when_no_units_are_enough() -> None:
    whole, few, more = planned(0.0), planned(0.0025), planned(0.02)
    assert units(whole) <= units(few) < 1.2 * units(whole)
    assert 1.3 * units(whole) < units(more)
    pairs_of_answers = planned(0.0025, (SetShape(1, 1),))
    assert units(pairs_of_answers) >= units(whole)
    none = planned(0.05)
    assert (none.units, none.looked) == (None, 0)
    assert "no number of units decides; below a share of 0.047" in str(none.why)


def test_a_plan_with_missing_answers_holds_for_a_bank_that_lacks_them() -> None:
    plan = units(planned(0.01))
    generator, alarmed = np.random.default_rng(2), 0
    for _ in range(150):
        gaps = np.clip(generator.normal(0.075, 0.25, plan), -1, 1)
        lacking = generator.binomial(10, 0.01, (2, plan)).sum(axis=0) / 10
        lower, upper = gaps - lacking * (1 + gaps) / 2, gaps + lacking * (1 - gaps) / 2
        state = PairHistogram.empty()
        for part in np.array_split(np.arange(plan), 20):
            jitter = generator.random(len(part))
            state = state.bounded(lower[part], upper[part], jitter)
            if state.log_e_beyond(0.025) >= log(2 / 0.025):
                alarmed += 1
                break
    assert 0.68 <= alarmed / 150 <= 0.92


def test_sets_that_differ_take_more_and_the_plan_holds_for_them() -> None:
    same, differing = plan_rates(0.4, 0.3), plan_rates(0.4, 0.3, spread=2.0)
    assert units(differing) > 1.2 * units(same)
    generator, alarmed, plan = np.random.default_rng(3), 0, units(differing)
    log_odds = float(logit(0.4) - logit(0.3))
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    centres = np.linspace(-4, 2, 601)
    levels = expit(centres[:, None] + 2 * nodes) @ weights / weights.sum()
    centre = centres[int(np.argmin(np.abs(levels - 0.3)))]
    for _ in range(150):
        odds = generator.normal(centre, 2.0, plan)
        first = generator.random(plan) < expit(odds + log_odds)
        second = generator.random(plan) < expit(odds)
        state = CommonOdds()
        for part in np.array_split(np.arange(plan), 20):
            sides = zip(first[part].tolist(), second[part].tolist(), strict=True)
            state += CommonOdds.of(Batch(int(a), 1, int(b), 1) for a, b in sides)
            if state.log_e_beyond(0.0) >= log(20):
                alarmed += 1
                break
    assert 0.68 <= alarmed / 150 <= 0.92


def test_sets_of_several_answers_need_fewer_and_very_large_ones_are_refused() -> None:
    one = plan_odds(0.5, 0.3, rng(), alpha=0.05)
    five = plan_odds(0.5, 0.3, rng(), alpha=0.05, shapes=(SetShape(5, 5),))
    assert units(one) / 8 < units(five) < units(one) / 3
    with pytest.raises(ValueError, match="too large to plan for"):
        plan_odds(0.5, 0.3, rng(), alpha=0.05, shapes=(SetShape(80, 80),))

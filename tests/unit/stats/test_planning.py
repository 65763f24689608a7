"""How long a monitor is likely to need."""

from math import log

import numpy as np
import pytest

from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.planning import fixed_size, plan_gap, plan_rates
from shared.stats.anytime.two_groups import TwoHistograms
from shared.stats.anytime.unpaired_planning import plan_two_groups


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_the_fixed_size_is_the_textbooks() -> None:
    sd = (0.3 * 0.7 + 0.35 * 0.65) ** 0.5
    assert fixed_size(0.05, sd, alpha=0.05, power=0.8, tolerance=0) == 1374
    assert fixed_size(-0.05, sd, alpha=0.05, power=0.8, tolerance=0) == 1374
    with pytest.raises(ValueError, match="within the tolerance"):
        fixed_size(0.02, 0.2, alpha=0.05, power=0.8, tolerance=0.02)


def test_a_plan_costs_a_little_more_than_looking_once() -> None:
    for plan in (
        plan_gap(0.05, 0.28, rng(), alpha=0.05),
        plan_rates(0.30, 0.40, rng(), alpha=0.05),
    ):
        assert plan.units is not None
        assert plan.median is not None
        assert plan.fixed < plan.units < 2.5 * plan.fixed
        assert plan.median < plan.units


def test_a_tolerance_a_family_and_more_power_take_longer() -> None:
    simple = plan_gap(0.1, 0.3, rng(), alpha=0.05).units or 0
    assert (plan_gap(0.1, 0.3, rng(), alpha=0.05, tolerance=0.02).units or 0) > simple
    assert (plan_gap(0.1, 0.3, rng(), alpha=0.05, family=100).units or 0) > simple
    assert (plan_gap(0.1, 0.3, rng(), alpha=0.05, power=0.95).units or 0) > simple
    wide = plan_rates(0.3, 0.5, rng(), alpha=0.05, tolerance=0.3).units or 0
    assert wide > (plan_rates(0.3, 0.5, rng(), alpha=0.05).units or 0)


def test_a_plan_holds_for_other_differences_of_the_same_mean_and_deviation() -> None:
    plan = plan_gap(0.1, 0.3, rng(), alpha=0.05)
    assert plan.units is not None
    generator, alarmed = np.random.default_rng(2), 0
    for _ in range(200):
        gaps = np.clip(generator.normal(0.1, 0.3, plan.units), -1, 1)
        state, luck = PairHistogram.empty(), generator.random(plan.units)
        for part, lucky in zip(np.array_split(gaps, 20), np.array_split(luck, 20), strict=True):
            state += PairHistogram.of(part, lucky)
            if state.log_e() >= log(20):
                alarmed += 1
                break
    assert 0.7 <= alarmed / 200 <= 0.9


def test_large_effects_and_impossible_deviations() -> None:
    assert (plan_gap(0.9, 0.3, rng(), alpha=0.05).units or 0) >= 1
    with pytest.raises(ValueError, match="have no mean"):
        plan_gap(0.9, 0.9, rng(), alpha=0.05)


def test_a_plan_for_two_groups_holds_for_other_values_of_the_same_means_and_deviation() -> None:
    plan = plan_two_groups(0.3, 0.25, 0.4, rng(), alpha=0.05)
    assert plan.units is not None
    assert plan.fixed < plan.units < 4 * plan.fixed
    generator, alarmed = np.random.default_rng(2), 0
    for _ in range(100):
        state = TwoHistograms()
        for _ in range(plan.units // 10):
            first = generator.beta(1.4933, 0.6400, 5)  # mean .7, deviation .26
            second = generator.beta(1.136, 1.704, 5)  # mean .4, deviation .25
            state += TwoHistograms.of(first, second, generator.random(5), generator.random(5))
            if state.log_e_beyond(0.0) >= log(20):
                alarmed += 1
                break
    assert 0.65 <= alarmed / 100 <= 0.93


def test_groups_without_twins_need_more_units_and_near_an_end_fewer() -> None:
    middle = plan_two_groups(0.3, 0.25, 0.35, rng(), alpha=0.05).units or 0
    assert middle > (plan_gap(0.3, 0.25, rng(), alpha=0.05).units or 0)
    assert (plan_two_groups(0.3, 0.15, 0.03, rng(), alpha=0.05).units or 0) < middle
    for level, sd, said in ((0.9, 0.2, "within the range"), (0.01, 0.2, "have no deviation")):
        with pytest.raises(ValueError, match=said):
            plan_two_groups(0.3, sd, level, rng(), alpha=0.05)

"""How long a monitor is likely to need."""

from math import log

import numpy as np
import pytest

from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.planning import fixed_size, plan_gap, plan_rates


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

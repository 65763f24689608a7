"""A gap without any spread over its random factors: against exact probabilities, and simulated."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.analysis.findings.factors import constant_gap_p, flat_p
from biaswatch.shared.stats.comparisons.random_factors import NO_SPREAD, FactorGap, LevelCounts


def flat(level: LevelCounts, gap: float = 1.0, width: float | None = 4.0) -> FactorGap:
    return FactorGap(gap, None, None, None, (level,), NO_SPREAD, width)


def test_texts_that_all_differ_alike_have_the_worst_case_of_a_rare_opposite_value() -> None:
    """With a mean of 0, a difference of 1 has a share of 4 / 5 at most: others are -4."""
    p_value = flat_p(flat(LevelCounts("text", 12, 12, 12)))
    assert p_value == pytest.approx(2 * stats.binom.pmf(12, 12, 4 / 5))


def test_names_that_are_all_alike_have_the_worst_case_of_both_groups() -> None:
    """The means meet half-way: each name misses it with (1 - d / 2w) at most."""
    p_value = flat_p(flat(LevelCounts("name", 6, 6, 0)))
    shares = np.linspace(0, 1, 1001)
    worst = max((1 - share / 4) ** 6 * (1 - (1 - share) / 4) ** 6 for share in shares)
    assert p_value == pytest.approx(min(1.0, 2 * worst))


def test_rare_opposite_texts_make_no_disparity_of_the_mean() -> None:
    """Twelve texts of 0.8 with +1 and 0.2 with -4: flips of signs reject where all are +1."""
    rng = np.random.default_rng(4)
    all_alike = (rng.random((4000, 12)) < 0.8).all(axis=1).mean()
    assert all_alike > 0.05 > 2.0**-11
    assert flat_p(flat(LevelCounts("text", 12, 12, 12))) > 0.05


def test_a_constant_gap_of_names_and_texts_is_an_effect_of_the_group() -> None:
    """Of all 70 exchanges of 8 names, and 64 flips of 6 texts, two each are as extreme."""
    names, texts = np.array([3.0] * 4 + [4.0] * 4), np.ones(6)
    exchanges = [names[list(of_a)].sum() for of_a in combinations(range(8), 4)]
    flips = [abs(texts @ signs) for signs in product((-1, 1), repeat=6)]
    by_names = np.mean([abs(total - 14.0) >= 2.0 for total in exchanges])
    by_texts = np.mean([total >= 6.0 for total in flips])
    name, text = LevelCounts("name", 4, 4, 0), LevelCounts("text", 6, 6, 6)
    both = FactorGap(1.0, None, None, None, (name, text), NO_SPREAD)
    assert constant_gap_p(both) == pytest.approx(by_names + by_texts)
    assert constant_gap_p(flat(text, gap=0.0)) == 1.0


def test_the_factor_with_the_fewest_values_decides_and_a_tolerance_counts() -> None:
    text, name = LevelCounts("text", 40, 40, 40), LevelCounts("name", 5, 5, 0)
    both = FactorGap(2.0, None, None, None, (text, name), NO_SPREAD, 4.0)
    assert flat_p(both) == pytest.approx(2 * 0.75**10)
    assert flat_p(both, 1.0) > flat_p(both)
    assert flat_p(both, 2.0) == 1.0
    assert flat_p(flat(text, width=None)) == 1.0

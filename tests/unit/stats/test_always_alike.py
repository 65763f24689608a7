"""Prompts always answered alike: their gap is known only where chance rarely makes it."""

from itertools import product

import numpy as np
import pytest

from shared.stats.comparisons.always_alike import always_alike_p
from shared.stats.comparisons.fixed_prompts import Answers, fixed_prompts_gap
from shared.stats.comparisons.fixed_prompts_change import Sets

ALPHA = 0.05


def known_by_chance(odds: list[float], repeats: int, tolerance: float = 0.0) -> float:
    """Sum over all ways in which twins are always answered alike: the chance of a known gap.

    The odds are of a's prompts, then of b's; each set has one of both.
    """
    sets = len(odds) // 2
    chance = 0.0
    for flat in product((0, 1), repeat=len(odds)):
        sides = [
            {n: [float(value)] * repeats for n, value in enumerate(side)}
            for side in (flat[:sets], flat[sets:])
        ]
        found = fixed_prompts_gap(
            {("a", n): v for n, v in sides[0].items()},
            {("b", n): v for n, v in sides[1].items()},
            sets={(side, n): n for side in "ab" for n in range(sets)},
            bounds=(0.0, 1.0),
            alpha=ALPHA,
            tolerance=tolerance,
        )
        if found.known:
            odds_of_flat = (p if value else 1 - p for p, value in zip(odds, flat, strict=True))
            chance += float(np.prod([each**repeats for each in odds_of_flat]))
    return chance


@pytest.mark.parametrize("repeats", [2, 3, 5])
@pytest.mark.parametrize(
    "odds",
    [
        [0.5, 1.0, 0.0, 0.5, 1.0, 0.0],
        [0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
        [0.9, 0.9, 0.8, 0.9, 0.9, 0.8],
        [1.0, 0.5, 0.5, 0.6, 0.7, 0.7],
    ],
)
def test_twins_of_equal_odds_have_a_known_gap_by_chance_as_rarely_as_promised(
    odds: list[float], repeats: int
) -> None:
    assert known_by_chance(odds, repeats) <= ALPHA


def test_twins_a_tolerance_apart_have_a_known_gap_by_chance_as_rarely_as_promised() -> None:
    assert known_by_chance([0.9, 0.9, 0.9, 0.0, 0.0, 0.0], 2, tolerance=0.9) <= ALPHA


def test_answers_that_arithmetic_alone_made_different_have_no_known_gap() -> None:
    sets: Sets = {(side, n): n for side in "ab" for n in range(20)}
    a: Answers = {("a", n): [0.1 + 0.2] * 3 for n in range(20)}
    b: Answers = {("b", n): [0.3] * 3 for n in range(20)}
    same: Answers = {("b", n): [0.7] * 3 for n in range(7)}
    found = [
        fixed_prompts_gap(a, b, sets=sets, bounds=(0.0, 1.0), alpha=ALPHA, tolerance=0.0),
        fixed_prompts_gap(
            {("a", n): [0.7] * 3 for n in range(3)}, same,
            sets=None, bounds=(0.0, 1.0), alpha=ALPHA, tolerance=0.0,
        ),
    ]  # fmt: skip
    for each in found:
        assert not each.known
        assert each.p_disparity == 1.0


def test_the_bound_holds_for_answers_of_any_distribution() -> None:
    rng = np.random.default_rng(1)
    for _ in range(4000):
        odds = rng.dirichlet(np.full(rng.integers(2, 6), rng.choice([0.05, 0.3, 2])))
        values, repeats = np.sort(rng.random(len(odds))), int(rng.integers(2, 5))
        values[0], values[-1] = 0.0, 1.0
        moment = (odds**repeats * np.exp(repeats * (values - odds @ values))).sum()
        assert moment <= 1 + 1e-12


def test_a_p_value_is_one_within_the_tolerance_and_counts_both_directions() -> None:
    assert always_alike_p(0.1, 0.1, 40.0) == 1.0
    assert always_alike_p(0.0, 0.0, 40.0) == 1.0
    assert always_alike_p(0.5, 0.0, 10.0) == pytest.approx(2 * np.exp(-5))
    assert always_alike_p(-0.5, 0.1, 10.0) == pytest.approx(np.exp(-4) + np.exp(-6))

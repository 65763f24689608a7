"""Prompts always answered alike: their gap is known only where chance rarely makes it."""

from itertools import product

import numpy as np
import pytest

from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.fixed_prompts import (
    PromptAnswers,
    PromptSets,
    constant_prompts_p_bound,
    fixed_prompts_gap,
    fixed_prompts_mean,
)

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
        gap = fixed_prompts_gap(
            {("a", n): v for n, v in sides[0].items()},
            {("b", n): v for n, v in sides[1].items()},
            sets={(side, n): n for side in "ab" for n in range(sets)},
            bounds=(0.0, 1.0),
            alpha=ALPHA,
            tolerance=tolerance,
        )
        if gap.known:
            odds_of_flat = (p if value else 1 - p for p, value in zip(odds, flat, strict=True))
            chance += float(np.prod([odd**repeats for odd in odds_of_flat]))
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
    sets: PromptSets = {(side, n): n for side in "ab" for n in range(20)}
    a: PromptAnswers = {("a", n): [0.1 + 0.2] * 3 for n in range(20)}
    b: PromptAnswers = {("b", n): [0.3] * 3 for n in range(20)}
    same: PromptAnswers = {("b", n): [0.7] * 3 for n in range(7)}
    gap = [
        fixed_prompts_gap(a, b, sets=sets, bounds=(0.0, 1.0), alpha=ALPHA, tolerance=0.0),
        fixed_prompts_gap(
            {("a", n): [0.7] * 3 for n in range(3)}, same,
            sets=None, bounds=(0.0, 1.0), alpha=ALPHA, tolerance=0.0,
        ),
    ]  # fmt: skip
    for item in gap:
        assert not item.known
        assert item.p_disparity == 1.0


def test_the_bound_holds_for_answers_of_any_distribution() -> None:
    rng = np.random.default_rng(1)
    for _ in range(4000):
        odds = rng.dirichlet(np.full(rng.integers(2, 6), rng.choice([0.05, 0.3, 2])))
        values, repeats = np.sort(rng.random(len(odds))), int(rng.integers(2, 5))
        values[0], values[-1] = 0.0, 1.0
        moment = (odds**repeats * np.exp(repeats * (values - odds @ values))).sum()
        assert moment <= 1 + 1e-12


def test_a_p_value_is_one_within_the_tolerance_and_counts_both_directions() -> None:
    assert constant_prompts_p_bound(0.1, 0.1, 40.0) == 1.0
    assert constant_prompts_p_bound(0.0, 0.0, 40.0) == 1.0
    assert constant_prompts_p_bound(0.5, 0.0, 10.0) == pytest.approx(2 * np.exp(-5))
    assert constant_prompts_p_bound(-0.5, 0.1, 10.0) == pytest.approx(np.exp(-4) + np.exp(-6))


def steady_bank(
    sets: int = 10, repeats: int = 2
) -> tuple[PromptAnswers, PromptAnswers, PromptSets]:
    """Return groups whose answers never vary and lie .02 apart, far from the ends of a scale."""
    a: PromptAnswers = {("a", n): [0.5] * repeats for n in range(sets)}
    b: PromptAnswers = {("b", n): [0.52] * repeats for n in range(sets)}
    return a, b, {(side, n): n for side in "ab" for n in range(sets)}


@pytest.mark.parametrize("sets", [None, "twins"])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, 100.0), None])
def test_a_gap_is_not_known_by_how_far_apart_the_seen_answers_are(
    bounds: Bounds | None, sets: str | None
) -> None:
    a, b, twins = steady_bank()
    gap = fixed_prompts_gap(
        a, b, sets=twins if sets else None, bounds=bounds, alpha=ALPHA, tolerance=0.0
    )
    assert not gap.known
    assert gap.p_disparity is not None
    assert gap.p_disparity > 0.5


def test_a_guessed_range_makes_no_gap_known_and_says_what_to_do() -> None:
    a: PromptAnswers = {("a", n): [1.0] * 4 for n in range(20)}
    b: PromptAnswers = {("b", n): [0.0] * 4 for n in range(20)}
    sets: PromptSets = {(side, n): n for side in "ab" for n in range(20)}
    declared, gap = (
        fixed_prompts_gap(
            a, b, sets=sets, bounds=(0.0, 1.0), alpha=ALPHA, tolerance=0.1, guessed=guessed
        )
        for guessed in (False, True)
    )
    assert declared.known
    assert not gap.known
    assert (gap.p_disparity, gap.p_equivalence) == (1.0, 1.0)
    assert gap.marginal.value == pytest.approx(1.0)
    assert (gap.marginal.low, gap.marginal.high) == (None, None)
    assert "declare the range" in (gap.marginal.reason or "")


def test_equal_groups_within_a_guessed_range_still_have_an_interval() -> None:
    a: PromptAnswers = {("a", n): [1.0] * 4 for n in range(30)}
    gap = fixed_prompts_gap(
        a, a, sets=None, bounds=(0.0, 1.0), alpha=ALPHA, tolerance=0.2, guessed=True
    )
    assert gap.marginal.low is not None
    assert gap.p_equivalence is not None
    assert gap.p_equivalence < ALPHA


def test_a_range_of_one_value_makes_nothing_known() -> None:
    a: PromptAnswers = {("a", n): [0.3] * 4 for n in range(7)}
    b: PromptAnswers = {("b", n): [0.3] * 4 for n in range(3)}
    gap = fixed_prompts_gap(a, b, sets=None, bounds=(0.3, 0.3), alpha=ALPHA, tolerance=0.0)
    assert not gap.known


def test_a_mean_that_never_varied_is_not_known_either() -> None:
    a, _, _ = steady_bank(sets=30)
    without = fixed_prompts_mean(a, ALPHA)
    assert without.value == pytest.approx(0.5)
    assert without.low is None
    assert "declare the range" in (without.reason or "")
    narrow, wide = (fixed_prompts_mean(a, ALPHA, (0.0, high)) for high in (1.0, 10.0))
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.high is not None
    assert narrow.low < 0.5 < narrow.high < wide.high
    # Rare far answers move the mean by less than the interval allows, in .95 of studies.
    assert (narrow.high - 0.5) / 0.5 > 1 - (1 - 0.05) ** (1 / 60)


def test_rare_far_answers_make_a_gap_known_in_few_studies() -> None:
    _, b, sets = steady_bank()
    rng = np.random.default_rng(3)
    known = 0
    for _ in range(200):
        a: PromptAnswers = {
            ("a", n): np.where(rng.random(2) < 0.04, 1.0, 0.5).tolist() for n in range(10)
        }
        gap = fixed_prompts_gap(a, b, sets=sets, bounds=(0.0, 1.0), alpha=ALPHA, tolerance=0.0)
        known += gap.known
    assert known == 0

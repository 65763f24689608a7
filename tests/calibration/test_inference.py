"""What a test or an interval promises, it keeps: seeded simulations of null and planted gaps."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons.answer_exchange import PromptAnswers
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.effect_size import cohens_d, hedges_g, paired_d
from biaswatch.shared.stats.comparisons.gap_test import GapResult, compare_samples
from biaswatch.shared.stats.comparisons.missingness import missingness
from biaswatch.shared.stats.comparisons.multiplicity import CORRECTIONS, adjust
from biaswatch.shared.stats.comparisons.ranks import mann_whitney_p
from biaswatch.shared.stats.comparisons.relabelling import Stratum, permutation_test
from biaswatch.shared.stats.comparisons.tolerance_tests import conclude
from biaswatch.shared.stats.estimate import Estimate, Verdict
from biaswatch.shared.stats.samples import Vector

TABLES = 1000
MORE_TABLES = 2000
"""Where the truth is near the bar, or the bootstrap adds luck of its own."""
MOST = 0.065
"""5 % and 1.5 points: the luck of 1,000 tables."""

Rng = np.random.Generator
PValue = Callable[[Rng], float | None]
Plan = tuple[int, int]


def rejected(p_value: PValue, seed: int, tables: int = TABLES) -> float:
    rng = np.random.default_rng(seed)
    result = [p_value(rng) for _ in range(tables)]
    return sum(p is not None and p <= 0.05 for p in result) / tables


def covered(
    interval: Callable[[Rng], Estimate], truth: float, seed: int, tables: int = TABLES
) -> float:
    rng = np.random.default_rng(seed)
    result = [interval(rng) for _ in range(tables)]
    inside = [e.low is not None and e.high is not None and e.low <= truth <= e.high for e in result]
    return sum(inside) / tables


def ratings(rng: Rng, n: int) -> Vector:
    return rng.choice([1.0, 2.0, 3.0, 4.0], n, p=[0.1, 0.5, 0.3, 0.1])


def units(values: Vector, name: str) -> dict[str, list[float]]:
    return {f"{name}{i}": [float(v)] for i, v in enumerate(values)}


@pytest.mark.parametrize("sizes", [(6, 7), (8, 30), (15, 15), (100, 60)])
def test_mann_whitney_holds_its_level_on_ratings(sizes: Plan) -> None:
    n, m = sizes

    def p_value(rng: Rng) -> float | None:
        return mann_whitney_p(ratings(rng, n), ratings(rng, m), rng, resamples=499)

    assert rejected(p_value, 1) <= MOST


@pytest.mark.parametrize("sizes", [(5, 6), (40, 30)])
def test_mann_whitney_holds_its_level_without_ties(sizes: Plan) -> None:
    n, m = sizes
    share = rejected(lambda rng: mann_whitney_p(rng.normal(size=n), rng.normal(size=m), rng), 2)
    assert share <= MOST


@pytest.mark.parametrize("sizes", [(4, 6), (20, 30)])
def test_exchange_of_labels_holds_its_level(sizes: Plan) -> None:
    def p_value(rng: Rng) -> float | None:
        a, b = (ratings(rng, size) for size in sizes)
        return permutation_test([Stratum(np.array(a), np.array(b))], rng, 499).p_value

    assert rejected(p_value, 7) <= MOST


@pytest.mark.parametrize("asked", [(200, 150), (20, 15), (20, 15, 25), (100, 100, 100, 100)])
def test_missingness_holds_its_level(asked: tuple[int, ...]) -> None:
    def p_value(rng: Rng) -> float | None:
        groups = {str(n): (int(rng.binomial(n, 0.1)), n) for n in asked}
        return missingness(groups, 0.05, rng=rng, resamples=499).p_value

    assert rejected(p_value, 9) <= MOST


def clustered(
    rng: Rng, *, shared: bool, gap: float = 0.0, prompts: int = 60
) -> tuple[PromptAnswers, PromptAnswers]:
    """The design of Chapter 5: prompt sd .15, prompt by group .05, residual .15, 10 responses."""
    level = rng.normal(0.4, 0.15, (2, prompts))
    groups: list[PromptAnswers] = []
    for side in range(2):
        base = level[0 if shared else side] + rng.normal(0, 0.05, prompts) + gap * (side == 0)
        answers = base[:, None] + rng.normal(0, 0.15, (prompts, 10))
        names = [f"p{i}" if shared else f"{side}-{i}" for i in range(prompts)]
        groups.append(dict(zip(names, answers, strict=True)))
    return groups[0], groups[1]


def naive(a: PromptAnswers, b: PromptAnswers) -> float:
    x, y = (np.concatenate([np.asarray(v) for v in group.values()]) for group in (a, b))
    return float(stats.ttest_ind(x, y, equal_var=False).pvalue)


def compared(x: Vector, y: Vector, *, paired: bool) -> GapResult:
    """Compare values whose range is not known."""
    samples = ComparedSamples(x, y) if paired else ComparedSamples(only_a=x, only_b=y)
    return compare_samples(samples, alpha=0.05, tolerance=0.0)


def of_prompts(a: PromptAnswers, b: PromptAnswers, *, paired: bool) -> GapResult:
    """Compare the means of prompts, in the same order in both groups."""
    x, y = (np.array([np.mean(np.asarray(v)) for v in group.values()]) for group in (a, b))
    return compared(x, y, paired=paired)


def test_responses_taken_as_independent_reject_a_true_null_in_40_percent() -> None:
    share = rejected(lambda rng: naive(*clustered(rng, shared=False)), 11)
    assert 0.36 <= share <= 0.47


def test_the_prompt_as_the_unit_holds_its_level() -> None:
    share = rejected(
        lambda rng: of_prompts(*clustered(rng, shared=False), paired=False).p_disparity,
        11,
        MORE_TABLES,
    )
    assert share <= MOST


def test_the_pair_as_the_unit_holds_its_level() -> None:
    share = rejected(
        lambda rng: of_prompts(*clustered(rng, shared=True), paired=True).p_disparity, 12
    )
    assert share <= MOST


@pytest.mark.parametrize("shared", [True, False])
def test_clustered_intervals_cover_a_planted_gap(shared: bool) -> None:
    def unit(rng: Rng) -> Estimate:
        groups = clustered(rng, shared=shared, gap=0.05, prompts=100)
        return of_prompts(*groups, paired=shared).marginal

    assert 0.93 <= covered(unit, 0.05, 16) <= 0.97


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("paired", [True, False])
def test_t_intervals_cover(n: int, paired: bool) -> None:
    def interval(rng: Rng) -> Estimate:
        x, y = rng.normal(0.3, 1, n), rng.normal(0, 2, n)
        return compared(x, y, paired=paired).marginal

    assert 0.93 <= covered(interval, 0.3, 18) <= 0.97


@pytest.mark.parametrize("truth", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("n", [10, 100])
def test_intervals_of_d_cover(n: int, truth: float) -> None:
    def d(rng: Rng) -> Estimate:
        return cohens_d(rng.normal(truth, 1, n), rng.normal(0, 1, n), 0.05)

    def g(rng: Rng) -> Estimate:
        return hedges_g(rng.normal(truth, 1, n), rng.normal(0, 1, n), 0.05)

    def d_z(rng: Rng) -> Estimate:
        y = rng.normal(0, 1, n)
        return paired_d(y + rng.normal(truth, 1, n), y, 0.05)

    for measure in (d, g, d_z):
        assert 0.93 <= covered(measure, truth, 19) <= 0.97


def test_hedges_g_is_nearer_the_truth_than_d_in_small_samples() -> None:
    rng = np.random.default_rng(20)
    result = [
        (cohens_d(x, y, 0.05).value or 0, hedges_g(x, y, 0.05).value or 0)
        for x, y in ((rng.normal(1, 1, 5), rng.normal(0, 1, 5)) for _ in range(TABLES))
    ]
    d, g = np.mean(result, axis=0)
    assert abs(g - 1) < 0.06 < d - 1


@pytest.mark.parametrize("correction", sorted(CORRECTIONS))
def test_a_corrected_family_of_true_nulls_is_wrong_in_5_percent(correction: str) -> None:
    rng = np.random.default_rng(22)
    wrong = 0
    for _ in range(TABLES):
        result = adjust(list(rng.uniform(size=20)), correction)
        wrong += any(p is not None and p <= 0.05 for p in result)
    assert wrong / TABLES <= MOST


@pytest.mark.parametrize("correction", ["bh", "by"])
def test_false_discoveries_are_at_most_5_percent_of_all(correction: str) -> None:
    rng = np.random.default_rng(23)
    shares = []
    for _ in range(TABLES):
        z = rng.normal(size=40) + np.where(np.arange(40) < 10, 3.0, 0.0)
        result = adjust(list(2 * stats.norm.sf(np.abs(z))), correction)
        hits = [i for i, p in enumerate(result) if p is not None and p <= 0.05]
        shares.append(sum(i >= 10 for i in hits) / max(1, len(hits)))
    assert np.mean(shares) <= MOST


def _verdict(x: Vector, y: Vector) -> Verdict:
    samples = ComparedSamples(only_a=x, only_b=y)
    test = compare_samples(samples, alpha=0.05, tolerance=0.2)
    p_values = (test.p_disparity, test.p_equivalence)
    return conclude(test.marginal, *p_values, tolerance=0.2, alpha=0.05).verdict


@pytest.mark.parametrize(
    ("gap", "wrong"),
    [(0.0, Verdict.DISPARITY), (0.2, Verdict.DISPARITY), (0.2001, Verdict.NO_DISPARITY)],
)
def test_a_verdict_is_wrong_in_at_most_5_percent(gap: float, wrong: Verdict) -> None:
    rng = np.random.default_rng(24)
    result = []
    for _ in range(TABLES):
        x, y = rng.normal(gap, 1, 1000), rng.normal(0, 1, 1000)
        result.append(_verdict(x, y))
    assert result.count(wrong) / TABLES <= MOST


@pytest.mark.parametrize(("gap", "right"), [(0.0, Verdict.NO_DISPARITY), (0.5, Verdict.DISPARITY)])
def test_a_verdict_is_right_where_there_is_evidence(gap: float, right: Verdict) -> None:
    rng = np.random.default_rng(25)
    result = []
    for _ in range(200):
        x, y = rng.normal(gap, 1, 1000), rng.normal(0, 1, 1000)
        result.append(_verdict(x, y))
    assert result.count(right) / 200 >= 0.95

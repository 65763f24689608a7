"""Tests and intervals of a gap: their size, their agreement, and what cannot be tested."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import (
    NO_RANGE,
    NO_VALUES,
    ONE_UNIT,
    GapResult,
    compare_samples,
)
from biaswatch.shared.stats.samples import Vector

RATES = np.linspace(0.0005, 0.9995, 150)
NONE: Vector = np.empty(0)


def judged(samples: ComparedSamples, tolerance: float = 0.0, alpha: float = 0.05) -> GapResult:
    return compare_samples(samples, alpha=alpha, tolerance=tolerance)


def zeros_and_ones(ones: int, n: int) -> Vector:
    return np.repeat([0.0, 1.0], [n - ones, ones])


@cache
def p_values_of_tables(n_a: int, n_b: int, tolerance: float) -> np.ndarray[tuple[int, ...]]:
    """[disparity or equivalence, ones of a, ones of b] of all tables with these sizes."""
    gap = np.ones((2, n_a + 1, n_b + 1))
    for a, b in product(range(n_a + 1), range(n_b + 1)):
        only = (zeros_and_ones(a, n_a), zeros_and_ones(b, n_b))
        result = judged(ComparedSamples(NONE, NONE, *only, (0.0, 1.0)), tolerance)
        gap[:, a, b] = result.p_disparity, result.p_equivalence or 1.0
    return gap


@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
@pytest.mark.parametrize(
    ("n_a", "n_b", "most"),
    [(4, 4, 1), (5, 12, 1), (12, 12, 1.3), (3, 60, 1), (10, 30, 1), (20, 20, 1.15)],
)
def test_rates_at_the_tolerance_are_called_a_disparity_as_rarely_as_promised(
    n_a: int, n_b: int, most: float, tolerance: float, alpha: float
) -> None:
    """All tables, weighed by their probability. Mid-p: four against four err in .07 at one half."""
    p_values = p_values_of_tables(n_a, n_b, tolerance)
    for rate in RATES[RATES + tolerance < 1]:
        for rates in ((rate + tolerance, rate), (rate, rate + tolerance)):
            ways = [
                stats.binom.pmf(np.arange(n + 1), n, p)
                for n, p in zip((n_a, n_b), rates, strict=True)
            ]
            errs = np.outer(*ways)[p_values[0] <= alpha].sum()
            assert errs <= most * alpha


def test_rates_a_tolerance_apart_are_called_equivalent_as_rarely_as_promised() -> None:
    p_values = p_values_of_tables(20, 20, 0.3)
    worst = max(
        np.outer(*(stats.binom.pmf(np.arange(21), 20, p) for p in (rate + 0.3, rate)))[
            p_values[1] <= 0.05
        ].sum()
        for rate in RATES[RATES < 0.7]
    )
    assert 0 < worst <= 0.05


@pytest.mark.parametrize("alpha", [0.05, 0.001])
@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_twins_at_the_tolerance_are_called_a_disparity_as_rarely_as_promised(
    tolerance: float, alpha: float
) -> None:
    """All tables of 20 pairs of zeros and ones: only in the one, only in the other, rest."""
    n, tables = 20, [(a, b) for a in range(21) for b in range(21 - a)]
    p_values = np.array(
        [
            judged(
                ComparedSamples(
                    np.repeat([1.0, 0.0], [a, n - a]),
                    np.repeat([0.0, 1.0, 0.0], [a, b, n - a - b]),
                    bounds=(0.0, 1.0),
                ),
                tolerance,
            ).p_disparity
            for a, b in tables
        ]
    )
    for share in np.linspace(0.001, (1 - tolerance) / 2, 60):
        law = stats.multinomial(n, [share + tolerance, share, 1 - 2 * share - tolerance])
        ways = law.pmf([[a, b, n - a - b] for a, b in tables])
        assert ways[p_values <= alpha].sum() <= 1.3 * alpha


def test_large_normal_samples_have_welchs_interval_and_p_value() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.16, 1, 300), rng.normal(0, 2, 200)
    gap = judged(ComparedSamples(only_a=a, only_b=b))
    test = stats.ttest_ind(a, b, equal_var=False)
    low, high = test.confidence_interval(0.95)
    assert (gap.marginal.low, gap.marginal.high) == pytest.approx((low, high), rel=0.03)
    assert gap.p_disparity == pytest.approx(test.pvalue, rel=0.05)


def test_regular_pairs_have_students_interval_and_p_value() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(0.4, 1, 40), rng.normal(0, 1, 40)
    gap = judged(ComparedSamples(a, b))
    test = stats.ttest_rel(a, b)
    low, high = test.confidence_interval(0.95)
    flipped = stats.permutation_test(
        (a - b,), np.mean, permutation_type="samples", n_resamples=20_000, rng=rng
    )
    assert (gap.marginal.low, gap.marginal.high) == pytest.approx((low, high), rel=3e-3)
    assert gap.p_disparity == pytest.approx(max(test.pvalue, flipped.pvalue), rel=0.2)


def test_partly_paired_units_join_both_gaps_with_their_weights() -> None:
    rng = np.random.default_rng(7)
    twins = rng.normal(0, 1, 30)
    samples = ComparedSamples(
        twins + 0.5 + rng.normal(0, 0.1, 30), twins, rng.normal(0.5, 1, 40), rng.normal(0, 1, 60)
    )
    gap = judged(samples)
    weight = 30 / (30 + 40 * 60 / 100)
    gaps = samples.differences.mean(), samples.only_a.mean() - samples.only_b.mean()
    assert samples.weight == pytest.approx(weight)
    assert gap.marginal.value == pytest.approx(weight * gaps[0] + (1 - weight) * gaps[1])
    alone = judged(ComparedSamples(only_a=samples.only_a, only_b=samples.only_b))
    assert (gap.p_disparity or 1) < (alone.p_disparity or 1)


UNITS = st.lists(st.integers(1, 5).map(float), min_size=0, max_size=24)
SHAPES = st.sampled_from(["paired", "single", "partly"])
BOUNDS = st.sampled_from([None, (1.0, 5.0), (0.0, 10.0)])


@st.composite
def compared(draw: st.DrawFn) -> ComparedSamples:
    shape = draw(SHAPES)
    pairs = draw(st.lists(st.tuples(*[st.integers(1, 5).map(float)] * 2), max_size=24))
    a, b = ([], []) if shape == "paired" else (draw(UNITS), draw(UNITS))
    if shape == "single":
        pairs = []
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    return ComparedSamples(
        np.array(first), np.array(second), np.array(a), np.array(b), draw(BOUNDS)
    )


@settings(max_examples=150, deadline=None)
@given(
    compared(),
    st.sampled_from([0.0, 0.05, 0.5, 2.0]),
    st.sampled_from([0.1, 0.05, 0.001, 1e-6]),
    st.sampled_from([1, 3, 1000]),
)
def test_tests_and_intervals_never_contradict_each_other(
    samples: ComparedSamples, tolerance: float, alpha: float, family: int
) -> None:
    gap = compare_samples(samples, alpha=alpha, tolerance=tolerance, family=family)
    for interval, level in ((gap.marginal, alpha), (gap.simultaneous, alpha / family)):
        if interval.low is None or interval.high is None:
            continue
        assert gap.p_disparity is not None
        beyond = interval.low > tolerance or interval.high < -tolerance
        assume(abs(gap.p_disparity - level) > 1e-9 * level)
        assert (gap.p_disparity < level) == beyond
        if gap.p_equivalence is None:
            assert tolerance == 0
            continue
        assume(abs(gap.p_equivalence - level) > 1e-9 * level)
        within = -tolerance < interval.low and interval.high < tolerance
        assert (gap.p_equivalence < level) == within


@settings(max_examples=80, deadline=None)
@given(compared(), st.sampled_from([0.0, 0.5]))
def test_exchanging_the_groups_mirrors_everything(
    samples: ComparedSamples, tolerance: float
) -> None:
    gap = judged(samples, tolerance)
    exchanged = replace(
        samples, paired_a=samples.paired_b, paired_b=samples.paired_a,
        only_a=samples.only_b, only_b=samples.only_a,
    )  # fmt: skip
    other = judged(exchanged, tolerance)
    assert _numbers(other) == pytest.approx(_numbers(gap, sign=-1), abs=2e-4, nan_ok=True)
    assert other.marginal.reason == gap.marginal.reason


@settings(max_examples=80, deadline=None)
@given(compared(), st.randoms(use_true_random=False))
def test_the_order_of_units_changes_no_number(samples: ComparedSamples, random: object) -> None:
    def shuffled(n: int) -> list[int]:
        order = list(range(n))
        random.shuffle(order)  # type: ignore[attr-defined]
        return order

    pairs = shuffled(len(samples.paired_a))
    other = replace(
        samples, paired_a=samples.paired_a[pairs], paired_b=samples.paired_b[pairs],
        only_a=samples.only_a[shuffled(len(samples.only_a))],
        only_b=samples.only_b[shuffled(len(samples.only_b))],
    )  # fmt: skip
    expected = _numbers(judged(samples, 0.1))
    assert _numbers(judged(other, 0.1)) == pytest.approx(expected, rel=1e-9, nan_ok=True)


def _numbers(result: GapResult, sign: int = 1) -> list[float]:
    """Every number of a result, of exchanged groups where sign is -1; NaN for none."""
    gap = result.marginal
    low, high = (gap.low, gap.high) if sign == 1 else (gap.high, gap.low)
    gaps = [np.nan if item is None else sign * item for item in (gap.value, low, high)]
    tests = (result.p_disparity, result.p_equivalence)
    return gaps + [np.nan if test is None else test for test in tests]


@pytest.mark.parametrize(
    ("samples", "value", "reason"),
    [
        (ComparedSamples(), None, NO_VALUES),
        (ComparedSamples(only_a=np.ones(5)), None, NO_VALUES),
        (ComparedSamples(only_a=np.ones(5), only_b=np.zeros(1)), 1.0, ONE_UNIT),
        (ComparedSamples(np.ones(1), np.zeros(1), bounds=(0.0, 1.0)), 1.0, ONE_UNIT),
        (ComparedSamples(only_a=np.full(9, 3.0), only_b=np.full(4, 3.0)), 0.0, NO_RANGE),
        (ComparedSamples(np.full(9, 3.0), np.full(9, 3.0)), 0.0, NO_RANGE),
    ],
)
def test_what_shows_no_spread_has_a_reason_and_no_interval(
    samples: ComparedSamples, value: float | None, reason: str
) -> None:
    gap = judged(samples, 0.1)
    assert gap.marginal.value == value
    assert gap.marginal.low is gap.simultaneous.high is None
    assert gap.marginal.reason == gap.simultaneous.reason == reason
    assert (gap.p_disparity or 1.0) == (gap.p_equivalence or 1.0) == 1.0


def test_equal_groups_in_a_known_range_are_known_as_well_as_their_numbers_say() -> None:
    few, many = (
        judged(ComparedSamples(only_a=np.zeros(n), only_b=np.zeros(n), bounds=(0.0, 1.0)), 0.05)
        for n in (20, 2000)
    )
    assert few.marginal.high == pytest.approx(1 - 0.05 ** (1 / 20), rel=0.02)
    assert few.p_equivalence is not None
    assert many.p_equivalence is not None
    assert many.p_equivalence < 1e-6 < 0.05 < few.p_equivalence


def test_all_of_one_group_and_none_of_the_other_is_a_disparity() -> None:
    gap = judged(ComparedSamples(only_a=np.ones(40), only_b=np.zeros(40), bounds=(0.0, 1.0)), 0.05)
    assert gap.p_disparity is not None
    assert gap.p_disparity < 1e-12


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
def test_a_small_group_ever_farther_from_a_large_one_stays_a_disparity(tolerance: float) -> None:
    """Also where Student's curve takes over, and a test of labels has to agree."""
    large = zeros_and_ones(50, 1000)
    for ones in range(7, 26):
        samples = ComparedSamples(NONE, NONE, zeros_and_ones(ones, 25), large, (0.0, 1.0))
        gap = judged(samples, tolerance).p_disparity
        assert gap is not None
        assert gap <= 0.01, ones


def test_a_flat_small_group_borrows_no_certainty_from_a_large_one() -> None:
    """0 of 25 against 70 of 1,000: Fisher's p is .25."""
    gap = judged(
        ComparedSamples(only_a=np.zeros(25), only_b=zeros_and_ones(70, 1000), bounds=(0.0, 1.0))
    )
    assert gap.p_disparity is not None
    assert 0.05 < gap.p_disparity < 0.4


def test_of_an_unknown_range_a_flat_group_shows_no_spread() -> None:
    lengths = np.random.default_rng(9).normal(200, 30, 50)
    gap = judged(ComparedSamples(only_a=np.full(5, 210.0), only_b=lengths), 20)
    assert (gap.marginal.low, gap.marginal.high) == (None, None)
    assert gap.marginal.reason is not None
    assert "declare the range" in gap.marginal.reason
    assert gap.p_equivalence == 1.0


def test_of_an_unknown_range_a_flat_group_far_beyond_all_others_is_a_disparity() -> None:
    lengths = np.random.default_rng(9).normal(200, 30, 50)
    gap = judged(ComparedSamples(only_a=np.full(8, 900.0), only_b=lengths), 20)
    assert gap.p_disparity is not None
    assert gap.p_disparity < 0.001
    assert gap.marginal.low is None


def test_a_range_of_one_value_leaves_no_gap() -> None:
    gap = judged(ComparedSamples(only_a=np.ones(3), only_b=np.ones(3), bounds=(1.0, 1.0)), 0.1)
    assert (gap.marginal.low, gap.marginal.high) == (0.0, 0.0)
    assert gap.p_disparity == 1.0


def test_a_value_outside_the_declared_range_is_a_mistake() -> None:
    outside = ComparedSamples(only_a=np.array([0.1, 1.2]), only_b=np.zeros(5), bounds=(0.0, 1.0))
    with pytest.raises(ValueError, match="outside the range"):
        judged(outside)

"""Clustered comparisons against statsmodels formulas, scipy and plain loops."""

from random import Random

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from shared.stats.comparisons.cluster_bootstrap import cluster_bootstrap
from shared.stats.comparisons.clustered import between_prompts, cluster_robust, within_prompts
from shared.stats.comparisons.clusters import Comparison

NAN = float("nan")
Answers = dict[str, list[float]]


def simulated(seed: int, prompts: int = 25, *, shared: bool = False) -> tuple[Answers, Answers]:
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 0.15, (2, prompts))
    groups = []
    for side in range(2):
        names = [f"p{i}" if shared else f"{side}-{i}" for i in range(prompts)]
        base = level[0 if shared else side] + rng.normal(0, 0.05, prompts)
        groups.append(
            {
                name: list(base[i] + rng.normal(0, 0.15, 1 + (i * 7 + side) % 5))
                for i, name in enumerate(names)
            }
        )
    return groups[0], groups[1]


def numbers(found: Comparison) -> tuple[float | None, ...]:
    estimate = found.difference.estimate
    return estimate.value, estimate.low, estimate.high, found.difference.p_value


def test_between_prompts_is_welchs_test_of_prompt_means() -> None:
    a, b = simulated(1)
    found = between_prompts(a, b, 0.05)
    x, y = ([np.mean(v) for v in group.values()] for group in (a, b))
    test = stats.ttest_ind(x, y, equal_var=False)
    interval = test.confidence_interval(0.95)
    expected = (np.mean(x) - np.mean(y), interval.low, interval.high, test.pvalue)
    assert numbers(found) == pytest.approx(expected, abs=1e-9)
    assert (found.prompts_a, found.prompts_b, found.prompts_shared) == (25, 25, 0)


def test_within_prompts_is_the_paired_test_of_what_both_answered() -> None:
    a, b = simulated(2, shared=True)
    found = within_prompts(a | {"only": [9.0]}, b | {"p3": [NAN]}, 0.05)
    names = [name for name in a if name != "p3"]
    x, y = ([np.mean(group[name]) for name in names] for group in (a, b))
    test = stats.ttest_rel(x, y)
    interval = test.confidence_interval(0.95)
    expected = (np.mean(x) - np.mean(y), interval.low, interval.high, test.pvalue)
    assert numbers(found) == pytest.approx(expected, abs=1e-9)
    assert (found.prompts_shared, found.missing_b) == (24, 1)


@pytest.mark.parametrize("shared", [True, False])
def test_cluster_robust_is_statsmodels_formula(shared: bool) -> None:
    a, b = simulated(3, shared=shared)
    rows = [(v, 1.0, p) for p, values in a.items() for v in values]
    rows += [(v, 0.0, p) for p, values in b.items() for v in values]
    frame = pd.DataFrame(rows, columns=["y", "a", "prompt"])
    groups = frame["prompt"].astype("category").cat.codes
    fit = smf.ols("y ~ a", frame).fit(
        cov_type="cluster", cov_kwds={"groups": groups.to_numpy()}, use_t=True
    )
    low, high = fit.conf_int(0.1).loc["a"]
    expected = (fit.params["a"], low, high, fit.pvalues["a"])
    assert numbers(cluster_robust(a, b, 0.1)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_the_bootstrap_agrees_with_a_plain_loop(shared: bool) -> None:
    a, b = simulated(4, prompts=15, shared=shared)
    found = cluster_bootstrap(a, b, 0.05, rng=np.random.default_rng(1), resamples=4000)
    rng = np.random.default_rng(2)
    names = sorted({*a, *b})
    gap, error = gap_and_error(a, b, names)
    drawn = [gap_and_error(a, b, list(rng.choice(names, len(names)))) for _ in range(4000)]
    t = np.array([(g - gap) / e for g, e in drawn])
    expected = (gap - np.quantile(t, 0.975) * error, gap - np.quantile(t, 0.025) * error)
    value, low, high, p_value = numbers(found)
    assert value == pytest.approx(gap, abs=1e-12)
    assert (low, high) == pytest.approx(expected, abs=0.2 * error)
    tail = min((t >= gap / error).mean(), (t <= gap / error).mean())
    assert p_value == pytest.approx(min(1, 2 * tail), abs=0.03)


def gap_and_error(a: Answers, b: Answers, names: list[str]) -> tuple[float, float]:
    x = [np.array(a.get(name, [])) for name in names]
    y = [np.array(b.get(name, [])) for name in names]
    mean_x, mean_y = np.concatenate(x).mean(), np.concatenate(y).mean()
    n, m = sum(map(len, x)), sum(map(len, y))
    pulls = [(u - mean_x).sum() / n - (v - mean_y).sum() / m for u, v in zip(x, y, strict=True)]
    factor = len(names) / (len(names) - 1)
    return float(mean_x - mean_y), float(np.sqrt(factor * sum(p**2 for p in pulls)))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.booleans(), st.randoms(use_true_random=False))
def test_order_names_and_missing_answers_change_nothing(seed: int, shared: bool, r: Random) -> None:
    a, b = simulated(seed, 12, shared=shared)
    keys = list(a)
    r.shuffle(keys)
    moved = {f"new {k}": [*reversed(a[k]), NAN] for k in keys}
    renamed = {f"new {k}": values for k, values in b.items()}
    for one, two in zip(every(a, b), every(moved, renamed), strict=True):
        assert numbers(two) == pytest.approx(numbers(one), abs=1e-9)
        assert (two.missing_a, one.missing_a) == (12, 0)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.booleans())
def test_a_constant_added_to_a_group_moves_the_gap_by_it(
    seed: int, constant: float, shared: bool
) -> None:
    a, b = simulated(seed, 12, shared=shared)
    moved = {k: [v + constant for v in values] for k, values in a.items()}
    for one, two in zip(every(a, b), every(moved, b), strict=True):
        for before, after in zip(numbers(one)[:3], numbers(two)[:3], strict=True):
            if before is None:
                assert after is None
            else:
                assert after == pytest.approx(before + constant, abs=1e-9)


def every(a: Answers, b: Answers) -> list[Comparison]:
    rng = np.random.default_rng(6)
    return [
        between_prompts(a, b, 0.05),
        within_prompts(a, b, 0.05),
        cluster_robust(a, b, 0.05),
        cluster_bootstrap(a, b, 0.05, rng=rng, resamples=199),
    ]


def test_what_is_undefined_says_why() -> None:
    few = {str(i): [float(i)] for i in range(9)}
    many = {f"m{i}": [float(i % 3)] for i in range(20)}
    rng = np.random.default_rng(1)
    reason = "fewer than 10 prompts in a group: use the means of prompts"
    assert cluster_robust(few, many, 0.05).difference.estimate.reason == reason
    assert cluster_bootstrap(few, many, 0.05, rng=rng).difference.estimate.reason == reason
    assert cluster_robust(few, many, 0.05).difference.estimate.value == pytest.approx(4 - 0.95)
    ten = {str(i): [float(i)] for i in range(10)}
    crowd = {f"c{i}": [float(i % 3)] for i in range(21)}
    reason = "few and unequal numbers of prompts: use the means of prompts"
    assert cluster_robust(ten, crowd, 0.05).difference.estimate.reason == reason
    assert cluster_robust(ten, many, 0.05).difference.p_value is not None
    shared = within_prompts(few, many, 0.05).difference
    assert (shared.estimate.reason, shared.p_value) == ("the groups share no prompt", None)
    for group in ({}, {"x": [NAN]}):
        assert [c.difference.estimate.value for c in every(group, many)] == [None] * 4
    flat = {f"f{i}": [1.0, 1.0] for i in range(12)}
    for found in every(flat, {f"g{i}": [2.0] for i in range(12)})[2:]:
        assert found.difference.p_value is None
        assert found.difference.estimate.value == pytest.approx(-1)
        assert found.difference.estimate.reason == "the prompts do not differ"


def test_pairs_that_differ_by_a_constant_have_no_spread() -> None:
    a = {k: v + v for k, v in simulated(9, 15, shared=True)[0].items()}
    b = {k: [x + 0.2 for x in v] for k, v in a.items()}
    for found in every(a, b)[1:]:
        assert found.difference.estimate.value == pytest.approx(-0.2)
        assert found.difference.p_value is None


def test_mistakes_are_sentences() -> None:
    a, b = simulated(10, 12)
    with pytest.raises(ValueError, match="at least one resample, not 0"):
        cluster_bootstrap(a, b, 0.05, rng=np.random.default_rng(1), resamples=0)
    with pytest.raises(ValueError, match="has to lie between 0 and 1"):
        cluster_robust(a, b, 1.5)


def test_a_bootstrap_of_hardly_any_difference_says_so() -> None:
    flat = {f"f{i}": [0.0] for i in range(30)}
    once = {f"g{i}": [float(i == 0)] for i in range(30)}
    found = cluster_bootstrap(flat, once, 0.05, rng=np.random.default_rng(1)).difference
    assert found.estimate.value == pytest.approx(-1 / 30)
    assert (found.estimate.low, found.p_value) == (None, None)
    assert found.estimate.reason == "too few answers differ: many draws of prompts have no spread"

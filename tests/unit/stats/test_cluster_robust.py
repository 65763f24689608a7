"""Cluster-robust comparisons against statsmodels' formula."""

from random import Random

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.stats.comparisons.cluster_robust import ClusteredDifference, cluster_robust

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


def numbers(found: ClusteredDifference) -> tuple[float | None, ...]:
    estimate = found.difference.estimate
    return estimate.value, estimate.low, estimate.high, found.difference.p_value


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


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.booleans(), st.randoms(use_true_random=False))
def test_order_names_and_missing_answers_change_nothing(seed: int, shared: bool, r: Random) -> None:
    a, b = simulated(seed, 12, shared=shared)
    keys = list(a)
    r.shuffle(keys)
    moved = {f"new {k}": [*reversed(a[k]), NAN] for k in keys}
    renamed = {f"new {k}": values for k, values in b.items()}
    one, two = cluster_robust(a, b, 0.05), cluster_robust(moved, renamed, 0.05)
    assert numbers(two) == pytest.approx(numbers(one), abs=1e-9)
    assert (two.missing_a, one.missing_a) == (12, 0)
    assert (two.prompts_a, two.prompts_shared) == (one.prompts_a, one.prompts_shared)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.floats(-3, 3), st.booleans())
def test_a_constant_added_to_a_group_moves_the_gap_by_it(
    seed: int, constant: float, shared: bool
) -> None:
    a, b = simulated(seed, 12, shared=shared)
    moved = {k: [v + constant for v in values] for k, values in a.items()}
    before, after = (numbers(cluster_robust(group, b, 0.05))[:3] for group in (a, moved))
    assert None not in before
    shifted = [value + constant for value in before if value is not None]
    assert after == pytest.approx(shifted, abs=1e-9)


def test_what_is_undefined_says_why() -> None:
    few = {str(i): [float(i)] for i in range(9)}
    many = {f"m{i}": [float(i % 3)] for i in range(20)}
    found = cluster_robust(few, many, 0.05).difference.estimate
    assert found.reason == "fewer than 10 prompts in a group: use the means of prompts"
    assert found.value == pytest.approx(4 - 0.95)
    ten = {str(i): [float(i)] for i in range(10)}
    crowd = {f"c{i}": [float(i % 3)] for i in range(21)}
    reason = "few and unequal numbers of prompts: use the means of prompts"
    assert cluster_robust(ten, crowd, 0.05).difference.estimate.reason == reason
    assert cluster_robust(ten, many, 0.05).difference.p_value is not None
    empty: tuple[Answers, ...] = ({}, {"x": [NAN]})
    for group in empty:
        assert cluster_robust(group, many, 0.05).difference.estimate.value is None


def test_prompts_that_do_not_differ_leave_no_interval() -> None:
    flat = {f"f{i}": [1.0, 1.0] for i in range(12)}
    a = {k: v + v for k, v in simulated(9, 15, shared=True)[0].items()}
    b = {k: [x + 0.2 for x in v] for k, v in a.items()}
    for one, two, gap in ((flat, {f"g{i}": [2.0] for i in range(12)}, -1), (a, b, -0.2)):
        found = cluster_robust(one, two, 0.05).difference
        assert found.p_value is None
        assert found.estimate.value == pytest.approx(gap)
        assert found.estimate.reason == "the prompts do not differ"


def test_an_impossible_alpha_is_a_sentence() -> None:
    a, b = simulated(10, 12)
    with pytest.raises(ValueError, match="has to lie between 0 and 1"):
        cluster_robust(a, b, 1.5)

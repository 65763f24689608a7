"""Disparity between groups against numpy and scipy, and what is undefined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from biaswatch.shared.stats.groups.cells import Reason, sentence
from biaswatch.shared.stats.groups.disparity import NO_HOLDER, Disparity, disparities
from biaswatch.shared.stats.groups.spreads import METRICS
from biaswatch.shared.stats.groups.summary import Summary

Floats = NDArray[np.float64]


def summary_of(values: Floats, names: tuple[str, ...] = ("mean", "sr_larger_sd_mean")) -> Summary:
    """Return a summary with these values, [statistics, groups, features]."""
    counts = np.ones(values.shape[1:], dtype=np.int64)
    groups = tuple(str(index) for index in range(values.shape[1]))
    features = tuple(str(index) for index in range(values.shape[2]))
    codes = np.where(np.isnan(values), Reason.NO_VALUES, Reason.DEFINED).astype(np.int8)
    return Summary(names[: len(values)], groups, features, values, codes, counts, counts)


def over(*values: float, name: str = "mean") -> Disparity:
    one = np.array(values, dtype=float).reshape(1, -1, 1)
    return disparities(summary_of(one, (name,)), np.zeros(one.shape[1], dtype=int), ["d"])


def value(result: Disparity, metric: str) -> float:
    return float(result.values[METRICS.index(metric), 0, 0, 0])


def why(result: Disparity, metric: str) -> str | None:
    assert np.isnan(value(result, metric))
    return sentence(result.reasons[METRICS.index(metric), 0, 0, 0])


def test_each_domain_is_measured_by_itself_and_holders_are_named() -> None:
    rng = np.random.default_rng(2)
    values = rng.random((2, 12, 4))
    values[0, 5, 2] = np.nan
    domain_of = rng.permutation(np.repeat([0, 1], 6))
    disparity = disparities(summary_of(values), domain_of, ["north", "south"])
    for domain in range(2):
        for statistic in range(2):
            for feature in range(4):
                here = np.flatnonzero(domain_of == domain)
                x = values[statistic, here, feature]
                here, x = here[~np.isnan(x)], x[~np.isnan(x)]
                place = (domain, statistic, feature)
                got = {m: disparity.values[(i, *place)] for i, m in enumerate(METRICS)}
                z = stats.zscore(x)
                assert disparity.k[place] == len(x)
                assert got["Max"] == x.max()
                assert got["Min"] == x.min()
                assert got["Min/Max"] == pytest.approx(x.min() / x.max())
                assert got["Max-Min"] == pytest.approx(np.ptp(x))
                assert got["Avg"] == pytest.approx(x.mean())
                assert got["Std"] == pytest.approx(x.std(ddof=1))
                assert got["Max Z-Score"] == pytest.approx(z.max())
                assert got["Min Z-Score"] == pytest.approx(z.min())
                assert got["Z-Score Bound"] == pytest.approx(np.sqrt(len(x) - 1))
                assert got["Dixon Q"] == max(got["Dixon Q Low"], got["Dixon Q High"])
                assert np.isnan(got["Impact Ratio"]) == (statistic == 0)
                assert disparity.holders[(0, *place)] == here[x.argmax()]
                assert disparity.holders[(1, *place)] == here[x.argmin()]
                assert disparity.holders[(METRICS.index("Avg"), *place)] == NO_HOLDER


@pytest.mark.parametrize(
    ("values", "metric", "reason"),
    [
        ([np.nan, np.nan], "Max", "no group has a value"),
        ([1.0, np.nan], "Max-Min", "only one group has a value"),
        ([1.0], "Std", "only one group has a value"),
        ([1.0], "Z-Score Bound", "only one group has a value"),
        ([0.0, 0.0], "Min/Max", "the largest value is 0: there is nothing to divide by"),
        ([-1.0, 1.0], "Min/Max", "a ratio of values below 0 has no meaning"),
        ([-1.0, -2.0], "Min/Max", "a ratio of values below 0 has no meaning"),
        ([0.1 + 0.2, 0.3, 0.3], "Max Z-Score", "all groups are equal"),
        ([0.1 + 0.2, 0.3, 0.3], "Dixon Q", "all groups are equal"),
        ([1.0, 2.0], "Dixon Q", "fewer than three groups have a value"),
        ([1.0, 2.0, 4.0], "Impact Ratio", "an impact ratio compares selection rates"),
        ([1e308, -1e308, 0.0], "Max-Min", "the calculation gave no finite number"),
    ],
)
def test_what_is_undefined_says_why(values: list[float], metric: str, reason: str) -> None:
    assert str(why(over(*values), metric)).startswith(reason)


def test_a_group_without_selections_has_an_impact_ratio_of_zero_that_it_holds() -> None:
    disparity = over(0.5, 0.0, 0.25, name="sr_larger_sd_mean")
    assert value(disparity, "Impact Ratio") == 0
    assert disparity.holders[METRICS.index("Impact Ratio"), 0, 0, 0] == 1


@pytest.mark.parametrize("k", [3, 5, 21])
def test_a_lone_low_group_is_seen_as_well_as_a_lone_high_one(k: int) -> None:
    low = over(*([1.0] * (k - 1)), 0.0)
    high = over(*([0.0] * (k - 1)), 1.0)
    assert value(low, "Min Z-Score") == pytest.approx(-np.sqrt(k - 1))
    assert value(high, "Max Z-Score") == pytest.approx(np.sqrt(k - 1))
    for disparity, end in ((low, "Dixon Q Low"), (high, "Dixon Q High")):
        assert value(disparity, end) == 1
        assert disparity.holders[METRICS.index("Dixon Q"), 0, 0, 0] == k - 1


def test_a_group_without_domain_is_refused() -> None:
    summary = summary_of(np.ones((1, 3, 1)), ("mean",))
    with pytest.raises(ValueError, match="3 groups, but 2 domains"):
        disparities(summary, np.array([0, 0]), ["d"])
    with pytest.raises(ValueError, match="not one of 0 to 0"):
        disparities(summary, np.array([0, 1, 0]), ["d"])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.permutations(range(7)), st.floats(-100, 100))
def test_renaming_groups_renames_holders_and_a_constant_moves_no_spread(
    seed: int, new: list[int], constant: float
) -> None:
    values = np.random.default_rng(seed).random((1, 7, 3))
    domain_of = np.zeros(7, dtype=int)
    before = disparities(summary_of(values, ("mean",)), domain_of, ["d"])
    renamed = np.empty_like(values)
    renamed[:, new] = values + constant
    after = disparities(summary_of(renamed, ("mean",)), domain_of, ["d"])
    for metric in ("Max-Min", "Std", "Max Z-Score", "Min Z-Score", "Dixon Q"):
        place = METRICS.index(metric)
        assert after.values[place] == pytest.approx(before.values[place], abs=1e-7)
    assert after.values[0] == pytest.approx(before.values[0] + constant, abs=1e-9)
    assert (after.holders[0] == np.array(new)[before.holders[0]]).all()

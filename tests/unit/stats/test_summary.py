"""Every statistic of every group against scipy, numpy and pandas, and what is undefined."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from biaswatch.shared.stats.groups.cells import Measurements, Reason, sentence
from biaswatch.shared.stats.groups.registry import parse_statistic
from biaswatch.shared.stats.groups.summary import Summary, summarise
from tests.support.own_statistics import PerCell

GROUPS = ("ant", "bee", "cat", "dog", "elk")
FEATURES = ("sentiment", "toxicity", "length")


def uneven(seed: int, *, missing: float = 0.1, rows: int = 211) -> Measurements:
    """Return unsorted groups of very unequal size, with missing values and a baseline."""
    rng = np.random.default_rng(seed)
    baseline = rng.normal(0.3, 0.4, (rows, 3))
    values = baseline + rng.gamma(2, 0.3, (rows, 3))
    values[rng.random(values.shape) < missing] = np.nan
    baseline[rng.random(values.shape) < missing] = np.nan
    codes = rng.choice(5, rows, p=[0.5, 0.25, 0.15, 0.06, 0.04])
    return Measurements(values, codes, GROUPS, FEATURES, baseline)


def one(name: str, table: Measurements, ddof: int = 0) -> Summary:
    return summarise(table, [parse_statistic(name)], ddof)


def single(*values: float, baseline: list[float] | None = None) -> Measurements:
    other = None if baseline is None else np.array(baseline)[:, None]
    return Measurements(
        np.array(values)[:, None], np.zeros(len(values), dtype=int), ("a",), ("x",), other
    )


def binned_mode(x: np.ndarray[Any, Any], width: float) -> float:
    edges = np.arange(x.min(), x.max() + width, width)
    modal = stats.mode(np.digitize(x, edges)).mode
    return float(edges[modal - 1] + width / 2)


OF_VALUES: dict[str, Callable[[Any], float]] = {
    "mean": np.mean,
    "median": np.median,
    "mode": lambda x: binned_mode(x, 0.1),
    "mode-0.5": lambda x: binned_mode(x, 0.5),
    "variance": np.var,
    "standard_deviation": np.std,
    "skewness": stats.skew,
    "kurtosis": stats.kurtosis,
    "range": np.ptp,
    "quantile_0.25_0.75": stats.iqr,
    "quantile_0.1_0.9": lambda x: float(np.diff(np.quantile(x, [0.1, 0.9]))[0]),
    "percentile_25_75": lambda x: float(np.diff(np.percentile(x, [25, 75]))[0]),
}


@pytest.mark.parametrize("name", OF_VALUES)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_a_statistic_of_unequal_groups_is_scipys_or_numpys(name: str, missing: float) -> None:
    table = uneven(3, missing=missing)
    summary = one(name, table)
    for group in range(5):
        for feature in range(3):
            x = table.values[table.codes == group, feature]
            expected = OF_VALUES[name](x[np.isfinite(x)])
            assert summary.values[0, group, feature] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("decimals", [1, 9])
def test_a_correlation_is_pandas_over_the_rows_that_have_both(method: str, decimals: int) -> None:
    table = uneven(4)
    assert table.baseline is not None
    table = replace(
        table, values=table.values.round(decimals), baseline=table.baseline.round(decimals)
    )
    summary = one(f"correlation_wrt_baseline_method_{method}", table).values[0]
    assert table.baseline is not None
    for group in range(5):
        for feature in range(3):
            own = table.codes == group
            x = pd.Series(table.values[own, feature])
            y = pd.Series(table.baseline[own, feature])
            expected = x.corr(y, method=method)  # type: ignore[arg-type]
            assert summary[group, feature] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_two_pairs_correlate_wholly_or_inversely(method: str) -> None:
    name = f"correlation_wrt_baseline_method_{method}"
    assert one(name, single(1.0, 2.0, baseline=[3.0, 9.0])).values[0, 0, 0] == pytest.approx(1)
    assert one(name, single(1.0, 2.0, baseline=[9.0, 3.0])).values[0, 0, 0] == pytest.approx(-1)


@pytest.mark.parametrize("bins", [2, 10, 33])
@pytest.mark.parametrize("decimals", [1, 9])
def test_a_divergence_is_scipys_entropy_of_smoothed_shared_histograms(
    bins: int, decimals: int
) -> None:
    table = uneven(5)
    assert table.baseline is not None
    values, baseline = table.values.round(decimals), table.baseline.round(decimals)
    table = replace(table, values=values, baseline=baseline)
    names = [f"{kind}_divergence_wrt_baseline_bin_{bins}" for kind in ("kl", "js")]
    summary = summarise(table, [parse_statistic(name) for name in names]).values
    for group in range(5):
        for feature in range(3):
            x, y = (side[table.codes == group, feature] for side in (values, baseline))
            x, y = x[np.isfinite(x)], y[np.isfinite(y)]
            span = (min(x.min(), y.min()), max(x.max(), y.max()))
            p, q = (np.histogram(side, bins, span)[0] + 0.5 for side in (x, y))
            p, q = p / p.sum(), q / q.sum()
            m = (p + q) / 2
            kl, js = stats.entropy(p, q), (stats.entropy(p, m) + stats.entropy(q, m)) / 2
            assert summary[:, group, feature] == pytest.approx([kl, js], abs=1e-9)


STANDARDS: dict[str, Callable[[Any], float]] = {
    "mean": np.mean,
    "median": np.median,
    "mode": lambda x: binned_mode(x, 0.1),
    "mode-0.3": lambda x: binned_mode(x, 0.3),
    "quantile_range=0.1": lambda x: float(np.quantile(x, 0.1)),
    "percentile_range=90": lambda x: float(np.percentile(x, 90)),
    "fixed=0.7": lambda _: 0.7,
    "fixed=-0.2": lambda _: -0.2,
}
METHODS: dict[str, Callable[[Any, float], Any]] = {
    "larger": lambda x, s: x >= s,
    "smaller": lambda x, s: x <= s,
    "within-range-0.2": lambda x, s: np.abs(x - s) <= 0.2,
    "within-percentage-0.5": lambda x, s: np.abs(x - s) <= 0.5 * abs(s),
}


@pytest.mark.parametrize("standard", STANDARDS)
@pytest.mark.parametrize("method", METHODS)
def test_a_selection_rate_compares_with_a_standard_over_all_rows(
    method: str, standard: str
) -> None:
    table = uneven(6)
    summary = one(f"sr_{method}_sd_{standard}", table).values[0]
    for feature in range(3):
        column = table.values[:, feature]
        s = STANDARDS[standard](column[np.isfinite(column)])
        for group in range(5):
            x = column[(table.codes == group) & np.isfinite(column)]
            expected = METHODS[method](x, s).mean()
            assert summary[group, feature] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("tolerance", [0, 0.25, 1])
def test_precision_counts_pairs_within_the_tolerance(tolerance: float) -> None:
    table = uneven(7)
    summary = one(f"precision_wrt_baseline_tolerance_{tolerance}", table).values[0]
    assert table.baseline is not None
    distance = np.abs(table.values - table.baseline)
    for group in range(5):
        for feature in range(3):
            own = distance[table.codes == group, feature]
            own = own[np.isfinite(own)]
            assert summary[group, feature] == pytest.approx(np.mean(own <= tolerance), abs=1e-12)


def test_ddof_1_is_pandas_and_changes_nothing_but_the_spread() -> None:
    table = uneven(8)
    frame = pd.DataFrame(table.values).groupby(table.codes)
    assert one("variance", table, 1).values[0] == pytest.approx(frame.var().to_numpy(), abs=1e-9)
    assert one("standard_deviation", table, 1).values[0] == pytest.approx(frame.std().to_numpy())
    assert one("skewness", table, 1).values == pytest.approx(one("skewness", table, 0).values)
    with pytest.raises(ValueError, match="ddof is 0 or 1"):
        one("mean", table, 2)


def test_missing_values_and_infinities_are_counted_and_left_out() -> None:
    table = single(1.0, np.nan, 3.0, np.inf, -np.inf)
    summary = summarise(table, [parse_statistic("mean"), parse_statistic("sr_larger_sd_mean")])
    assert (summary.n[0, 0], summary.n_missing[0, 0]) == (2, 3)
    assert summary.values[:, 0, 0] == pytest.approx([2.0, 0.5])


def why(result: Summary) -> str | None:
    assert np.isnan(result.values[0, 0, 0])
    return sentence(result.reasons[0, 0, 0])


@pytest.mark.parametrize(
    ("name", "values", "baseline", "reason"),
    [
        ("mean", [], None, "no values"),
        ("mode", [np.nan], None, "no values"),
        ("median", [np.nan], None, "no values"),
        ("sr_larger_sd_mean", [np.nan], None, "no values"),
        ("variance", [2.0], None, "one value has no spread"),
        ("range", [2.0], None, "one value has no spread"),
        ("quantile_0.25_0.75", [2.0], None, "one value has no spread"),
        ("skewness", [2.0], None, "one value has no spread"),
        ("skewness", [0.1] * 3, None, "all values are equal"),
        ("kurtosis", [0.1 + 0.2, 0.3], None, "all values are equal"),
        ("precision_wrt_baseline_tolerance_0", [1.0], None, "the table has no baseline"),
        ("kl_divergence_wrt_baseline_bin_10", [1.0], None, "the table has no baseline"),
        ("precision_wrt_baseline_tolerance_0", [1.0], [np.nan], "no row has both"),
        ("kl_divergence_wrt_baseline_bin_10", [1.0], [np.nan], "no baseline values"),
        ("correlation_wrt_baseline_method_pearson", [1.0, 2.0], [1.0, np.nan], "one pair"),
        ("correlation_wrt_baseline_method_kendall", [1.0, 1.0], [1.0, 2.0], "all values"),
        ("correlation_wrt_baseline_method_spearman", [1.0, 2.0], [1.0, 1.0], "all baseline"),
        ("variance", [1e200, -1e200], None, "the calculation gave no finite number"),
    ],
)
def test_what_is_undefined_says_why(
    name: str, values: list[float], baseline: list[float] | None, reason: str
) -> None:
    summary = why(one(name, single(*values, baseline=baseline)))
    assert summary is not None
    assert summary.startswith(reason)


def test_every_reason_has_a_sentence() -> None:
    assert sentence(Reason.DEFINED) is None
    assert all(sentence(reason) for reason in Reason if reason != Reason.DEFINED)


def test_equal_values_meet_their_own_mean() -> None:
    summary = one("sr_larger_sd_mean", single(0.1, 0.1, 0.1))
    assert summary.values[0, 0, 0] == 1.0


def test_a_feature_without_any_value_and_a_group_without_rows_harm_no_other() -> None:
    table = uneven(9)
    values = table.values.copy()
    values[:, 1] = np.nan
    lost = replace(table, values=values, groups=(*GROUPS, "fox"))
    names = [*OF_VALUES, "sr_larger_sd_mean", "kl_divergence_wrt_baseline_bin_10"]
    chosen = [parse_statistic(name) for name in names]
    summary, whole = summarise(lost, chosen), summarise(table, chosen)
    assert np.isnan(summary.values[:, :, 1]).all()
    assert np.isnan(summary.values[:, 5]).all()
    assert (summary.reasons[:, 5] == Reason.NO_VALUES).all()
    assert summary.values[:, :5, [0, 2]] == pytest.approx(whole.values[:, :, [0, 2]], abs=1e-12)


def test_a_table_without_rows_or_features_gives_reasons_or_nothing() -> None:
    none = Measurements(np.empty((0, 1)), np.empty(0, dtype=int), ("a",), ("x",))
    bare = Measurements(np.empty((2, 0)), np.zeros(2, dtype=int), ("a",), ())
    assert (summarise(none, EVERY).reasons == Reason.NO_VALUES).all()
    assert summarise(bare, EVERY).values.shape == (len(EVERY), 1, 0)


def test_a_teams_own_statistic_stands_beside_the_others() -> None:
    def share_above_one(values: Any) -> float | None:
        return float(np.mean(values > 1)) if len(values) > 5 else None

    table = uneven(11, missing=0.3)
    summary = summarise(table, [parse_statistic("mean"), PerCell("above_one", share_above_one)])
    for group in range(5):
        for feature in range(3):
            x = table.values[table.codes == group, feature]
            x = x[np.isfinite(x)]
            expected = share_above_one(x)
            value = summary.values[1, group, feature]
            assert np.isnan(value) if expected is None else value == pytest.approx(expected)


def test_a_statistic_of_the_wrong_length_is_refused() -> None:
    class Broken:
        name = "broken"

        def __call__(self, cells: Any) -> Any:
            return np.zeros(1), np.zeros(1, dtype=np.int8)

    with pytest.raises(ValueError, match="'broken' did not return one value per cell"):
        summarise(uneven(12), [Broken()])
    with pytest.raises(ValueError, match="named twice"):
        summarise(uneven(12), [parse_statistic("mean"), parse_statistic("mean")])


def test_a_baseline_of_another_name_is_refused() -> None:
    with pytest.raises(ValueError, match="'human'"):
        one("precision_wrt_human_tolerance_0", uneven(13))


NAMES = [
    *OF_VALUES,
    "sr_larger_sd_mean",
    "sr_within-percentage-0.1_sd_median",
    "precision_wrt_baseline_tolerance_0.1",
    "kl_divergence_wrt_baseline_bin_10",
    "correlation_wrt_baseline_method_spearman",
]
EVERY = [parse_statistic(name) for name in NAMES]
seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=20)
@given(seeds)
def test_a_missing_value_is_as_if_its_row_had_never_been(seed: int) -> None:
    table = uneven(seed, rows=60, missing=0)
    gone = np.random.default_rng(seed).random(60) < 0.3
    values = table.values.copy()
    values[gone] = np.nan
    assert table.baseline is not None
    baseline = np.where(gone[:, None], np.nan, table.baseline)
    short = replace(table, values=values[~gone], codes=table.codes[~gone], baseline=baseline[~gone])
    with_nan = summarise(replace(table, values=values, baseline=baseline), EVERY)
    without = summarise(short, EVERY)
    assert with_nan.values == pytest.approx(without.values, abs=1e-9, nan_ok=True)
    assert (with_nan.reasons == without.reasons).all()
    assert (with_nan.n == without.n).all()


@settings(deadline=None, max_examples=20)
@given(seeds, st.floats(-50, 50))
def test_adding_a_constant_moves_location_and_nothing_else(seed: int, constant: float) -> None:
    table = uneven(seed, rows=60)
    assert table.baseline is not None
    moved = replace(table, values=table.values + constant, baseline=table.baseline + constant)
    names = ["mean", "median"]
    fixed = ["variance", "range", "skewness", "kurtosis", "quantile_0.25_0.75"]
    fixed += ["correlation_wrt_baseline_method_pearson"]
    for name in [*names, *fixed]:
        before, after = one(name, table).values, one(name, moved).values
        shift = constant if name in names else 0
        assert after == pytest.approx(before + shift, abs=1e-7, nan_ok=True)


def test_nothing_warns_on_extreme_values() -> None:
    values = np.array([[1e308, -1e308, 1e-320], [1e308, 1e308, 0.0], [-1e308, 5.0, 1e-320]])
    table = Measurements(values, np.zeros(3, dtype=int), ("a",), FEATURES, values[::-1].copy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summary = summarise(table, EVERY)
    defined = summary.reasons == Reason.DEFINED
    assert (np.isfinite(summary.values) == defined).all()

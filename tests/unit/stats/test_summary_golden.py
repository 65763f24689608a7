"""Recorded numbers of SAGED's own library and of scipy, and where we differ on purpose."""

import re
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.stats.groups.baseline import (
    binned_mode,
    js_divergence,
    kl_divergence,
    smoothed,
)
from biaswatch.shared.stats.groups.cells import Measurements, Reason, clean
from biaswatch.shared.stats.groups.disparity import Disparity, disparities
from biaswatch.shared.stats.groups.registry import parse_statistic
from biaswatch.shared.stats.groups.spreads import dixon
from biaswatch.shared.stats.groups.summary import Summary, summarise
from tests.support.golden import golden_cases, golden_rows

SIGNED = ("skewness", "kurtosis")
"""Statistics with values below 0, of which SAGED takes a ratio all the same."""


@pytest.fixture(scope="module")
def expected() -> list[dict[str, str]]:
    return golden_rows("saged_summary_by_category.csv")


@pytest.fixture(scope="module")
def summary(expected: list[dict[str, str]]) -> Summary:
    rows = golden_rows("saged_input.csv")
    features = tuple(name for name in rows[0] if name.endswith("_score"))
    groups = tuple(sorted({row["category"] for row in rows}))
    values = np.array([[float(row[name]) for name in features] for row in rows])
    baselines = ["baseline_" + name.split("_", 1)[1] for name in features]
    baseline = np.array([[float(row[name]) for name in baselines] for row in rows])
    codes = np.array([groups.index(row["category"]) for row in rows])
    names = dict.fromkeys(row["statistics"] for row in expected)
    table = Measurements(values, codes, groups, features, baseline)
    return summarise(table, [parse_statistic(name) for name in names])


@pytest.fixture(scope="module")
def disparity(summary: Summary) -> Disparity:
    domain_of = np.zeros(len(summary.groups), dtype=int)
    return disparities(summary, domain_of, ["d"])


def test_summaries_are_sageds(summary: Summary, expected: list[dict[str, str]]) -> None:
    compared = 0
    for row in expected:
        if not row["statistics"].startswith("kl_"):
            result = summary.values[
                summary.statistics.index(row["statistics"]), summary.groups.index(row["category"])
            ]
            wanted = [float(row[feature]) for feature in summary.features]
            assert result == pytest.approx(wanted, abs=1e-9)
            compared += len(wanted)
    assert compared


def test_disparities_are_sageds(disparity: Disparity) -> None:
    rows = golden_rows("saged_disparity_by_category.csv")
    compared = 0
    for row in rows:
        name, metric = row["statistics"], row["disparity_metric"]
        separate = name.startswith("kl_") or (metric == "Min/Max" and name in SIGNED)
        if metric != "Dixon Q" and not separate:
            place = disparity.metrics.index(metric), 0, disparity.statistics.index(name)
            result, holders = disparity.values[place], disparity.holders[place]
            for feature, value, holder in zip(disparity.features, result, holders, strict=True):
                _same(row[feature], value, "ABCDE"[holder], tied=feature.startswith("baseline"))
                compared += 1
    assert compared


def _same(wanted: str, value: float, holder: str, *, tied: bool) -> None:
    if extreme := re.fullmatch(r"\((\w+),.*: (.*)\)", wanted):
        assert value == pytest.approx(float(extreme[2]), abs=1e-9)
        assert tied or holder == extreme[1]
    elif wanted:
        assert value == pytest.approx(float(wanted), abs=1e-9)
    else:
        assert np.isnan(value)


def test_a_ratio_of_signed_values_is_refused_where_saged_gives_one(disparity: Disparity) -> None:
    ratio = disparity.metrics.index("Min/Max")
    for name in SIGNED:
        reasons = disparity.reasons[ratio, 0, disparity.statistics.index(name)]
        assert (reasons == Reason.NEGATIVE).all()


def numbers(values: Any) -> Any:
    return np.array(values, dtype=float)


def of(name: str, *samples: Any, ddof: int = 0) -> float:
    values = numbers(samples[0])[:, None]
    baseline = numbers(samples[1])[:, None] if len(samples) > 1 else None
    table = Measurements(values, np.zeros(len(values), dtype=int), ("a",), ("x",), baseline)
    return float(summarise(table, [parse_statistic(name)], ddof).values[0, 0, 0])


def test_recorded_moments() -> None:
    for case in golden_cases("summary population moments"):
        x, wanted = case["input"], case["expected"]
        assert of("mean", x) == pytest.approx(wanted["mean"], abs=1e-9)
        assert of("median", x) == pytest.approx(wanted["median"], abs=1e-9)
        assert of("range", x) == pytest.approx(wanted["range"], abs=1e-9)
        for ddof in (0, 1):
            variance, deviation = (
                of("variance", x, ddof=ddof),
                of("standard_deviation", x, ddof=ddof),
            )
            assert variance == pytest.approx(wanted[f"var{ddof}"], abs=1e-9)
            assert deviation == pytest.approx(wanted[f"std{ddof}"], abs=1e-9)
        iqr = wanted["q75"] - wanted["q25"]
        assert of("quantile_0.25_0.75", x) == pytest.approx(iqr, abs=1e-9)


def test_recorded_skewness_and_kurtosis() -> None:
    for case in golden_cases("skew/kurtosis"):
        result = [of("skewness", case["input"]), of("kurtosis", case["input"])]
        wanted = numbers([case["expected"]["skew"], case["expected"]["kurt"]])
        assert result == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_recorded_moments_of_next_to_nothing() -> None:
    for case in golden_cases("moments of n=1"):
        one, none = case["input"]
        assert np.isnan([of("variance", one, ddof=1), of("mean", none)]).all()
    for case in golden_cases("NaN handling mean"):
        assert of("mean", case["input"]) == case["expected"]["nanmean"]
        assert of("skewness", case["input"]) == case["expected"]["scipy_skew_omit"]


def test_recorded_modes_and_quantiles() -> None:
    for case in golden_cases("SAGED-style binned mode"):
        result = binned_mode(clean(numbers(case["input"])[None]), 0.5)[0]
        assert result == pytest.approx(case["expected"], abs=1e-9)
    for case in golden_cases("quantile q="):
        q = float(re.findall(r"q=([\d.]+)", case["fn"])[0])
        result = clean(numbers(case["input"])[None]).quantile(q)[0]
        assert result == pytest.approx(case["expected"]["linear"], abs=1e-9)


def test_recorded_divergences() -> None:
    for case in [*golden_cases("KL(p||q)"), *golden_cases("KL with q=0")]:
        p, q = numbers(case["input"])
        assert kl_divergence(p, q) == pytest.approx(float(case["expected"]), abs=1e-9)
    for case in golden_cases("KL add-half"):
        p, q = smoothed(numbers(case["input"]))
        assert kl_divergence(p, q) == pytest.approx(case["expected"], abs=1e-9)
    for case in golden_cases("Jensen-Shannon distance base 2"):
        p, q = numbers(case["input"])
        distance = np.sqrt(js_divergence(p, q) / np.log(2))
        assert distance == pytest.approx(case["expected"], abs=1e-9)


def test_recorded_correlations() -> None:
    for case in golden_cases("pearsonr"):
        for method, wanted in case["expected"].items():
            wanted = float(wanted[0] if isinstance(wanted, list) else wanted)
            result = of(f"correlation_wrt_baseline_method_{method}", *case["input"])
            assert result == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def over(values: Any, name: str = "mean") -> Disparity:
    """Return the disparity over groups that have these values."""
    values = numbers(values)
    shape = (1, len(values), 1)
    groups = tuple(str(index) for index in range(len(values)))
    counts = np.ones(shape[1:], dtype=np.int64)
    codes = np.zeros(shape, dtype=np.int8)
    summary = Summary((name,), groups, ("x",), values.reshape(shape), codes, counts, counts)
    return disparities(summary, np.zeros(len(values), dtype=int), ["d"])


def metric(disparity: Disparity, name: str) -> float:
    return float(disparity.values[disparity.metrics.index(name), 0, 0, 0])


def test_recorded_disparities_and_z_scores() -> None:
    for case in golden_cases("disparity over groups"):
        result, wanted, k = over(case["input"]), case["expected"], len(case["input"])
        assert metric(result, "Max-Min") == pytest.approx(wanted["range"], abs=1e-9)
        assert metric(result, "Min/Max") == pytest.approx(wanted["minmax"], abs=1e-9)
        assert metric(result, "Std") == pytest.approx(wanted["std1"], abs=1e-9)
        std0 = metric(result, "Std") * np.sqrt((k - 1) / k)
        assert std0 == pytest.approx(wanted["std0"], abs=1e-9)
        z = metric(result, "Max Z-Score")
        assert z == pytest.approx(wanted["maxz0"], abs=1e-9)
        assert max(z, -metric(result, "Min Z-Score")) == pytest.approx(wanted["maxabsz0"], abs=1e-9)
    for case in golden_cases("zscore constant"):
        assert all(np.isnan(metric(over(values), "Max Z-Score")) for values in case["input"])


def test_recorded_impact_ratios() -> None:
    for case in golden_cases("fairlearn demographic_parity_ratio"):
        chosen, group = numbers(case["input"]["y_pred"]), np.array(case["input"]["sf"])
        rates = [chosen[group == name].mean() for name in np.unique(group)]
        wanted = case["expected"]
        wanted = float(wanted["ratio"] if isinstance(wanted, dict) else wanted)
        result = metric(over(rates, "sr_larger_sd_fixed=1"), "Impact Ratio")
        assert result == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_recorded_dixon_ratios() -> None:
    for case in golden_cases("Dixon"):
        ordered = np.sort(numbers(case["input"]))[:, None]
        gaps = dixon(ordered, np.array([len(ordered)]))
        result = [gaps.low[0], gaps.high[0]]
        if ordered[0] == ordered[-1] or not isinstance(case["expected"], dict):
            assert np.isnan(result).all()  # declared: equal groups have no outlier ratio, not 0
        else:
            wanted = [case["expected"]["low"], case["expected"]["high"]]
            assert result == pytest.approx(wanted, abs=1e-9)

"""The diagnosis of a large study: 13 statistics with disparity, and 1,000 permutations.

31,500 responses x 44 features in 20 domains of 21 groups: 18,480 cells of 75 values, in no order.
From arrays to arrays in memory, on one core. Naive is what a careful analyst writes with pandas:
one lambda per statistic, one group-by per permutation; on a tenth of the table, times ten.
"""

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from biaswatch.shared.stats.groups.cells import Table
from biaswatch.shared.stats.groups.descriptive import Mean
from biaswatch.shared.stats.groups.disparity import disparities
from biaswatch.shared.stats.groups.null_disparities import disparity_null
from biaswatch.shared.stats.groups.registry import parse_statistic
from biaswatch.shared.stats.groups.summary import summarise

DOMAINS, GROUPS, ROWS, FEATURES = 20, 21, 75, 44
PERMUTATIONS = 1000
ROUNDS = 5
DIAGNOSIS_BAR, PERMUTATION_BAR = 0.25, 2.0
TENTH = 10
"""The naive code gets one tenth of the domains, and so many of the permutations less."""

STATISTICS = (
    "mean",
    "median",
    "mode",
    "variance",
    "standard_deviation",
    "skewness",
    "kurtosis",
    "range",
    "quantile_0.25_0.75",
    "correlation_wrt_baseline_method_pearson",
    "kl_divergence_wrt_baseline_bin_10",
    "precision_wrt_baseline_tolerance_0.1",
    "sr_larger_sd_mean",
)


def study(domains: int = DOMAINS) -> Table:
    """Make a table of scores between 0 and 1, in no order, with a baseline that is like them."""
    rng = np.random.default_rng(1)
    groups = domains * GROUPS
    values = rng.beta(2, 5, (groups * ROWS, FEATURES))
    baseline = np.clip(values + rng.normal(0, 0.1, values.shape), 0, 1)
    codes = rng.permutation(np.repeat(np.arange(groups), ROWS))
    features = tuple(f"feature-{index}" for index in range(FEATURES))
    return Table(
        values, codes, tuple(f"group-{index}" for index in range(groups)), features, baseline
    )


def diagnose(table: Table) -> None:
    """Summarise and compare, with Dixon's p-values simulated."""
    summary = summarise(table, [parse_statistic(name) for name in STATISTICS])
    disparities(summary, domain_of(table), names(table), np.random.default_rng(2))


def permute(table: Table) -> None:
    """Permute labels within the domains."""
    rng = np.random.default_rng(3)
    disparity_null(table, [Mean()], domain_of(table), names(table), rng, PERMUTATIONS)


def domain_of(table: Table) -> np.ndarray[Any, Any]:
    """Return the domain of each group."""
    return np.arange(len(table.groups)) // GROUPS


def names(table: Table) -> list[str]:
    """Name the domains."""
    return [f"domain-{index}" for index in range(len(table.groups) // GROUPS)]


def entropy(pair: pd.DataFrame) -> float:
    """Return a smoothed divergence the obvious way."""
    span = (float(pair.to_numpy().min()), float(pair.to_numpy().max()))
    p, q = (np.histogram(pair[side], 10, span)[0] + 0.5 for side in ("x", "b"))
    return float(stats.entropy(p, q))


def modal(values: pd.Series) -> float:
    """Return the middle of the fullest bin the obvious way."""
    edges = np.arange(values.min(), values.max() + 0.1, 0.1)
    return float(edges[stats.mode(np.digitize(values, edges)).mode - 1] + 0.05)


def spread(values: pd.Series) -> float:
    """Return the range the obvious way."""
    return float(values.max() - values.min())


def share_from(standard: float) -> Callable[[pd.Series], float]:
    """Return what takes the share of values that reach a standard, the obvious way."""
    return lambda values: float((values >= standard).mean())


def naive_diagnosis(table: Table) -> None:
    """Summarise and compare with a lambda per statistic."""
    assert table.baseline is not None
    for feature in range(FEATURES):
        frame = pd.DataFrame({"x": table.values[:, feature], "b": table.baseline[:, feature]})
        groups, standard = frame.groupby(table.codes), frame["x"].mean()
        of_values: list[Callable[[pd.Series], float]] = [
            lambda x: x.mean(),
            lambda x: x.median(),
            modal,
            lambda x: x.var(ddof=0),
            lambda x: x.std(ddof=0),
            lambda x: stats.skew(x),
            lambda x: stats.kurtosis(x),
            spread,
            lambda x: float(x.quantile(0.75) - x.quantile(0.25)),
            share_from(standard),
        ]
        found = [groups["x"].agg(function) for function in of_values]
        found.append(groups.apply(lambda pair: pair["x"].corr(pair["b"])))
        found.append(groups.apply(lambda pair: ((pair["x"] - pair["b"]).abs() <= 0.1).mean()))
        found.append(groups.apply(entropy))
        for column in found:
            for _, group in column.groupby(domain_of(table)):
                stats.zscore(group)
                group.agg(["max", "min", "mean", "std"])


def naive_permutations(table: Table) -> None:
    """Permute labels with a group-by each time, a hundredth as often."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(table.values)
    domain = domain_of(table)[table.codes]
    for _ in range(PERMUTATIONS // TENTH**2):
        labels = pd.Series(table.codes).groupby(domain).transform(rng.permutation)
        means = frame.groupby(labels.to_numpy()).mean()
        means.groupby(domain_of(table)).agg(spread)


def seconds(work: Callable[[Table], None], table: Table, rounds: int = 1) -> float:
    """Return the shortest of some rounds, which other work on the machine disturbed least."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work(table)
        times.append(time.perf_counter() - start)
    return min(times)


def peak() -> float:
    """Return the most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    """Measure and print; 1 where a bar is missed."""
    table, tenth = study(), study(DOMAINS // TENTH)
    before = peak()
    diagnosis = seconds(diagnose, table, ROUNDS)
    after_diagnosis = peak()
    permutation = seconds(permute, table, ROUNDS)
    after = peak()
    naive = seconds(naive_diagnosis, tenth) * TENTH
    naive_permutation = seconds(naive_permutations, tenth) * TENTH**3
    cells = len(table.groups) * FEATURES
    print(
        f"{len(table.codes):,} responses x {FEATURES} features, {cells:,} cells, {ROUNDS} rounds:"
    )
    print(f"  13 statistics and disparity {diagnosis:8.3f} s   (bar: {DIAGNOSIS_BAR} s)")
    print(f"    naive pandas, scaled      {naive:8.1f} s   {naive / diagnosis:8,.0f} times as long")
    print(f"  1,000 permutations          {permutation:8.3f} s   (bar: {PERMUTATION_BAR} s)")
    print(
        f"    naive pandas, scaled      {naive_permutation:8.1f} s"
        f"   {naive_permutation / permutation:8,.0f} times as long"
    )
    print(
        f"  peak memory {before:.0f} MB with the table alone, {after_diagnosis:.0f} MB with the"
        f" statistics, {after:.0f} MB with the permutations"
    )
    return 0 if diagnosis <= DIAGNOSIS_BAR and permutation <= PERMUTATION_BAR else 1


if __name__ == "__main__":
    sys.exit(main())

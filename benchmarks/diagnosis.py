"""The diagnosis of a large study: 13 statistics with disparity, and 1,000 permutations.

31,500 responses x 44 features in 20 domains of 21 groups: 18,480 cells of 75 values, in no order.
From arrays to arrays in memory, on one core.
"""

import sys
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.measuring import fastest_s, memory_mib
from biaswatch.shared.stats.groups.cells import Measurements
from biaswatch.shared.stats.groups.disparity import disparities
from biaswatch.shared.stats.groups.null_disparities import disparities_by_chance
from biaswatch.shared.stats.groups.registry import parse_statistic
from biaswatch.shared.stats.groups.summary import summarise

DOMAINS, GROUPS, ROWS, FEATURES = 20, 21, 75, 44
PERMUTATIONS = 1000
ROUNDS = 5
DIAGNOSIS_BAR_S, PERMUTATION_BAR_S = 0.25, 2.0
STATISTICS = (
    "mean", "median", "mode", "variance", "standard_deviation", "skewness", "kurtosis", "range",
    "quantile_0.25_0.75", "correlation_wrt_baseline_method_pearson",
    "kl_divergence_wrt_baseline_bin_10", "precision_wrt_baseline_tolerance_0.1",
    "sr_larger_sd_mean",
)  # fmt: skip
DOMAIN_OF_GROUP = np.arange(DOMAINS * GROUPS) // GROUPS
DOMAIN_NAMES = [f"domain-{index}" for index in range(DOMAINS)]


def study() -> Measurements:
    """Make a table of scores between 0 and 1, in no order, with a similar baseline."""
    rng = np.random.default_rng(1)
    groups = DOMAINS * GROUPS
    values = rng.beta(2, 5, (groups * ROWS, FEATURES))
    baseline = np.clip(values + rng.normal(0, 0.1, values.shape), 0, 1)
    codes = rng.permutation(np.repeat(np.arange(groups), ROWS))
    features = tuple(f"feature-{index}" for index in range(FEATURES))
    names = tuple(f"group-{index}" for index in range(groups))
    return Measurements(values, codes, names, features, baseline)


def diagnose(table: Measurements) -> None:
    """Summarise and compare, with Dixon's p-values simulated."""
    summary = summarise(table, [parse_statistic(name) for name in STATISTICS])
    disparities(summary, DOMAIN_OF_GROUP, DOMAIN_NAMES)


def permute(table: Measurements) -> None:
    """Permute labels within the domains."""
    rng = np.random.default_rng(3)
    disparities_by_chance(table, DOMAIN_OF_GROUP, DOMAIN_NAMES, rng, PERMUTATIONS)


def main() -> int:
    """Measure and print; 1 where a bar is missed."""
    table = study()
    cells = DOMAINS * GROUPS * FEATURES
    print(f"{len(table.codes):,} responses x {FEATURES} features, {cells:,} cells:")
    print(f"  peak memory with the table {memory_mib('self'):.0f} MiB")
    missed = 0
    kernels: dict[str, tuple[Callable[[Measurements], None], float]] = {
        "13 statistics and disparity": (diagnose, DIAGNOSIS_BAR_S),
        f"{PERMUTATIONS:,} permutations": (permute, PERMUTATION_BAR_S),
    }
    for name, (kernel, bar_s) in kernels.items():
        seconds = fastest_s(partial(kernel, table), ROUNDS)
        print(f"  {name:28}{seconds:8.3f} s (bar {bar_s:g} s), {memory_mib('self'):.0f} MiB")
        missed += seconds > bar_s
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Shrunken means against a published example, statsmodels' mixed model and the formula."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from biaswatch.shared.stats.groups.group_means import (
    TO_THE_MAIN_EFFECTS,
    TO_THE_MEAN,
    TOO_FEW,
    shrunken_means,
)

BATTING = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7]) / 45
"""Of 18 players in 1970 after 45 at-bats, which Efron and Morris shrank."""


def test_efrons_and_morriss_batting_averages_come_out() -> None:
    common = BATTING.mean()
    shrunken = shrunken_means(BATTING, np.full(18, common * (1 - common) / 45))
    assert 1 - shrunken.shrinkage[0] == pytest.approx(0.212, abs=0.0015)
    assert shrunken.means[0] == pytest.approx(0.294, abs=0.0005)
    assert shrunken.means[-1] == pytest.approx(0.242, abs=0.0005)
    assert shrunken.method == TO_THE_MEAN


def test_before_morriss_factor_a_mean_shrinks_as_in_a_mixed_model() -> None:
    rng = np.random.default_rng(5)
    k, n = 12, 9
    groups = np.repeat(np.arange(k), n)
    values = rng.normal(0, 0.6, k)[groups] + rng.normal(0, 1, k * n)
    frame = pd.DataFrame({"y": values, "g": groups})
    mixed = smf.mixedlm("y ~ 1", frame, groups="g").fit(reml=True)
    by_group = frame.groupby("g")["y"]
    variance = float(by_group.var().mean()) / n
    shrunken = shrunken_means(by_group.mean().to_numpy(), np.full(k, variance))
    assert shrunken.between == pytest.approx(float(mixed.cov_re.iloc[0, 0]), rel=1e-3)
    kept = np.array([float(effect.iloc[0]) for effect in mixed.random_effects.values()])
    raw = by_group.mean().to_numpy() - values.mean()
    factor = (k - 3) / (k - 1)
    assert 1 - shrunken.shrinkage / factor == pytest.approx(kept / raw, rel=1e-3)


def test_an_intersection_is_drawn_towards_the_sum_of_its_dimensions() -> None:
    rng = np.random.default_rng(6)
    first, second = (item.ravel() for item in np.meshgrid(range(4), range(5), indexing="ij"))
    design = np.column_stack([np.ones(20), *(first == i for i in range(1, 4)),
                              *(second == j for j in range(1, 5))]).astype(float)  # fmt: skip
    interaction = rng.normal(0, 0.3, 20)
    means = 2.0 * first - second + interaction
    shrunken = shrunken_means(means, np.full(20, 0.05), design)
    fitted = design @ np.linalg.lstsq(design, means, rcond=None)[0]
    between = max(0.0, float(np.sum((means - fitted) ** 2)) / 12 - 0.05)
    shrinkage = 10 / 12 * 0.05 / (0.05 + between)
    assert shrunken.method == TO_THE_MAIN_EFFECTS
    assert shrunken.means == pytest.approx((1 - shrinkage) * means + shrinkage * fitted)


def test_shrunken_means_are_nearer_to_the_truth_over_all_groups() -> None:
    rng = np.random.default_rng(7)
    raw, shrunken = 0.0, 0.0
    for _ in range(200):
        truth = rng.normal(0, 0.3, 21)
        error = np.sqrt(rng.uniform(0.02, 0.3, 21))
        means = truth + rng.normal(0, error)
        raw += float(np.mean((means - truth) ** 2))
        shrunken += float(np.mean((shrunken_means(means, error**2).means - truth) ** 2))
    assert shrunken < 0.6 * raw


def test_a_design_that_leaves_too_few_groups_gives_way_to_the_common_mean() -> None:
    design = np.column_stack([np.ones(6), np.tile([0.0, 1.0], 3), *np.eye(3).repeat(2, 1)[1:]])
    shrunken = shrunken_means(np.arange(6.0), np.ones(6), design)
    assert shrunken.method == TO_THE_MEAN
    assert np.isfinite(shrunken.means).all()


def test_with_three_groups_or_without_errors_nothing_is_shrunken() -> None:
    few = shrunken_means(np.array([1.0, 2.0, 5.0, np.nan]), np.ones(4))
    assert few.reason == TOO_FEW
    assert np.isnan(few.means).all()
    unknown = shrunken_means(np.arange(5.0), np.full(5, np.nan))
    assert unknown.reason is not None
    assert np.isnan(unknown.means).all()


def test_equal_means_stay_and_a_missing_group_stays_missing() -> None:
    shrunken = shrunken_means(np.array([2.0, 2.0, np.nan, 2.0, 2.0]), np.ones(5))
    assert shrunken.means[[0, 1, 3, 4]] == pytest.approx(2.0)
    assert np.isnan(shrunken.means[2])
    assert shrunken.between == 0
    certain = shrunken_means(np.arange(5.0), np.zeros(5))
    assert certain.means == pytest.approx(np.arange(5.0))


@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 4.7, -1e9])
def test_means_that_differ_by_rounding_alone_are_one_common_mean(value: float) -> None:
    means = np.array([value, np.nextafter(value, 9), value, value, np.nextafter(value, -9)])
    variances = np.array([0.0, 1e-34 * value**2, 1e-33 * value**2, 0.0, 1e-32 * value**2])
    shrunken = shrunken_means(means, variances)
    assert shrunken.between == 0
    assert shrunken.means == pytest.approx(means, rel=1e-12)

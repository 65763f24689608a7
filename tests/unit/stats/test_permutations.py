"""Label permutations against scipy's and against plain loops, and what may not be exchanged."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.groups.cells import Measurements, Reason, sentence
from biaswatch.shared.stats.groups.exchanges import LabelExchange, exchange_units
from biaswatch.shared.stats.groups.null_disparities import DisparityNull, disparity_null
from biaswatch.shared.stats.groups.spreads import NULL_METRICS as METRICS
from biaswatch.shared.stats.groups.summary import Mean

TIMES = 4000
GAP = METRICS.index("Max-Min")
NOISE = 0.03
"""More than three standard errors of the difference of two p-values by 4,000 exchanges."""


def dixon_of(means: Any, ends: tuple[int, ...]) -> float:
    """Return r10, the ratio for three to seven values, at the larger of these ends."""
    ordered = np.sort(means)
    gaps = np.diff(ordered)
    return float(max(gaps[end] for end in ends) / np.ptp(ordered))


METRIC: dict[str, tuple[Callable[[Any], float], str]] = {
    "Max-Min": (np.ptp, "greater"),
    "Min/Max": (lambda m: float(np.min(m) / np.max(m)), "less"),
    "Std": (lambda m: float(np.std(m, ddof=1)), "greater"),
    "Max Z-Score": (lambda m: float(np.max(stats.zscore(m))), "greater"),
    "Min Z-Score": (lambda m: float(np.min(stats.zscore(m))), "less"),
    "Max": (np.max, "greater"),
    "Min": (np.min, "less"),
    "Dixon Q": (lambda m: dixon_of(m, (0, -1)), "greater"),
    "Dixon Q Low": (lambda m: dixon_of(m, (0,)), "greater"),
    "Dixon Q High": (lambda m: dixon_of(m, (-1,)), "greater"),
}


def table_of(*groups: Any) -> Measurements:
    values = np.concatenate([np.asarray(group, dtype=float) for group in groups])
    codes = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    names = tuple(str(index) for index in range(len(groups)))
    return Measurements(values.reshape(len(codes), -1), codes, names, ("x",))


def permute(
    table: Measurements,
    times: int = TIMES,
    seed: int = 1,
    domain_of: Any = None,
    domains: tuple[str, ...] = ("d",),
    **given: Any,
) -> DisparityNull:
    """Return the null of the means: arrays [metrics, domains, features]."""
    domain_of = np.zeros(len(table.groups), dtype=int) if domain_of is None else domain_of
    rng = np.random.default_rng(seed)
    null = disparity_null(table, [Mean()], domain_of, domains, rng, times, **given)
    return replace(
        null,
        null_median=null.null_median[:, :, 0],
        p_values=null.p_values[:, :, 0],
        reasons=null.reasons[:, :, 0],
    )


def samples(seed: int, *, binary: bool = False) -> list[Any]:
    rng = np.random.default_rng(seed)
    groups = [rng.gamma(4, 1 + 0.15 * index, 8 + 3 * index) for index in range(4)]
    return [(group > 4).astype(float) for group in groups] if binary else groups


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("metric", METRIC)
def test_p_values_of_disparities_are_scipys(metric: str, binary: bool) -> None:
    groups = samples(3, binary=binary)
    measure, alternative = METRIC[metric]

    def statistic(*data: Any) -> float:
        return measure([np.mean(group) for group in data])

    expected = stats.permutation_test(
        groups, statistic, n_resamples=TIMES, alternative=alternative, rng=7
    )
    null = permute(table_of(*groups))
    place = METRICS.index(metric)
    assert null.p_values[place, 0, 0] == pytest.approx(expected.pvalue, abs=NOISE)
    median = np.median(expected.null_distribution)
    spread = np.std(expected.null_distribution)
    assert null.null_median[place, 0, 0] == pytest.approx(median, abs=0.15 * spread)


def test_labels_permute_within_the_counterfactual_set() -> None:
    rng = np.random.default_rng(5)
    difficulty = rng.normal(0, 10, 12)
    groups = [difficulty + rng.normal(0.8 * index, 1, 12) for index in range(3)]
    expected = stats.permutation_test(
        groups,
        lambda a, b, c: np.ptp([a.mean(), b.mean(), c.mean()]),
        permutation_type="samples",
        n_resamples=TIMES,
        alternative="greater",
        rng=9,
    )
    table = table_of(*groups)
    within = permute(table, sets=np.tile(np.arange(12), 3)).p_values[GAP, 0, 0]
    anywhere = permute(table).p_values[GAP, 0, 0]
    assert within == pytest.approx(expected.pvalue, abs=NOISE)
    assert within < 0.1 < 0.5 < anywhere


def test_missing_values_move_with_their_row() -> None:
    rng = np.random.default_rng(6)
    groups = [rng.normal(0.7 * (index == 2), 1, 9) for index in range(3)]
    for group in groups:
        group[rng.random(9) < 0.3] = np.nan
    table = table_of(*groups)
    null = permute(table)
    column, reached, gaps = table.values[:, 0], 0, []
    for _ in range(TIMES):
        moved = rng.permutation(column).reshape(3, 9)
        gaps.append(np.ptp(np.nanmean(moved, axis=1)))
        reached += gaps[-1] >= np.ptp([np.nanmean(g) for g in groups])
    assert null.p_values[GAP, 0, 0] == pytest.approx(reached / TIMES, abs=NOISE)
    assert null.null_median[GAP, 0, 0] == pytest.approx(np.median(gaps), abs=0.05)


def test_all_exchanges_of_a_tiny_table_are_equally_likely() -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    null = permute(table_of(values[:2], values[2:]), times=20_000)
    gaps = [abs(np.mean(p[:2]) - np.mean(p[2:])) for p in permutations(values)]
    expected = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    assert null.p_values[GAP, 0, 0] == pytest.approx(expected, abs=0.015)


def test_repeats_of_a_unit_are_one_value_and_keep_together() -> None:
    rng = np.random.default_rng(7)
    prompts = np.arange(20)
    level = rng.normal(0, 1, 20)
    values = np.repeat(level, 10) + rng.normal(0, 0.1, 200)
    units, codes = np.repeat(prompts, 10), np.repeat(prompts % 2, 10)
    table = Measurements(values[:, None], codes, ("a", "b"), ("x",))
    means = values.reshape(20, 10).mean(axis=1)
    short = Measurements(means[:, None], prompts % 2, ("a", "b"), ("x",))
    joint, alone = permute(table, units=units), permute(short)
    assert joint.p_values[GAP] == pytest.approx(alone.p_values[GAP], abs=NOISE)


def test_domains_and_features_are_permuted_apart() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(0, 1, (120, 2))
    codes = rng.permutation(np.repeat(np.arange(6), 20))
    values[codes == 4, 1] += 3
    table = Measurements(values, codes, tuple("abcdef"), ("x", "y"))
    domain_of = np.array([0, 1, 0, 1, 1, 0])
    null = permute(table, times=1000, domain_of=domain_of, domains=("n", "s"))
    assert null.p_values[GAP, 1, 1] == pytest.approx(1 / 1001)
    assert (null.p_values[GAP][[0, 0, 1], [0, 1, 0]] > 0.01).all()


def test_the_null_of_a_ratio_over_many_groups_is_far_below_one() -> None:
    rng = np.random.default_rng(9)
    table = table_of(*(rng.random((21, 75)) < 0.5).astype(float))
    median = permute(table, times=1000).null_median[METRICS.index("Min/Max"), 0, 0]
    assert 0.6 < median < 0.72


@pytest.mark.parametrize(
    ("groups", "metric", "reason"),
    [
        ([[1.0, 2.0]], "Max-Min", "only one group has a value"),
        ([[np.nan], [np.nan]], "Max-Min", "no group has a value"),
        ([[-1.0, 2.0], [3.0, 4.0], [-9.0, 1.0]], "Min/Max", "a ratio of values below 0"),
        ([[0.0, 0.0], [0.0, 0.0]], "Min/Max", "the largest value is 0"),
        ([[1.0, 2.0], [2.0, 1.0]], "Max Z-Score", "all groups are equal"),
        ([[1e308, 1e308], [-1e308, -1e308]], "Max-Min", "the calculation gave no finite number"),
    ],
)
def test_what_is_undefined_says_why(groups: list[list[float]], metric: str, reason: str) -> None:
    null = permute(table_of(*groups), times=50)
    place = METRICS.index(metric), 0, 0
    assert np.isnan(null.p_values[place])
    assert str(sentence(null.reasons[place])).startswith(reason)


def test_empty_groups_domains_and_tables_have_reasons_and_no_numbers() -> None:
    table = replace(table_of([1.0, 2.0], [3.0, 5.0]), groups=("a", "b", "c", "d"))
    null = permute(table, times=50, domain_of=np.array([0, 0, 0, 1]), domains=("n", "s"))
    assert (null.reasons[:, 1] == Reason.NO_GROUPS).all()
    assert np.isfinite(null.p_values[GAP, 0, 0])
    none = Measurements(np.empty((0, 1)), np.empty(0, dtype=int), ("a",), ("x",))
    assert np.isnan(permute(none, times=5).p_values).all()


def test_a_set_inside_one_group_moves_as_one() -> None:
    families = np.repeat(np.arange(8), 10)
    level = np.random.default_rng(3).normal(0, 1, 8)
    table = table_of(level[families][:40], level[families][40:])
    one = permute(table_of(*level.reshape(2, 4)))
    alike = permute(table, sets=families)
    assert alike.p_values[GAP, 0, 0] == pytest.approx(one.p_values[GAP, 0, 0], abs=NOISE)
    assert permute(table).p_values[GAP, 0, 0] < alike.p_values[GAP, 0, 0] / 2
    alone = permute(table_of([1.0, 1.1], [3.0, 3.1]), sets=np.array([0, 0, 1, 1]), times=50)
    assert alone.p_values[GAP, 0, 0] == 1


def test_equal_groups_are_reached_by_every_exchange() -> None:
    null = permute(table_of([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]), times=200)
    assert null.p_values[GAP, 0, 0] == 1


def test_an_exchange_keeps_to_its_strata_and_reaches_every_place() -> None:
    strata = np.array([5, 5, 2, 2, 2, 7, 5])
    labels = np.array([0, 1, 0, 1, 1, 0, 2])
    drawn = LabelExchange.within(strata, labels).draw(500, np.random.default_rng(1))
    assert (np.sort(drawn, axis=1) == np.arange(7)).all()
    assert (strata[drawn] == strata).all()
    assert all(len(np.unique(drawn[:, at])) == np.sum(strata == strata[at]) for at in range(7))


def test_bad_arguments_are_refused_with_a_sentence() -> None:
    table = table_of([1.0, 2.0], [3.0, 4.0])
    with pytest.raises(ValueError, match="at least one permutation"):
        permute(table, times=0)
    with pytest.raises(ValueError, match="another number"):
        permute(table, sets=np.array([0]))
    with pytest.raises(ValueError, match="different counterfactual sets"):
        permute(table, sets=np.arange(4), units=np.zeros(4, dtype=int))
    with pytest.raises(ValueError, match="2 groups, but 1 domains"):
        permute(table, domain_of=np.array([0]))


def test_equal_values_deviate_by_nothing_however_often_their_mean_is_rounded() -> None:
    for value in (0.1, 0.3, 4.7, 1e9 + 0.1):
        groups = [np.full(size, value) for size in (3, 7, 11)]
        groups[2][:6] = np.nan
        null = permute(table_of(*groups), times=200)
        assert null.p_values[GAP, 0, 0] == 1


@pytest.mark.parametrize("kind", [list, np.uint64, np.float64])
def test_codes_of_sets_may_be_of_any_kind(kind: Any) -> None:
    labels, sets = np.array([0, 0, 1, 1, 1]), [0, 1, 0, 2, 2]
    arguments: Any = sets if kind is list else np.array(sets, dtype=kind)
    null, wanted = (
        exchange_units(labels, arguments, arguments),
        exchange_units(labels, np.array(sets)),
    )
    assert null.of_row.tolist() == wanted.of_row.tolist()
    assert null.strata.tolist() == wanted.strata.tolist()

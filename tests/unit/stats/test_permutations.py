"""Medians by chance against scipy's permutations, and labels that may not be exchanged."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.groups.cells import Measurements
from biaswatch.shared.stats.groups.exchanges import LabelExchange, exchange_units
from biaswatch.shared.stats.groups.null_disparities import CHANCE_METRICS as METRICS
from biaswatch.shared.stats.groups.null_disparities import disparities_by_chance

TIMES = 4000
GAP = METRICS.index("Max-Min")
NOISE = 0.04


METRIC: dict[str, Callable[[Any], float]] = {
    "Max-Min": np.ptp,
    "Min/Max": lambda means: float(np.min(means) / np.max(means)),
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
) -> Any:
    """Return the medians by chance: [metrics, domains, features]."""
    domain_of = np.zeros(len(table.groups), dtype=int) if domain_of is None else domain_of
    rng = np.random.default_rng(seed)
    return disparities_by_chance(table, domain_of, domains, rng, times, **given)


def samples(seed: int, *, binary: bool = False) -> list[Any]:
    rng = np.random.default_rng(seed)
    groups = [rng.gamma(4, 1 + 0.15 * index, 8 + 3 * index) for index in range(4)]
    return [(group > 4).astype(float) for group in groups] if binary else groups


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("metric", METRIC)
def test_medians_by_chance_are_scipys(metric: str, binary: bool) -> None:
    groups = samples(3, binary=binary)
    expected = stats.permutation_test(
        groups,
        lambda *data: METRIC[metric]([np.mean(group) for group in data]),
        n_resamples=TIMES,
        rng=7,
    ).null_distribution
    median = permute(table_of(*groups))[METRICS.index(metric), 0, 0]
    assert median == pytest.approx(np.median(expected), abs=0.15 * float(np.std(expected)))


def test_labels_permute_within_the_counterfactual_set() -> None:
    rng = np.random.default_rng(5)
    difficulty = rng.normal(0, 10, 12)
    groups = [difficulty + rng.normal(0.8 * index, 1, 12) for index in range(3)]
    expected = stats.permutation_test(
        groups,
        lambda a, b, c: np.ptp([a.mean(), b.mean(), c.mean()]),
        permutation_type="samples",
        n_resamples=TIMES,
        rng=9,
    ).null_distribution
    table = table_of(*groups)
    within = permute(table, sets=np.tile(np.arange(12), 3))[GAP, 0, 0]
    assert within == pytest.approx(np.median(expected), abs=0.15 * float(np.std(expected)))
    assert permute(table)[GAP, 0, 0] > 3 * within


def test_missing_values_move_with_their_row() -> None:
    rng = np.random.default_rng(6)
    groups = [rng.normal(0.7 * (index == 2), 1, 9) for index in range(3)]
    for group in groups:
        group[rng.random(9) < 0.3] = np.nan
    table = table_of(*groups)
    moved = [rng.permutation(table.values[:, 0]).reshape(3, 9) for _ in range(TIMES)]
    gaps = [np.ptp(np.nanmean(groups, axis=1)) for groups in moved]
    assert permute(table)[GAP, 0, 0] == pytest.approx(np.median(gaps), abs=0.05)


def test_repeats_of_a_unit_are_one_value_and_keep_together() -> None:
    rng = np.random.default_rng(7)
    prompts = np.arange(20)
    values = np.repeat(rng.normal(0, 1, 20), 10) + rng.normal(0, 0.1, 200)
    units, codes = np.repeat(prompts, 10), np.repeat(prompts % 2, 10)
    table = Measurements(values[:, None], codes, ("a", "b"), ("x",))
    means = values.reshape(20, 10).mean(axis=1)
    short = Measurements(means[:, None], prompts % 2, ("a", "b"), ("x",))
    together = permute(table, units=units)[GAP]
    assert together == pytest.approx(permute(short)[GAP], abs=NOISE)
    assert together > 2 * permute(table)[GAP]


def test_a_set_inside_one_group_moves_as_one() -> None:
    families = np.repeat(np.arange(8), 10)
    level = np.random.default_rng(3).normal(0, 1, 8)
    table = table_of(level[families][:40], level[families][40:])
    one = permute(table_of(*level.reshape(2, 4)))[GAP]
    assert permute(table, sets=families)[GAP] == pytest.approx(one, abs=NOISE)
    assert permute(table)[GAP] < one / 2


def test_domains_and_features_are_permuted_apart() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(0, 1, (120, 2))
    codes = rng.permutation(np.repeat(np.arange(6), 20))
    values[codes % 2 == 1, 1] *= 10
    table = Measurements(values, codes, tuple("abcdef"), ("x", "y"))
    domain_of = np.array([0, 1, 0, 1, 0, 1])
    medians = permute(table, times=300, domain_of=domain_of, domains=("n", "s"))
    assert medians[GAP, 1, 1] > 5 * medians[GAP, 0, 1]
    assert medians[GAP, 1, 1] > 5 * medians[GAP, 1, 0]


def test_21_equal_groups_of_75_have_an_impact_ratio_under_four_fifths_by_chance() -> None:
    rng = np.random.default_rng(9)
    table = table_of(*(rng.random((21, 75)) < 0.5).astype(float))
    assert 0.6 < permute(table, times=300)[METRICS.index("Min/Max"), 0, 0] < 0.72


@pytest.mark.parametrize(
    ("groups", "metric"),
    [
        ([[1.0, 2.0]], "Max-Min"),
        ([[np.nan], [np.nan]], "Max-Min"),
        ([[-1.0, -2.0], [-3.0, -4.0], [-9.0, -1.0]], "Min/Max"),
        ([[0.0, 0.0], [0.0, 0.0]], "Min/Max"),
        ([[1e308, 1e308], [-1e308, -1e308]], "Max-Min"),
    ],
)
def test_what_no_exchange_defines_has_no_median(groups: list[list[float]], metric: str) -> None:
    assert np.isnan(permute(table_of(*groups), times=50)[METRICS.index(metric), 0, 0])


def test_empty_groups_domains_and_tables_have_no_medians() -> None:
    table = replace(table_of([1.0, 2.0], [3.0, 5.0]), groups=("a", "b", "c", "d"))
    medians = permute(table, times=50, domain_of=np.array([0, 0, 0, 1]), domains=("n", "s"))
    assert np.isnan(medians[:, 1]).all()
    assert np.isfinite(medians[GAP, 0, 0])
    none = Measurements(np.empty((0, 1)), np.empty(0, dtype=int), ("a",), ("x",))
    assert np.isnan(permute(none, times=5)).all()


def test_equal_values_are_apart_by_nothing_however_often_their_mean_is_rounded() -> None:
    for value in (0.1, 0.3, 4.7, 1e9 + 0.1):
        groups = [np.full(size, value) for size in (3, 7, 11)]
        groups[2][:6] = np.nan
        assert permute(table_of(*groups), times=200)[GAP, 0, 0] == 0


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
    with pytest.raises(ValueError, match="belong to several sets"):
        permute(table, sets=np.arange(4), units=np.zeros(4, dtype=int))
    with pytest.raises(ValueError, match="2 groups, but 1 domains"):
        permute(table, domain_of=np.array([0]))


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

"""What chance gives for disparities of medians, rates and spreads, against scipy's permutations."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.groups import null_disparities
from biaswatch.shared.stats.groups.cells import Measurements, Reason, sentence
from biaswatch.shared.stats.groups.disparity import disparities
from biaswatch.shared.stats.groups.null_disparities import DisparityNull, disparity_null
from biaswatch.shared.stats.groups.registry import parse_statistic
from biaswatch.shared.stats.groups.summary import summarise
from tests.support.own_statistics import PerCell

TIMES = 1000
NOISE = 0.06
"""More than three standard errors of the difference of two p-values by 1,000 exchanges."""
NAMES = ("mean", "median", "standard_deviation", "sr_larger_sd_fixed=1.5", "quantile_0.25_0.75")
OF: dict[str, Callable[[Any], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "standard_deviation": lambda x: np.std(x, ddof=1),
    "sr_larger_sd_fixed=1.5": lambda x: np.mean(np.asarray(x) >= 1.5),
    "quantile_0.25_0.75": lambda x: np.subtract(*np.quantile(x, [0.75, 0.25])),
}


def table_of(*groups: Any) -> Measurements:
    values = np.concatenate([np.asarray(group, dtype=float) for group in groups])
    codes = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    names = tuple(str(place) for place in range(len(groups)))
    return Measurements(values[:, None], codes, names, ("x",))


def null_of(
    table: Measurements, names: Sequence[str] = NAMES, times: int = TIMES, **given: Any
) -> DisparityNull:
    domain_of = np.zeros(len(table.groups), dtype=int)
    rng = np.random.default_rng(1)
    statistics = [parse_statistic(name) for name in names]
    return disparity_null(table, statistics, domain_of, ["d"], rng, times, ddof=1, **given)


def some() -> list[Any]:
    rng = np.random.default_rng(2)
    return [rng.gamma(4, 0.4 + 0.06 * place, 9 + 4 * place) for place in range(4)]


def at(found: DisparityNull, metric: str, name: str) -> tuple[int, int, int, int]:
    return found.metrics.index(metric), 0, found.statistics.index(name), 0


@pytest.mark.parametrize("name", NAMES)
def test_every_statistic_has_the_null_of_scipys_permutations(name: str) -> None:
    groups, of = some(), OF[name]

    def ratio(*moved: Any) -> float:
        values = [of(group) for group in moved]
        return float(min(values) / max(values))

    def gap(*moved: Any) -> float:
        values = [of(group) for group in moved]
        return float(max(values) - min(values))

    result = null_of(table_of(*groups))
    for metric, measure, alternative in (("Min/Max", ratio, "less"), ("Max-Min", gap, "greater")):
        expected = stats.permutation_test(
            groups, measure, n_resamples=TIMES, alternative=alternative, vectorized=False, rng=3
        )
        place, null = at(result, metric, name), expected.null_distribution
        assert result.p_values[place] == pytest.approx(expected.pvalue, abs=NOISE)
        near = 0.2 * np.std(null)
        assert result.null_median[place] == pytest.approx(np.median(null), abs=near)


def test_21_equal_groups_of_75_have_an_impact_ratio_under_four_fifths_by_chance() -> None:
    rng = np.random.default_rng(4)
    table = table_of(*rng.normal(1.5, 1, (21, 75)))
    null = null_of(table, times=300)
    place = at(null, "Min/Max", "sr_larger_sd_fixed=1.5")
    assert 0.6 < null.null_median[place] < 0.72
    assert null.p_values[place] > 0.01
    assert 0.5 < null.null_median[at(null, "Min/Max", "median")] < 0.8


def test_units_move_whole_and_inside_the_sets_that_groups_share() -> None:
    rng = np.random.default_rng(5)
    sets = np.repeat(np.arange(10), 3)
    prompts = rng.normal(0, 5, 10)[sets] + rng.normal(0, 1, 30) + np.tile([0, 0, 1.2], 10)
    units, repeated = np.repeat(np.arange(30), 4), np.repeat(prompts, 4)
    table = Measurements(
        repeated[:, None], np.tile(np.arange(3), 10)[units], ("a", "b", "c"), ("x",)
    )
    groups = list(prompts.reshape(10, 3).T)
    expected = stats.permutation_test(
        groups,
        lambda *moved: float(np.ptp([np.median(np.repeat(group, 4)) for group in moved])),
        permutation_type="samples", n_resamples=TIMES, alternative="greater",
        vectorized=False, rng=6,
    )  # fmt: skip
    null = null_of(table, sets=sets[units], units=units)
    place = at(null, "Max-Min", "median")
    assert null.p_values[place] == pytest.approx(expected.pvalue, abs=NOISE)
    separate = null_of(table).p_values[place]
    assert separate != pytest.approx(null.p_values[place], abs=NOISE)


def test_the_observed_disparity_is_among_the_values_that_chance_can_give() -> None:
    """A table that is one of its own exchanges has p-values of all statistics that say so."""
    values = np.tile([1.0, 2.0, 3.0, 7.0], 3)
    null = null_of(table_of(*values.reshape(3, 4)), times=200)
    gap = null.metrics.index("Max-Min")
    assert (null.p_values[gap] == 1).all()


def test_on_a_large_table_statistics_computed_anew_take_fewer_exchanges(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of(*some())
    assert null_of(table, times=300).permutations == (300,) * 5
    monkeypatch.setattr(null_disparities, "MAX_SUMMARISED_VALUES", table.values.size)
    few = null_disparities.MIN_EXCHANGES
    assert null_of(table, times=300).permutations == (300, few, few, 300, few)
    assert null_of(table, times=20).permutations == (20,) * 5


def test_a_teams_own_statistic_has_a_null_too() -> None:
    own = PerCell("largest", lambda values: float(values.max()))
    table = table_of([1.0, 2.0, 3.0], [2.0, 9.0, 1.0], [2.5, 1.5, 1.0])
    null = disparity_null(
        table, [own], np.zeros(3, dtype=int), ["d"], np.random.default_rng(8), 500
    )
    gap = null.metrics.index("Max-Min")
    # One group has the 9; the smaller largest value of the other two is at most 2 half of the time.
    assert null.null_median[gap, 0, 0, 0] == pytest.approx(7.0)
    assert 0 < null.p_values[gap, 0, 0, 0] <= 1


def test_reasons_are_those_of_the_disparity() -> None:
    table = table_of([-1.0, -3.0], [2.0, 4.0], [5.0, 5.5])
    statistics = [parse_statistic(name) for name in ("mean", "median", "standard_deviation")]
    domain_of = np.array([0, 0, 1])
    null = disparity_null(
        table, statistics, domain_of, ["n", "s", "none"], np.random.default_rng(9), 20
    )
    shown = disparities(summarise(table, statistics), domain_of, ["n", "s", "none"])
    for place, metric in enumerate(null.metrics):
        own = shown.reasons[shown.metrics.index(metric)]
        assert (null.reasons[place] == own).all() or metric in {"Max", "Min"}
    assert sentence(null.reasons[at(null, "Min/Max", "median")]) == sentence(Reason.NEGATIVE)
    assert np.isnan(null.p_values[:, 1:]).all()

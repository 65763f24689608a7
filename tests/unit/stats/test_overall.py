"""The test over all groups: its statistic, what its labels move in, and what it does not claim."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.groups.cells import Measurements, sentence
from biaswatch.shared.stats.groups.overall import OverallTests, overall_test

TIMES = 2000
NOISE = 0.04
"""More than three standard errors of the difference of two p-values by 2,000 exchanges."""


def overall(*groups: Any, times: int = TIMES, seed: int = 1, **given: Any) -> OverallTests:
    values = np.concatenate([np.asarray(group, dtype=float) for group in groups])
    codes = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    names = tuple(str(place) for place in range(len(groups)))
    table = Measurements(values.reshape(len(codes), -1), codes, names, ("x",))
    domain_of = np.zeros(len(groups), dtype=int)
    return overall_test(table, domain_of, ["d"], np.random.default_rng(seed), times, **given)


def welch_type(*groups: Any) -> float:
    """Return the statistic as its formula says, group by group."""
    sizes = [len(group) for group in groups]
    squares = [float(np.sum((group - np.mean(group)) ** 2)) for group in groups]
    pooled = sum(squares) / (sum(sizes) - len(groups))
    weights = [n * n / (ss + pooled) for n, ss in zip(sizes, squares, strict=True)]
    means = [float(np.mean(group)) for group in groups]
    common = float(np.average(means, weights=weights))
    return sum(w * (mean - common) ** 2 for w, mean in zip(weights, means, strict=True))


def some(seed: int = 3) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(0.3 * place, 1 + place / 2, 6 + 4 * place) for place in range(4)]


def test_the_p_value_is_that_of_scipys_permutations_of_the_formula() -> None:
    groups = some()
    expected = stats.permutation_test(
        groups, welch_type, n_resamples=TIMES, alternative="greater", rng=7
    )
    result = overall(*groups)
    assert result.statistic[0, 0] == pytest.approx(expected.statistic)
    assert result.p_values[0, 0] == pytest.approx(expected.pvalue, abs=NOISE)


def test_labels_move_only_inside_the_sets_that_groups_share() -> None:
    rng = np.random.default_rng(5)
    level = rng.normal(0, 10, 12)
    groups = [level + rng.normal(0.9 * place, 1, 12) for place in range(3)]
    expected = stats.permutation_test(
        groups,
        # Inside a set the labels are all that differ, so values may be centred first.
        lambda *moved: welch_type(*(np.asarray(moved) - np.mean(moved, axis=0))),
        permutation_type="samples",
        n_resamples=TIMES,
        alternative="greater",
        rng=9,
    )
    within = overall(*groups, sets=np.tile(np.arange(12), 3)).p_values[0, 0]
    assert within == pytest.approx(expected.pvalue, abs=NOISE)
    assert within < 0.2 < 0.5 < overall(*groups).p_values[0, 0]


def test_a_family_of_prompts_in_one_group_is_one_unit() -> None:
    families = np.repeat(np.arange(9), 20)
    level = np.random.default_rng(1).normal(0, 1, 9)
    rows = np.split(level[families] + np.tile([-0.1, 0.1], 90), 3)
    separate, joint = overall(*rows), overall(*rows, sets=families)
    assert separate.p_values[0, 0] < 0.01 < joint.p_values[0, 0]
    assert (separate.units[0, 0], joint.units[0, 0]) == (180, 9)


def test_repeats_of_a_prompt_count_as_their_mean() -> None:
    groups = some()
    prompts = np.arange(sum(map(len, groups)))
    repeated = overall(*(np.repeat(group, 5) for group in groups), units=np.repeat(prompts, 5))
    assert repeated.statistic == pytest.approx(overall(*groups).statistic)
    assert repeated.p_values[0, 0] == overall(*groups).p_values[0, 0]


def test_groups_that_never_vary_and_differ_are_told_apart() -> None:
    result = overall(np.ones(10), np.zeros(10), np.zeros(10))
    assert result.p_values[0, 0] == pytest.approx(1 / (TIMES + 1))


def test_a_small_group_whose_answers_are_all_equal_is_not_known_exactly() -> None:
    large = np.zeros(1000)
    large[:70] = 1
    assert overall(np.zeros(25), large, large).p_values[0, 0] > 0.1


def test_missing_values_are_left_out() -> None:
    groups = some()
    with_gaps = [np.append(group, [np.nan, np.inf]) for group in groups]
    assert overall(*with_gaps).statistic == pytest.approx(overall(*groups).statistic)


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([[1.0, 2.0]], "only one group has a value"),
        ([[1.0, 2.0], [np.nan]], "only one group has a value"),
        ([[np.nan], [np.nan]], "no group has a value"),
        ([[1.0], [2.0], [5.0]], "no group has two units"),
        ([[0.1, 0.1], [0.1], [0.1]], "all values are equal"),
        ([[1e308, 1e308], [-1e308, -1e308]], "the calculation gave no finite number"),
    ],
)
def test_what_cannot_be_tested_says_why(groups: list[list[float]], reason: str) -> None:
    result = overall(*groups, times=20)
    assert np.isnan(result.p_values[0, 0])
    assert str(sentence(result.reasons[0, 0])).startswith(reason)


def test_bad_arguments_are_refused_with_a_sentence() -> None:
    with pytest.raises(ValueError, match="at least one permutation"):
        overall([1.0, 2.0], [3.0], times=0)
    with pytest.raises(ValueError, match="another number"):
        overall([1.0, 2.0], [3.0], sets=np.array([0]))

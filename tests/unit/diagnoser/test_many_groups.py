"""What a run and a table show of many groups: one test, shrunken means, ranks, and chance."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import biaswatch as bw
from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    MeasuredResponse,
    RunFinding,
    diagnose,
    folded,
)
from biaswatch.shared.analysis.findings.group_statistics import GroupingDescription, describe
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan, grouping
from biaswatch.shared.analysis.findings.measured_responses import observations_of
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.table_diagnosis import diagnose_table
from biaswatch.shared.contracts import Claim
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.groups.registry import parse_statistic

PLAN = AnalysisPlan(
    measured={"rating": ("rating",)}, selected_at_least={"rating": 3.0}, permutations=300
)
NAMES = ("mean", "median", "standard_deviation", "sr_larger_sd_fixed=3")


def answers(groups: int = 8, sets: int = 15, repeats: int = 2) -> list[MeasuredResponse]:
    """Make answers to sets of twins, in which the last group is rated far higher."""
    rng = np.random.default_rng(3)
    level = rng.normal(3, 1, sets)
    return [
        MeasuredResponse(
            "t", "direct", f"p{s}-{g}", f"s{s}", {"country": f"g{g}"}, "rating",
            {"rating": float(level[s] + 0.9 * (g == groups - 1) + rng.normal(0, 0.4))}, None,
        )
        for s in range(sets) for g in range(groups) for _ in range(repeats)
    ]  # fmt: skip


def found_of(responses: list[MeasuredResponse]) -> RunFinding:
    [finding] = diagnose(folded(responses), PLAN, np.random.default_rng(1))
    return finding


def table_of(responses: list[MeasuredResponse]) -> Observations:
    return observations_of(
        responses, {"rating": [response.values["rating"] for response in responses]}
    )


def described(observations: Observations, *dimensions: str, **given: Any) -> GroupingDescription:
    statistics = [parse_statistic(name) for name in NAMES]
    return describe(
        observations, grouping(observations, dimensions), statistics,
        alpha=0.05, ddof=1, permutations=300, rng=np.random.default_rng(1), **given,
    )  # fmt: skip


def test_a_run_says_whether_any_group_differs() -> None:
    overall = found_of(answers()).overall
    assert overall is not None
    assert (overall.groups, overall.units, overall.permutations) == (8, 120, 300)
    assert overall.p_value == pytest.approx(1 / 301)


def test_each_group_has_its_shrunken_mean_and_its_rank() -> None:
    finding = found_of(answers())
    raw = np.array([group.mean.value for group in finding.groups])
    shrunken = np.array(
        [group.shrunken_mean.value for group in finding.groups if group.shrunken_mean]
    )
    assert (np.abs(shrunken - raw.mean()) < np.abs(raw - raw.mean())).all()
    last = finding.groups[-1].rank
    assert last is not None
    assert (last.value, last.low, last.high) == (1, 1, 1)
    others = [group.rank.high for group in finding.groups[:-1] if group.rank]
    assert others == [8.0] * 7


def test_ranks_agree_with_the_comparisons_of_a_run() -> None:
    finding = found_of(answers(groups=4, sets=10))
    ranks = {group.group: group.rank for group in finding.groups if group.rank}
    higher = [(gap.a, gap.b) for gap in finding.gaps if (gap.gap.low or 0) > 0]
    higher += [(gap.b, gap.a) for gap in finding.gaps if (gap.gap.high or 0) < 0]
    assert {a for a, _ in higher} == {"g3"}
    for group, rank in ranks.items():
        below = sum(a == group for a, _ in higher)
        above = sum(b == group for _, b in higher)
        assert (rank.low, rank.high) == (1 + above, 4 - below)


def test_two_groups_have_neither() -> None:
    finding = found_of(answers(groups=2))
    assert finding.overall is None
    assert finding.disparities == ()
    assert {group.rank for group in finding.groups} == {None}
    assert {group.shrunken_mean for group in finding.groups} == {None}


def test_disparities_of_means_and_rates_have_their_median_by_chance() -> None:
    finding = found_of(answers())
    of = {(disparity.statistic, disparity.metric): disparity for disparity in finding.disparities}
    statistics = {statistic for statistic, _ in of}
    assert statistics == {"mean", "median", "standard_deviation", "selection_rate"}
    for statistic in ("mean", "selection_rate"):
        assert of[statistic, "Max-Min"].null_median is not None
    assert of["median", "Max-Min"].null_median is None
    ratio, plain = of["selection_rate", "Impact Ratio"], of["selection_rate", "Min/Max"]
    assert (ratio.value, ratio.null_median) == (plain.value, plain.null_median)


def test_disparities_of_means_and_rates_are_over_prompts_as_the_means_shown_are() -> None:
    responses = answers()
    more = [*responses, *(response for response in responses[:40] for _ in range(5))]
    finding = found_of(more)
    means = [group.mean.value or 0.0 for group in finding.groups]
    rates = [group.selection_rate.value or 0.0 for group in finding.groups if group.selection_rate]
    of = {
        (disparity.statistic, disparity.metric): disparity.value
        for disparity in finding.disparities
    }
    assert of["mean", "Max-Min"] == pytest.approx(max(means) - min(means))
    assert of["selection_rate", "Impact Ratio"] == pytest.approx(min(rates) / max(rates))


def test_a_run_and_its_table_say_the_same() -> None:
    responses = answers()
    finding, table = found_of(responses), described(table_of(responses), "country")
    means = {mean.group["country"]: mean for mean in table.means}
    for group in finding.groups:
        mean = means[group.group]
        assert group.shrunken_mean
        assert group.rank
        assert group.shrunken_mean.value == mean.shrunken_mean
        assert (group.rank.low, group.rank.high) == (mean.rank_low, mean.rank_high)
    assert finding.overall
    assert finding.overall.statistic == table.overall[0].statistic


def test_the_order_of_rows_changes_no_number_of_a_table() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat([f"g{g}" for g in range(5)], 12)
    values = rng.normal(0, 1, (60, 2))
    values[rng.random((60, 2)) < 0.1] = np.nan
    shown = []
    for order in (np.arange(60), rng.permutation(60)):
        table = Observations(("x", "y"), values[order], {"g": groups[order].tolist()})
        result = described(table, "g")
        shown.append(
            [disparity.null_median for disparity in result.disparities]
            + [item.p_value for item in result.overall]
        )
    for one, other in zip(*shown, strict=True):
        assert one == pytest.approx(other)


def test_intersections_are_drawn_towards_the_sum_of_their_dimensions() -> None:
    rng = np.random.default_rng(6)
    rows = [(f"r{r}", f"s{s}") for r in range(4) for s in range(4) for _ in range(10)]
    values = np.array([float(a[1]) + float(b[1]) for a, b in rows]) + rng.normal(0, 1, len(rows))
    race, sex = ([row[side] for row in rows] for side in (0, 1))
    table = Observations(("x",), values[:, None], {"race": race, "sex": sex})
    crossed = described(table, "race", "sex").means
    assert {item.shrunken_method for item in crossed} == {
        "empirical Bayes, towards the sum of the dimensions' effects"
    }
    truth = np.array([float(e.group["race"][1]) + float(e.group["sex"][1]) for e in crossed])
    raw, shrunken = (
        np.array([getattr(item, name) for item in crossed]) for name in ("mean", "shrunken_mean")
    )
    assert np.mean((shrunken - truth) ** 2) < 0.7 * np.mean((raw - truth) ** 2)


@pytest.mark.parametrize("claim", list(Claim))
@pytest.mark.parametrize("named", ["units", "sets", "both"])
def test_repeats_and_families_give_the_same_numbers_in_any_order_of_rows(
    claim: Claim, named: str
) -> None:
    rng = np.random.default_rng(8)
    values = np.column_stack([rng.random(72), 0.1 + 0.2 * rng.integers(0, 2, 72)])
    groups = ["a", "b", "c"] * 24
    units = [f"p{place // 6}{group}" for place, group in enumerate(groups)]
    sets = [f"s{place // 12}{group if place % 2 else ''}" for place, group in enumerate(groups)]
    sets = [f"{units[place]}" if named == "units" else set_ for place, set_ in enumerate(sets)]
    units_too = [f"{name}/{set_}" for name, set_ in zip(units, sets, strict=True)]
    orders = (np.arange(72), np.arange(72)[::-1], rng.permutation(72))
    diagnoses = [
        diagnose_table(
            Observations(
                features=("x", "y"),
                values=values[order],
                groups={"group": [groups[row] for row in order]},
                units=None if named == "sets" else [units_too[row] for row in order],
                sets=None if named == "units" else [sets[row] for row in order],
            ),
            [parse_statistic("mean"), parse_statistic("sr_larger_sd_mean")],
            ComparisonPlan(claim=claim),
            ddof=1,
            rng=np.random.default_rng(1),
            permutations=20,
        )
        for order in orders
    ]
    numbers = [repr((diagnosis, diagnosis.description)) for diagnosis in diagnoses]
    assert numbers[1:] == numbers[:1] * 2


@pytest.mark.parametrize("value", [0.1, 0.3, 4.7])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_run_whose_answers_are_all_equal_is_diagnosed_and_finds_nothing(
    value: float, missing: float
) -> None:
    rng = np.random.default_rng(11)
    for seed in range(12):
        names = "abcdefgh"[: 3 + seed % 6]
        responses = [
            MeasuredResponse(
                "t", "direct", f"p{place}", f"s{place // len(names)}",
                {"country": names[place % len(names)]}, "rating",
                {} if rng.random() < missing else {"rating": value}, None,
            )
            for place in rng.permutation(9 * (1 + seed))
        ]  # fmt: skip
        result = found_of(responses)
        assert all(gap.p_adjusted is None or gap.p_adjusted > 0.05 for gap in result.gaps)
        assert result.overall is None or result.overall.p_value is None


def test_thousands_of_groups_are_refused_at_once_in_a_sentence() -> None:
    frame = pd.DataFrame({"city": [f"c{n}" for n in range(10_000)] * 2, "rating": [1, 2] * 10_000})
    with pytest.raises(UsageError, match=r"city has 10,000 groups.*coarser column"):
        bw.diagnose(frame, group="city", feature="rating")

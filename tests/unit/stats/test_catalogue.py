"""Names of statistics: what they stand for, and what is said of those that stand for nothing."""

import pytest

from biaswatch.shared.stats.groups.baseline import Correlation, Divergence, Mode, Precision
from biaswatch.shared.stats.groups.registry import (
    PLAIN,
    SelectionRate,
    SelectionStandard,
    added,
    parse_statistic,
)
from biaswatch.shared.stats.groups.summary import QuantileRange, Statistic
from tests.support.own_statistics import PerCell

PARSED: dict[str, Statistic] = {
    **PLAIN,
    "mode-0.5": Mode("mode-0.5", 0.5),
    "quantile_0.25_0.75": QuantileRange("quantile_0.25_0.75", 0.25, 0.75),
    "percentile_5_95": QuantileRange("percentile_5_95", 0.05, 0.95),
    "correlation_wrt_a_b_method_kendall": Correlation(
        "correlation_wrt_a_b_method_kendall", "a_b", "kendall"
    ),
    "kl_divergence_wrt_human_bin_20": Divergence("kl_divergence_wrt_human_bin_20", "human", 20),
    "js_divergence_wrt_human_bin_5": Divergence("js_divergence_wrt_human_bin_5", "human", 5, True),
    "precision_wrt_b_tolerance_1e-3": Precision("precision_wrt_b_tolerance_1e-3", "b", 0.001),
    "sr_larger_sd_mean": SelectionRate("sr_larger_sd_mean", "larger", SelectionStandard("mean")),
    "sr_smaller_sd_fixed=-1.5": SelectionRate(
        "sr_smaller_sd_fixed=-1.5", "smaller", SelectionStandard("fixed", -1.5)
    ),
    "sr_within-percentage-0.1_sd_mode": SelectionRate(
        "sr_within-percentage-0.1_sd_mode", "within-percentage", SelectionStandard("mode", 0.1), 0.1
    ),
    "sr_within-range-2_sd_percentile_range=25": SelectionRate(
        "sr_within-range-2_sd_percentile_range=25",
        "within-range",
        SelectionStandard("quantile", 0.25),
        2,
    ),
}


@pytest.mark.parametrize("name", PARSED)
def test_a_name_says_all_there_is_to_say(name: str) -> None:
    assert parse_statistic(name) == PARSED[name]
    assert parse_statistic(name).name == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "average",
        "Mean",
        "sr_larger",
        "sr_larger_sd_",
        "sr_bigger_sd_mean",
        "sr_within-range_sd_mean",
        "sr_larger_sd_quantile_range=1.5",
        "sr_larger_sd_mode-0",
        "correlation_wrt_b_method_cosine",
        "precision_wrt_b_tolerance_-1",
        "quantile_0.25",
    ],
)
def test_an_unknown_name_is_told_what_there_is(name: str) -> None:
    with pytest.raises(ValueError, match="there is no statistic named") as failure:
        parse_statistic(name)
    assert all(
        form in str(failure.value) for form in ("median", "sr_METHOD_sd_STANDARD", "fixed=V")
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("quantile_0.75_0.25", "ascending quantiles"),
        ("percentile_25_250", "ascending quantiles"),
        ("kl_divergence_wrt_b_bin_1", "at least 2 bins"),
        ("mode-0", "a width above 0"),
    ],
)
def test_a_known_form_with_an_impossible_number_is_told_so(name: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse_statistic(name)


def test_a_teams_own_statistic_is_found_by_its_name() -> None:
    statistic = PerCell("mine", lambda _: 1.0)
    own = added([statistic])
    assert parse_statistic("mine", own) is statistic
    with pytest.raises(ValueError, match=r"named 'yours'.*mine"):
        parse_statistic("yours", own)


@pytest.mark.parametrize("taken", ["mean", "sr_larger_sd_mean", "twice"])
def test_a_name_that_is_taken_is_refused(taken: str) -> None:
    loaded = [PerCell("twice", lambda _: 1.0), PerCell(taken, lambda _: 1.0)]
    with pytest.raises(ValueError, match=f"already a statistic named '{taken}'"):
        added(loaded)

"""Features on logarithms and ranks: the question they answer, their level, their power."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats

import biaswatch as bw
from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse, diagnose, folded
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.scales import scaled
from biaswatch.shared.analysis.monitors.round_answers import value_of
from biaswatch.shared.contracts.derived_features import Scale
from biaswatch.shared.requests.monitors import FeatureRequest
from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.comparisons.gap_test import compare_samples

STUDIES = 200


def lengths(seed: int, shift: float = 0.0, sizes: tuple[int, int] = (40, 40)) -> pd.DataFrame:
    """Return lengths of two groups with equal medians but for the shift, log SDs 1.2 and 0.4."""
    rng = np.random.default_rng(seed)
    logs = [rng.normal(4 + shift, 1.2, sizes[0]), rng.normal(4, 0.4, sizes[1])]
    return pd.DataFrame(
        {"group": np.repeat(["a", "b"], sizes), "words": np.exp(np.concatenate(logs))}
    )


def test_logarithms_compare_geometric_means_and_name_the_question() -> None:
    frame = lengths(1, 1.0)
    result = bw.diagnose(frame, group="group", feature="words", scale={"words": "log"})
    row = result.comparisons.iloc[0]
    a, b = (np.log(frame["words"][frame["group"] == group]) for group in "ab")
    assert row["feature"] == "log(words)"
    assert row["gap"] == pytest.approx(a.mean() - b.mean())
    assert "The gap between the means of words is another question." in str(result)
    assert "log(words)" in result.sentences[0]


def test_the_gap_of_ranks_is_that_of_mann_whitneys_u() -> None:
    frame = lengths(2, 0.5)
    frame["words"] = frame["words"].round(-1)  # ties
    result = bw.diagnose(frame, group="group", feature="words", scale={"words": "rank"})
    a, b = (frame["words"][frame["group"] == group] for group in "ab")
    larger = stats.mannwhitneyu(a, b).statistic / (len(a) * len(b))
    assert result.comparisons["gap"].iloc[0] == pytest.approx(larger - 0.5)


def test_values_without_a_logarithm_are_missing_and_reported() -> None:
    frame = lengths(3)
    frame.loc[[0, 1, 50], "words"] = [0.0, -1.0, np.nan]
    result = bw.diagnose(frame, group="group", feature="words", scale={"words": "log"})
    assert result.comparisons[["n_missing_a", "n_missing_b"]].iloc[0].tolist() == [2, 1]
    assert any("2 values of 0 or less have no logarithm" in line for line in result.warnings)


def test_ranks_are_those_of_each_domain() -> None:
    values = np.array([[1.0], [2.0], [30.0], [10.0], [np.nan]])
    rows = Observations(("words",), values, {}, domains=["x", "x", "y", "y", "y"])
    ranked, _ = scaled(rows, {"words": Scale.RANK})
    assert ranked.values[:, 0].tolist() == pytest.approx(
        [0.25, 0.75, 0.75, 0.25, np.nan], nan_ok=True
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": {"letters": "log"}}, "`scale` names 'letters', which is not among the features"),
        ({"scale": {"words": "root"}}, "this must be 'log' or 'rank'"),
        (
            {"scale": {"words": "log"}, "calibrate": True, "baseline": "words"},
            "`scale` cannot be combined with calibrate",
        ),
    ],
)
def test_a_wrong_scale_is_a_usage_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(bw.UsageError, match=message):
        bw.diagnose(lengths(4), group="group", feature="words", **options)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scipy's, of samples that do not overlap
@pytest.mark.parametrize("sizes", [(40, 40), (25, 200), (200, 25), (12, 12)])
@pytest.mark.parametrize("scale", list(Scale))
def test_level_and_power_on_skewed_lengths_of_unlike_spread(
    scale: Scale, sizes: tuple[int, int]
) -> None:
    """Comparators: Welch's t of logarithms, and Brunner and Munzel's test of ranks."""
    shift = 2.8 * (1.2**2 / sizes[0] + 0.4**2 / sizes[1]) ** 0.5
    errors, detections, best = 0, 0, 0
    for number in range(STUDIES):
        errors += _differs(lengths(number, 0.0, sizes), scale, sizes[0])
        frame = lengths(number, shift, sizes)
        detections += _differs(frame, scale, sizes[0])
        a, b = np.split(frame["words"].to_numpy(), [sizes[0]])
        best += (
            stats.ttest_ind(np.log(a), np.log(b), equal_var=False).pvalue <= 0.05
            if scale is Scale.LOG
            else not stats.brunnermunzel(a, b).pvalue > 0.05
        )
    assert errors / STUDIES <= 0.05 + 3.5 * (0.05 * 0.95 / STUDIES) ** 0.5
    assert detections >= 0.9 * best


def _differs(frame: pd.DataFrame, scale: Scale, size: int) -> bool:
    rows = Observations(("words",), frame[["words"]].to_numpy(), {})
    ranked, _ = scaled(rows, {"words": scale})
    a, b = np.split(ranked.values[:, 0], [size])
    bounds = ranked.ranges[ranked.features[0]]
    gap = compare_samples(
        ComparedSamples(only_a=a, only_b=b, bounds=bounds), alpha=0.05, tolerance=0
    )
    return gap.p_disparity is not None and gap.p_disparity <= 0.05


@pytest.mark.parametrize("scale", Scale)
def test_a_run_is_compared_on_the_scale_that_its_suite_declares(scale: Scale) -> None:
    frame = lengths(4, 0.6)
    frame.loc[[0, 3], "words"] = [0.0, 90_000.0]  # without a logarithm, outside the range
    declared = {"words": (0.0, 50_000.0)}
    cases = [
        MeasuredResponse(
            target="t", scaffold="direct", unit=f"p{n}", set=None, groups={"group": group},
            extractor="length", values={"words": words, "characters": 5 * words}, why_missing=None,
        )
        for n, (group, words) in enumerate(frame.itertuples(index=False))
    ]  # fmt: skip
    plan = AnalysisPlan(
        features=("words",), measured={"length": ("characters", "words")}, permutations=0,
        ranges=declared, scale={"words": scale},
    )  # fmt: skip
    [finding] = diagnose(folded(cases), plan, np.random.default_rng(1))
    columns: dict[str, Any] = {
        "group": "group", "feature": "words", "scale": {"words": scale}, "permutations": 0,
        "ranges": declared,
    }  # fmt: skip
    with pytest.raises(bw.UsageError, match="outside its range"):
        bw.diagnose(frame, **columns)
    frame.loc[3, "words"] = np.nan
    table = bw.diagnose(frame, **columns)
    row, [gap] = table.comparisons.iloc[0], finding.gaps
    assert finding.key.feature == row["feature"] == f"{scale}(words)"
    assert gap.gap.value == pytest.approx(row["gap"], abs=1e-12)
    assert gap.p_value == pytest.approx(row["p_value"])
    assert gap.verdict.value == row["verdict"]
    assert finding.groups[0].missing == row["n_missing_a"] == (2 if scale is Scale.LOG else 1)


def test_a_baseline_is_on_the_scale_of_its_feature() -> None:
    frame = lengths(5).assign(before=lambda rows: rows["words"] * 1.001)
    result = bw.diagnose(
        frame, group="group", feature="words", baseline="before", scale={"words": "log"},
        statistic=["precision_wrt_baseline_tolerance_0.1"],
    )  # fmt: skip
    assert result.groups["value"].tolist() == [1.0, 1.0]


FIELDS = {"extractor": "length", "feature": "words", "low": 1, "high": 5000, "tolerance": 0.1}


def test_a_monitor_watches_logarithms_within_the_logarithms_of_its_range() -> None:
    watched = FeatureRequest.model_validate({**FIELDS, "scale": "log"})
    again = FeatureRequest.model_validate(watched.model_dump())
    assert (watched.feature, watched.low) == (again.feature, again.low) == ("log(words)", 0)
    assert watched.high == again.high == pytest.approx(np.log(5000))
    assert value_of({"words": 100.0}, watched.feature) == pytest.approx(np.log(100))
    assert value_of({"words": 0.0}, watched.feature) is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scale": "rank"}, "a rank depends on the other answers of its round"),
        ({"scale": "log", "low": 0}, "needs `low` and `high` above 0"),
        ({"scale": "log", "method": "odds", "selected_at_least": 9}, "the same on any scale"),
        ({"scale": "log", "tolerance": 9}, "smaller than high less low"),
    ],
)
def test_a_monitor_refuses_a_scale_on_which_rounds_do_not_add_up(
    fields: dict[str, object], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        FeatureRequest.model_validate({**FIELDS, **fields})

"""Error rates against the truth: Fairlearn's numbers, intervals, verdicts, undefined rates."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import biaswatch as bw
from tests.support.golden import golden

CASES = golden("fairlearn.json")["cases"]


def frame_of(case: dict[str, Any]) -> pd.DataFrame:
    rows = [(row[0], int(row[1]), int(row[2])) for row in case["rows"].split()]
    return pd.DataFrame(rows, columns=["group", "truth", "decision"])


def diagnosed(frame: pd.DataFrame, **options: Any) -> bw.FrameDiagnosis:
    request: dict[str, Any] = {"group": "group", "feature": "decision", "truth": "truth"}
    return bw.diagnose(frame, **{"permutations": 0, **request, **options})


def drawn(rates: dict[str, tuple[float, float]], rows: int, seed: int) -> pd.DataFrame:
    """Return applicants whose true and false positive rates differ by group."""
    rng = np.random.default_rng(seed)
    group = rng.choice(list(rates), rows)
    truth = rng.random(rows) < 0.5
    chance = np.array([rates[g][0 if t else 1] for g, t in zip(group, truth, strict=True)])
    decision = rng.random(rows) < chance
    return pd.DataFrame({"group": group, "truth": truth, "decision": decision})


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["name"]))
def test_rates_and_parities_are_fairlearns(case: dict[str, Any]) -> None:
    result = diagnosed(frame_of(case))
    for row in result.parts["error_rates"]:
        wanted = case["by_group"][row["group"]][row["rate"]]
        if row["value"] is None:  # Fairlearn has 0 for what is undefined
            assert wanted == 0
            assert row["n"] == 0
            assert row["reason"]
        else:
            assert row["value"] == pytest.approx(wanted, abs=1e-15)
    for row in result.parts["parity"]:
        wanted = case["parity"][row["metric"]]
        assert row["zero_filled"] == (
            wanted if wanted is None else pytest.approx(wanted, abs=1e-15)
        )
        assert row["value"] is None or row["value"] == row["zero_filled"]
        assert row["reason"] or row["ci"]


def test_a_rate_without_rows_is_null_and_not_0() -> None:
    frame = frame_of(next(case for case in CASES if case["name"] == "no positives in b"))
    parity = {row["metric"]: row for row in diagnosed(frame).parts["parity"]}
    odds = parity["equalized_odds_difference"]
    assert odds["value"] is None
    assert odds["reason"] == "b: no row has a positive truth"
    assert odds["zero_filled"] == pytest.approx(2 / 3)
    assert odds["verdict"] != "disparity"


def test_one_unequal_rate_is_found_and_named() -> None:
    frame = drawn({"a": (0.85, 0.3), "b": (0.5, 0.3)}, 600, seed=2)
    result = diagnosed(frame)
    verdicts = {row["feature"]: row["verdict"] for row in result.parts["comparisons"]}
    assert verdicts["decision.true_positive_rate"] == "disparity"
    assert verdicts["decision.false_positive_rate"] != "disparity"
    parity = {row["metric"]: row for row in result.parts["parity"]}
    assert parity["equal_opportunity_difference"]["verdict"] == "disparity"
    low, high = parity["equal_opportunity_difference"]["ci"]
    assert 0 < low < 0.35 < high
    assert any("true_positive_rate" in sentence for sentence in result.sentences)


def test_intervals_of_rates_are_mid_p() -> None:
    row = next(
        row
        for row in diagnosed(drawn({"a": (0.7, 0.2), "b": (0.7, 0.2)}, 80, 3)).parts["error_rates"]
        if row["rate"] == "true_positive_rate"
    )
    n, successes = row["n"], round(row["value"] * row["n"])
    low, high = row["ci"]
    for end, tail in (
        (low, stats.binom.sf(successes, n, low)),
        (high, stats.binom.cdf(successes - 1, n, high)),
    ):
        beyond = tail + stats.binom.pmf(successes, n, end) / 2
        assert beyond == pytest.approx(0.025, abs=5e-4)


def test_equal_rates_are_seldom_called_a_disparity() -> None:
    equal = {"a": (0.7, 0.2), "b": (0.7, 0.2), "c": (0.7, 0.2)}
    called = sum(diagnosed(drawn(equal, 120, seed)).has_disparity for seed in range(60))
    assert called <= 8  # 3 expected at .05


def test_intervals_of_the_largest_gap_cover_it() -> None:
    rates = {"a": (0.8, 0.2), "b": (0.6, 0.2), "c": (0.7, 0.4)}
    covered = 0
    for seed in range(60):
        parity = {r["metric"]: r for r in diagnosed(drawn(rates, 240, seed)).parts["parity"]}
        low, high = parity["equalized_odds_difference"]["ci"]
        below, above = parity["equalized_odds_ratio"]["ci"]
        covered += low <= 0.2 <= high and below <= 0.5 <= above
    assert covered >= 54


def test_twins_stay_twins_within_a_rate() -> None:
    rng = np.random.default_rng(5)
    truth = np.arange(40) % 2
    rows = [
        {"group": g, "cv": cv, "truth": truth[cv], "decision": truth[cv] if g == "a" else 0}
        for cv in rng.permutation(40)
        for g in "ab"
    ]
    result = diagnosed(pd.DataFrame(rows), set="cv")
    compared = {row["feature"]: row for row in result.parts["comparisons"]}
    assert "pairs" in compared["decision.true_positive_rate"]["method"]
    assert compared["decision.true_positive_rate"]["units_a"] == 20


def test_a_threshold_makes_decisions_of_scores_and_calibration_is_described() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(400)
    frame = pd.DataFrame(
        {"group": rng.choice(["a", "b"], 400), "score": score, "truth": rng.random(400) < score}
    )
    result = diagnosed(frame, feature="score", selected_at_least={"score": 0.5})
    rates = {(row["rate"], row["group"]): row for row in result.parts["error_rates"]}
    a = frame[(frame.group == "a") & frame.truth]
    assert rates["true_positive_rate", "a"]["value"] == pytest.approx((a.score >= 0.5).mean())
    low, high = rates["calibration_error", "a"]["ci"]
    assert low < 0 < high
    bins = [row for row in result.parts["calibration"] if row["group"] == "a"]
    assert sum(row["n"] for row in bins) == (frame.group == "a").sum()
    names = {row["feature"] for row in result.parts["comparisons"]}
    assert "score.selection_rate" in names


def test_rows_without_a_truth_are_counted_and_left_out() -> None:
    frame = drawn({"a": (0.7, 0.2), "b": (0.7, 0.2)}, 100, seed=4).astype({"truth": float})
    frame.loc[:29, "truth"] = np.nan
    result = diagnosed(frame)
    accuracy = [row["n"] for row in result.parts["error_rates"] if row["rate"] == "accuracy"]
    assert sum(accuracy) == 70
    assert any(warning.startswith("30 rows have no truth") for warning in result.warnings)


@pytest.mark.parametrize(
    ("column", "options", "message"),
    [
        ("decision", {}, "decision is not a decision of 0 or 1: set the lowest value"),
        ("truth", {}, "the truth is not 0 or 1: set the lowest value"),
        ("decision", {"truth": "nosuch"}, "no column 'nosuch'"),
    ],
)
def test_what_is_no_decision_is_refused(column: str, options: dict[str, Any], message: str) -> None:
    frame = drawn({"a": (0.7, 0.2), "b": (0.7, 0.2)}, 50, seed=4)
    frame[column] = 3.5
    with pytest.raises(bw.UsageError, match=message):
        diagnosed(frame, **options)

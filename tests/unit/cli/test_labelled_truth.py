"""Labels of the truth correct error rates that a judge's truth gets wrong."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import biaswatch as bw
from biaswatch.shared.errors import UsageError

ROWS, LABELS = 800, 200


def hires(seed: int = 1) -> pd.DataFrame:
    """Return decisions alike in both groups; the judge takes a third of b's unfit as fit."""
    rng = np.random.default_rng(seed)
    parts = []
    for group, wrong in (("a", 0.02), ("b", 0.35)):
        fit = rng.random(ROWS) < 0.4
        hired = np.where(fit, rng.random(ROWS) < 0.9, rng.random(ROWS) < 0.1)
        judged = np.where(fit, rng.random(ROWS) < 0.95, rng.random(ROWS) < wrong)
        people = np.where(np.arange(ROWS) < LABELS, fit.astype(float), np.nan)
        columns = {"group": group, "hired": hired, "judged": judged * 1.0, "people": people}
        parts.append(pd.DataFrame(columns).assign(fit=fit * 1.0, score=hired * 0.6 + 0.2))
    return pd.concat(parts, ignore_index=True)


def corrected(frame: pd.DataFrame, feature: str = "hired") -> dict[str, dict[str, Any]]:
    """Return the corrected gap of each rate."""
    diagnosis = bw.diagnose(
        frame, group="group", feature=feature, truth="judged", labels={"judged": "people"},
        permutations=0,
    )  # fmt: skip
    rows: dict[str, dict[str, Any]] = {
        row["feature"]: row for row in diagnosis.parts["corrections"]
    }
    return rows


def test_labels_take_back_a_gap_of_error_rates_that_the_judge_made() -> None:
    frame = hires()
    rows = corrected(frame)
    rate = rows["hired.true_positive_rate"]
    fit = frame[frame["judged"] == 1].groupby("group")["hired"].mean()
    assert rate["by_readings"] == pytest.approx(fit["a"] - fit["b"])
    assert rate["by_readings_ci"][0] > 0.15
    assert rate["ci"][0] < 0 < rate["ci"][1]
    assert rate["verdict"] == "inconclusive"
    assert set(rows) == {
        f"hired.{name}"
        for name in ("accuracy", "precision", "true_positive_rate", "false_positive_rate")
    }


def test_the_corrected_rates_are_those_of_the_truth_where_all_rows_are_labelled() -> None:
    frame = hires()
    frame["people"] = frame["fit"]
    rows = corrected(frame)
    parts = {
        "true_positive_rate": frame[frame["fit"] == 1],
        "false_positive_rate": frame[frame["fit"] == 0],
    }
    for name, part in parts.items():
        means = part.groupby("group")["hired"].mean()
        gap = means["a"] - means["b"]
        assert rows[f"hired.{name}"]["corrected"] == pytest.approx(gap, abs=1e-9)


def test_scores_have_a_corrected_calibration_error() -> None:
    rows = corrected(hires(), feature="score")
    assert rows["score.calibration_error"]["by_readings"] > 0.1
    assert rows["score.calibration_error"]["verdict"] == "inconclusive"


def test_labels_of_another_column_are_refused() -> None:
    with pytest.raises(UsageError, match="not among the features or the truth"):
        bw.diagnose(hires(), group="group", feature="hired", labels={"judged": "people"})

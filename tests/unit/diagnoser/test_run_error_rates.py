"""Error rates of a run's answers against the expected answers of its probes."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

import biaswatch as bw
from biaswatch.readers.suite_names import SHIPPED
from biaswatch.readers.suites import load_suite
from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse, diagnose, folded
from biaswatch.shared.contracts import Suite
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import UsageError

PLAN = AnalysisPlan(
    selected_at_least={"rating": 3.0},
    error_rates=("rating",),
    ranges={"rating": (1.0, 4.0)},
    permutations=0,
)


def rows(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    expected = rng.integers(1, 5, n)
    group = rng.choice(["a", "b"], n)
    noise = np.where(group == "a", 0.0, rng.integers(-2, 1, n))
    rating = np.clip(expected + noise, 1, 4).astype(float)
    rating[::17] = np.nan
    return pd.DataFrame({"group": group, "rating": rating, "expected": expected})


def responses(frame: pd.DataFrame) -> list[MeasuredResponse]:
    return [
        MeasuredResponse(
            target="t",
            scaffold="direct",
            unit=f"p{n}",
            set=None,
            groups={"group": str(row["group"])},
            extractor="rating",
            values={} if np.isnan(row["rating"]) else {"rating": float(row["rating"])},
            why_missing="refused" if np.isnan(row["rating"]) else None,
            expected=str(row["expected"]),
        )
        for n, row in frame.iterrows()
    ]


def test_a_run_and_a_table_of_its_answers_have_the_same_error_rates() -> None:
    frame = rows()
    findings = diagnose(folded(responses(frame)), PLAN, np.random.default_rng(1))
    table = bw.diagnose(
        frame, group="group", feature="rating", truth="expected", permutations=0,
        selected_at_least={"rating": 3}, ranges={"rating": (1, 4)},
    )  # fmt: skip
    compared = {row["feature"]: row for row in table.parts["comparisons"]}
    assert {finding.key.feature for finding in findings} == set(compared)
    for finding in findings:
        row, [gap] = compared[finding.key.feature], finding.gaps
        assert gap.gap.value == pytest.approx(row["gap"], abs=1e-12)
        assert [gap.gap.low, gap.gap.high] == pytest.approx(row["ci"], abs=1e-12)
        assert gap.verdict.value == row["verdict"]
        assert finding.family == (len(compared) - 1 if finding.is_error_rate else 1)
    about = table.result.about
    assert (about["family"], about["error_rates_family"]) == (1, len(compared) - 1)
    rates = {(row["rate"], row["group"]): row for row in table.parts["error_rates"]}
    [result] = [f for f in findings if f.key.feature == "rating.true_positive_rate"]
    for group in result.groups:
        row = rates["true_positive_rate", group.group]
        assert group.mean.value == pytest.approx(row["value"], abs=1e-12)
        assert group.missing == row["n_missing"]
    [rated] = [finding.parities for finding in findings if finding.parities]
    assert len(rated) == len(table.parts["parity"]) == 6
    for measure, row in zip(rated, table.parts["parity"], strict=True):
        assert f"{measure.parity}_{measure.metric}" == row["metric"]
        assert measure.estimate.value == pytest.approx(row["value"], abs=1e-12)
        ends = [measure.estimate.low, measure.estimate.high]
        assert ends == pytest.approx(row["ci"] or [None, None], abs=1e-12)
        assert measure.verdict == row["verdict"]


def test_answers_without_an_expected_number_have_no_error_rates() -> None:
    frame = rows(60).assign(expected="A")
    findings = diagnose(folded(responses(frame)), PLAN, np.random.default_rng(1))
    assert [finding.key.feature for finding in findings] == ["rating"]


def test_a_suite_names_the_value_of_a_selection() -> None:
    with pytest.raises(ValidationError) as refused:
        Suite.model_validate(
            {
                "name": "s",
                "extractors": ["rating"],
                "error_rates": ["rating"],
                "probes": [{"key": "p", "messages": [{"role": "user", "content": "?"}]}],
            }
        )
    assert "selected_at_least" in first_mistake(refused.value).sentence


def test_a_suite_gives_the_right_answers_by_a_fact(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    probes = [
        {"key": f"p{n}", "prompt": "?", "groups": {"g": "a"}, "facts": {"detail": f"{n}"}}
        for n in (1, 2, 3)
    ]
    fields = {"name": "s", "extractors": ["rating"], "probes": probes}
    file.write_text(json.dumps({**fields, "truth": {"detail": {"1": 1, "2": 0}}}))
    assert [probe.expected for probe in load_suite(file).probes] == ["1", "0", None]
    file.write_text(json.dumps({**fields, "truth": {"detail": 1}}))
    with pytest.raises(UsageError, match="truth: write a fact"):
        load_suite(file)


def test_moderation_has_a_right_answer_for_each_post() -> None:
    suite = load_suite(SHIPPED / "moderation")
    assert {probe.expected for probe in suite.probes} == {"0", "1"}
    assert suite.error_rates == ("rating",)

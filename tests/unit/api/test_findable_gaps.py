"""The gap that a table could have found: four times as many sets find what is promised."""

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biaswatch as bw
from biaswatch.shared.formatting import TOO_SMALL
from biaswatch.shared.stats.comparisons.assumed_answers import AssumedAnswers
from biaswatch.shared.stats.comparisons.planned_power import simulated_power
from biaswatch.shared.stats.comparisons.simulated_studies import PlannedTest, StudyShape

NUMBERS = AssumedAnswers(0.0, 0.0, 0.8, 0.6, 0.5, None, 0.0, 0.0)
RATINGS = AssumedAnswers(3.2, 3.2, 1.0, 0.6, 0.5, (1.0, 5.0), 0.0, 0.0)
CHOICES = AssumedAnswers(0.5, 0.5, None, 0.1, 0.5, (0.0, 1.0), 0.0, 0.0)
COLUMNS: dict[str, Any] = {"group": "group", "feature": "score", "permutations": 0}
PILOTS, RUNS = 8, 100
"""Tables whose promises are averaged, and simulated studies of each promise."""


def table_of(
    shape: StudyShape, answers: AssumedAnswers, groups: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return one answer to each prompt of equal groups."""
    sizes = [shape.pairs] * groups if shape.pairs else [shape.only_a, shape.only_b]
    rho = answers.set_correlation if shape.pairs else 0.0
    shared = rng.standard_normal(max(sizes))
    frames = [
        pd.DataFrame({
            "group": f"g{group}", "set": [f"s{n}" for n in range(size)],
            "score": answers.drawn(
                answers.mean_b,
                (sqrt(rho) * shared[:size] + sqrt(1 - rho) * rng.standard_normal(size))[:, None],
                1, rng,
            ).ravel(),
        })
        for group, size in enumerate(sizes)
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def promised(shape: StudyShape, answers: AssumedAnswers, groups: int, tolerance: float) -> float:
    """Return the mean of the promised gaps of some tables."""
    rng = np.random.default_rng(11)
    options = {**COLUMNS, "tolerance": tolerance, "set": "set" if shape.pairs else None}
    diagnoses = [
        bw.diagnose(table_of(shape, answers, groups, rng), **options) for _ in range(PILOTS)
    ]
    return float(np.mean([of.comparisons["findable_gap"][0] for of in diagnoses]))


@pytest.mark.parametrize(
    ("shape", "answers", "groups", "tolerance"),
    [
        (StudyShape(12), NUMBERS, 2, 0.0),
        (StudyShape(40), NUMBERS, 3, 0.0),
        (StudyShape(40), NUMBERS, 2, 0.2),
        (StudyShape(40), RATINGS, 2, 0.0),
        (StudyShape(60), CHOICES, 2, 0.0),
        (StudyShape(0, 40, 40), NUMBERS, 2, 0.0),
        (StudyShape(0, 100, 100), CHOICES, 2, 0.0),
    ],
)
def test_with_four_times_as_many_sets_about_eighty_percent_of_studies_find_the_promised_gap(
    shape: StudyShape, answers: AssumedAnswers, groups: int, tolerance: float
) -> None:
    smaller = (promised(shape, answers, groups, tolerance) + tolerance) / 2
    apart = replace(
        answers, mean_a=answers.mean_a + smaller / 2, mean_b=answers.mean_b - smaller / 2
    )
    test = PlannedTest(0.05, tolerance, groups * (groups - 1) // 2)
    power = simulated_power(shape.scaled(4 * shape.size), 1, apart, test, runs=RUNS)
    assert 0.7 <= power <= 0.95


def test_a_sentence_tells_what_finds_less_and_only_where_it_can_be_known() -> None:
    rng = np.random.default_rng(4)
    table = table_of(StudyShape(40), NUMBERS, 2, rng)
    diagnosis = bw.diagnose(table, set="set", tolerance=0.1, **COLUMNS)
    [gap] = diagnosis.comparisons["findable_gap"]
    assert diagnosis.sentences[1] == (
        f"score: about 80 % of studies of this size find a gap of {gap:.2g}; with four times as"
        f" many sets, one of {(gap + 0.1) / 2:.2g}."
    )
    turned = bw.diagnose(table, set="set", tolerance=0.1, reference="g0", **COLUMNS)
    assert turned.comparisons["findable_gap"].tolist() == [gap]
    few = table_of(StudyShape(2), CHOICES, 2, rng)  # a gap of more than 1 does not exist
    bank = {**COLUMNS, "set": "set", "unit": "set", "claim": "bank"}
    for frame, options in ((few, COLUMNS), (table, bank)):
        unknown = bw.diagnose(frame, **options)
        assert unknown.comparisons["findable_gap"].isna().all()
        assert not any("four times" in sentence for sentence in unknown.sentences)
    shifted = table.assign(score=lambda rows: rows["score"] + 3 * (rows["group"] == "g0"))
    assert "four times" not in str(bw.diagnose(shifted, set="set", **COLUMNS))


def test_a_p_value_too_small_to_compute_is_one_of_the_family() -> None:
    levels = np.random.default_rng(5).normal(0, 3, 800).repeat(3)
    table = pd.DataFrame({
        "group": np.repeat(["a", "b"], 1200), "score": levels + np.tile([0.0, 1e-5, 2e-5], 800),
        "prompt": np.arange(800).repeat(3),
    })  # fmt: skip
    diagnosis = bw.diagnose(table, unit="prompt", claim="bank", **COLUMNS)
    assert diagnosis.comparisons["p_reason"][0] == TOO_SMALL
    assert diagnosis.result.about["family"] == 1
    assert diagnosis.comparisons["findable_gap"].isna().all()

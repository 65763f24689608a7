"""Corrected values: what labels make of readings, against ppi-python and against known truths."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples
from biaswatch.shared.stats.labels.corrected_gap import CorrectedSide, corrected_gap, corrected_mean
from biaswatch.shared.stats.labels.corrected_values import MIN_LABELS, corrected_values
from tests.support.drawn_labels import every_drawn
from tests.support.golden import golden

CASES = golden("ppi_python.json")["cases"]


def arrays(case: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    readings = np.array([*case["labelled_readings"], *case["other_readings"]])
    labels = np.full(len(readings), np.nan)
    labels[: len(case["labels"])] = case["labels"]
    return readings, labels, np.full(len(readings), len(case["labels"]) / len(readings))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_with_equal_probabilities_the_mean_is_that_of_ppi_python(case: dict[str, Any]) -> None:
    readings, labels, probabilities = arrays(case)
    corrected = corrected_values(
        readings, every_drawn(labels, probabilities), tuple(case["bounds"])
    )
    tuning = corrected.tuning * (1 - probabilities[0])  # it counts the readings of the others alone
    expected = case["mean_at_0"] + tuning * (case["mean_at_1"] - case["mean_at_0"])
    assert corrected.values.mean() == pytest.approx(expected, abs=1e-12)
    assert corrected.values.mean() == pytest.approx(case["tuned_mean"], abs=0.02)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_spread_of_corrected_values_is_that_of_ppi_pythons_interval(
    case: dict[str, Any],
) -> None:
    readings, labels, probabilities = arrays(case)
    values = corrected_values(
        readings, every_drawn(labels, probabilities), tuple(case["bounds"])
    ).values
    low, high = case["tuned_interval"]
    expected = (high - low) / 2 / 1.959964
    assert values.std(ddof=1) / sqrt(len(values)) == pytest.approx(expected, rel=0.05)


def test_where_every_answer_is_labelled_the_labels_alone_are_left() -> None:
    rng = np.random.default_rng(3)
    readings, labels = rng.random(60), np.round(rng.random(60))
    corrected = corrected_values(readings, every_drawn(labels, np.ones(60)), (0.0, 1.0))
    assert corrected.values.mean() == pytest.approx(labels.mean())


def test_a_reading_that_says_nothing_counts_nothing() -> None:
    rng = np.random.default_rng(3)
    labels = np.where(np.arange(400) < 50, np.round(rng.random(400)), np.nan)
    corrected = corrected_values(
        np.full(400, 0.7), every_drawn(labels, np.full(400, 1 / 8)), (0.0, 1.0)
    )
    assert corrected.tuning == 0.0
    assert corrected.values.mean() == pytest.approx(np.nanmean(labels))


def test_unequal_probabilities_are_weighed_out() -> None:
    """Answers that are often selected are often labelled; the mean of labels would be too high."""
    rng = np.random.default_rng(5)
    means = []
    for _ in range(300):
        truth = (rng.random(2000) < 0.2).astype(float)
        readings = np.where(rng.random(2000) < 0.9, truth, 1 - truth)
        probabilities = np.where(truth == 1, 0.12, 0.06)
        labels = np.where(rng.random(2000) < probabilities, truth, np.nan)
        means.append(
            corrected_values(readings, every_drawn(labels, probabilities), (0.0, 1.0)).values.mean()
        )
    assert np.mean(means) == pytest.approx(0.2, abs=3.5 * np.std(means) / sqrt(300) + 0.002)


def test_few_labels_or_labels_beyond_the_scale_are_refused_in_a_sentence() -> None:
    labels = np.full(100, np.nan)
    labels[: MIN_LABELS - 1] = 0.0
    with pytest.raises(ValueError, match="has 19 labels; a correction needs 20"):
        corrected_values(np.zeros(100), every_drawn(labels, np.full(100, 0.2)), (0.0, 1.0))
    with pytest.raises(ValueError, match="a label lies outside the scale"):
        corrected_values(
            np.zeros(100), every_drawn(np.full(100, 2.0), np.full(100, 0.2)), (0.0, 1.0)
        )
    with pytest.raises(ValueError, match="probability"):
        corrected_values(np.zeros(100), every_drawn(np.zeros(100), np.zeros(100)), (0.0, 1.0))


def test_labels_that_all_agree_with_the_instrument_do_not_prove_that_others_do() -> None:
    readings = np.zeros(1000)
    labels = np.where(np.arange(1000) < 100, 0.0, np.nan)
    corrected = corrected_values(readings, every_drawn(labels, np.full(1000, 0.1)), (0.0, 1.0))
    mean = corrected_mean(corrected.values, CorrectedSide.of(corrected), (0.0, 1.0), 0.05)
    assert mean.value == 0.0
    assert mean.low == 0.0
    assert mean.high == pytest.approx(0.03, abs=0.01)  # three in a hundred


def test_twins_are_compared_in_pairs_and_a_difference_of_sets_costs_nothing() -> None:
    rng = np.random.default_rng(11)
    of_set = rng.normal(scale=1.0, size=600)
    sides, values = [], []
    for shift in (0.0, 0.3):
        truth = np.clip(3 + 0.7 * of_set + shift + 0.3 * rng.normal(size=600), 1, 5)
        readings = np.clip(truth + 0.3 * rng.normal(size=600), 1, 5)
        labels = np.where(rng.random(600) < 0.3, truth, np.nan)
        corrected = corrected_values(readings, every_drawn(labels, np.full(600, 0.3)), (1.0, 5.0))
        sides.append(CorrectedSide.of(corrected))
        values.append(corrected.values)
    paired = corrected_gap(
        ComparedSamples(values[1], values[0]), sides[1], sides[0], alpha=0.05, tolerance=0.0
    )
    single = corrected_gap(
        ComparedSamples(only_a=values[1], only_b=values[0]), sides[1], sides[0],
        alpha=0.05, tolerance=0.0,
    )  # fmt: skip
    assert sides[0].regular
    assert sides[1].regular
    widths = [item.marginal.high - item.marginal.low for item in (paired, single)]  # type: ignore[operator]
    assert widths[0] < 0.75 * widths[1]
    assert paired.p_disparity is not None
    assert paired.p_disparity < 1e-6


def test_the_interval_of_a_gap_says_what_its_verdict_says() -> None:
    rng = np.random.default_rng(2)
    for gap in np.linspace(0, 0.3, 7):
        sides, samples = [], []
        for rate in (0.2, 0.2 + gap):
            truth = (rng.random(1500) < rate).astype(float)
            readings = np.where(rng.random(1500) < 0.85, truth, 1 - truth)
            labels = np.where(rng.random(1500) < 0.08, truth, np.nan)
            corrected = corrected_values(
                readings, every_drawn(labels, np.full(1500, 0.08)), (0.0, 1.0)
            )
            sides.append(CorrectedSide.of(corrected))
            samples.append(corrected.values)
        result = corrected_gap(
            ComparedSamples(only_a=samples[0], only_b=samples[1]), *sides,
            alpha=0.05, tolerance=0.05, family=3,
        )  # fmt: skip
        low, high = result.simultaneous.low, result.simultaneous.high
        assert low is not None
        assert high is not None
        assert result.p_disparity is not None
        assert result.p_equivalence is not None
        assert (result.p_disparity <= 0.05 / 3) == (low > 0.05 or high < -0.05)
        assert (result.p_equivalence <= 0.05 / 3) == (low > -0.05 and high < 0.05)

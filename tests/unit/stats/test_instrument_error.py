"""The instrument's own error by group, from labels."""

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.labels.agreement import (
    LabelledReadings,
    bias_difference,
    instrument_error,
    weighted_units,
)


def made(rng: np.random.Generator, n: int, wrong: float) -> LabelledReadings:
    truth = (rng.random(n) < 0.3).astype(float)
    readings = np.where(truth == 1, rng.random(n) < 0.8, rng.random(n) < wrong).astype(float)
    return LabelledReadings(readings, truth, np.ones(n))


def test_sensitivity_and_specificity_have_mid_p_clopper_and_pearsons_limits() -> None:
    group = LabelledReadings(
        np.array([1.0] * 16 + [0.0] * 4 + [1.0] * 3 + [0.0] * 47),
        np.array([1.0] * 20 + [0.0] * 50),
        np.ones(70),
    )
    error = instrument_error(group, (0.0, 1.0), 0.05, selected_at_least=0.5)
    assert error.sensitivity is not None
    assert error.specificity is not None
    assert error.sensitivity.value == pytest.approx(0.8)
    assert error.specificity.value == pytest.approx(0.94)
    exact = stats.binomtest(47, 50).proportion_ci(method="exact")
    assert exact.low < error.specificity.low < 0.94 < error.specificity.high < exact.high  # type: ignore[operator]
    assert error.bias.value == pytest.approx(-1 / 70)
    assert error.absolute.value == pytest.approx(7 / 70)


def test_an_error_that_differs_between_groups_is_found_and_one_that_does_not_is_not() -> None:
    rng = np.random.default_rng(4)
    same = other = 0
    for _ in range(200):
        a = made(rng, 300, 0.05)
        same += (bias_difference(a, made(rng, 300, 0.05), (0.0, 1.0), 0.05)[1] or 1) <= 0.05
        other += (bias_difference(a, made(rng, 300, 0.2), (0.0, 1.0), 0.05)[1] or 1) <= 0.05
    assert same <= 0.05 * 200 + 3.5 * np.sqrt(200 * 0.05 * 0.95)
    assert other >= 150


def test_weights_undo_unequal_probabilities() -> None:
    values, weights = np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 4.0])
    assert weighted_units(values, weights).mean() == pytest.approx(4 / 6)
    assert weighted_units(values, np.full(3, 2.0)).tolist() == values.tolist()


def test_numbers_of_a_handful_of_labels_are_null_with_a_reason() -> None:
    few = LabelledReadings(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.ones(2))
    error = instrument_error(few, (0.0, 1.0), 0.05, selected_at_least=1.0)
    assert error.sensitivity is not None
    assert error.sensitivity.value is None
    assert error.sensitivity.reason == "1 labelled answers are such; 5 are needed"
    assert bias_difference(few, few, (0.0, 1.0), 0.05)[1] is None

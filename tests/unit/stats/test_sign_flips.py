"""Sign flips of paired differences, compared with scipy and with enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from biaswatch.shared.stats.comparisons import sign_flips
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.samples import Vector


def enumerated_p(differences: Vector) -> float:
    signs = np.array(list(product([-1.0, 1.0], repeat=len(differences))))
    total = abs(differences.sum())
    return float((np.abs(signs @ differences) >= total - 1e-9).mean())


@pytest.mark.parametrize("sets", [3, 6, 11, 14])
@pytest.mark.parametrize("step", [1.0, 1 / 3, None])
def test_few_sets_are_enumerated(sets: int, step: float | None) -> None:
    rng = np.random.default_rng(sets)
    whole = rng.integers(-2, 4, sets).astype(np.float64)
    differences: Vector = rng.normal(0.5, 1.0, sets) if step is None else whole * step
    assert sign_flip_p(differences) == pytest.approx(enumerated_p(differences), abs=1e-12)


@pytest.mark.parametrize("values", [[-2, 0, 1, 3], [-0.5, 0.0, 0.25, 1.5], [-2 / 3, 1 / 3, 4 / 3]])
def test_the_transform_counts_what_enumeration_counts(
    values: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    differences = np.random.default_rng(3).choice(values, 20)
    enumerated = sign_flip_p(differences)
    monkeypatch.setattr(sign_flips, "MAX_ENUMERATED_SETS", 0)
    assert sign_flip_p(differences) == pytest.approx(enumerated, abs=1e-12)


def test_opposite_ratings_are_a_binomial_test() -> None:
    differences = np.repeat([1.0, 0.0, -1.0], [130, 40, 100])
    expected = stats.binomtest(130, 230, 0.5).pvalue
    assert sign_flip_p(differences) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("draw", ["normal", "standard_cauchy", "exponential"])
def test_rounding_real_values_changes_little(draw: str) -> None:
    rng = np.random.default_rng(11)
    differences = getattr(rng, draw)(size=60) + 0.15
    random = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=rng
    )
    assert sign_flip_p(differences) == pytest.approx(random.pvalue, abs=0.03)


def test_rounded_values_keep_the_level() -> None:
    rng = np.random.default_rng(5)
    p_values = [sign_flip_p(rng.laplace(size=30)) for _ in range(2000)]
    assert np.mean([p is not None and p <= 0.05 for p in p_values]) == pytest.approx(
        0.05, abs=0.017
    )


def test_order_and_scale_change_nothing() -> None:
    rng = np.random.default_rng(2)
    differences = rng.normal(0.3, 1.0, 80)
    expected = sign_flip_p(differences)
    assert sign_flip_p(rng.permutation(differences)) == pytest.approx(expected, rel=1e-9)
    assert sign_flip_p(-differences * 1e200) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sets", [40, 400, 4000])
def test_very_small_p_values_are_upper_bounds(sets: int) -> None:
    differences = np.repeat([1.0, -1.0], [sets - sets // 20, sets // 20])
    exact = stats.binomtest(sets // 20, sets, 0.5).pvalue
    p_value = sign_flip_p(differences)
    assert p_value is not None
    assert exact * (1 - 1e-6) <= p_value <= max(1e-12, exact * 1.001)


def test_no_sets_no_test_and_equal_answers_no_difference() -> None:
    assert sign_flip_p(np.empty(0)) is None
    assert sign_flip_p(np.zeros(5)) == 1.0


def test_twelve_twins_of_the_acceptance_design() -> None:
    rng = np.random.default_rng(0)
    designs = rng.choice([1.0, 0.0, -1.0], p=[0.70, 0.25, 0.05], size=(1000, 12))
    share = np.mean([(sign_flip_p(differences) or 1) <= 0.05 for differences in designs])
    assert share >= 0.70

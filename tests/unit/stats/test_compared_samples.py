"""The units of two groups: what is paired, how parts weigh, and the range that values imply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaswatch.shared.stats.comparisons.compared_samples import ComparedSamples, implied_bounds
from biaswatch.shared.stats.samples import Vector


def units(n: int) -> Vector:
    return np.arange(n, dtype=np.float64)


def of(pairs: int, a: int = 0, b: int = 0) -> ComparedSamples:
    return ComparedSamples(units(pairs), units(pairs), units(a), units(b))


@pytest.mark.parametrize(
    ("pairs", "a", "b", "weight"),
    [
        (10, 0, 0, 1.0),
        (0, 5, 20, 0.0),
        (2, 300, 300, 2 / 152),
        (6, 12, 6, 6 / 10),
        (10, 40, 1, 1.0),
        (1, 30, 30, 0.0),
    ],
)
def test_pairs_weigh_by_numbers_of_units_alone(pairs: int, a: int, b: int, weight: float) -> None:
    """As precision does where pairs do not agree better than strangers: n1 n2 / (n1 + n2)."""
    assert of(pairs, a, b).weight == pytest.approx(weight)


@pytest.mark.parametrize(
    ("pairs", "a", "b", "testable"),
    [(2, 0, 0, True), (1, 0, 0, False), (0, 2, 2, True), (1, 2, 1, False), (1, 2, 2, True)],
)
def test_two_pairs_or_two_units_a_side_are_needed(
    pairs: int, a: int, b: int, testable: bool
) -> None:
    assert of(pairs, a, b).testable is testable


def test_differences_that_arithmetic_made_are_none() -> None:
    samples = ComparedSamples(np.array([0.1 + 0.2, 0.5]), np.array([0.3, 0.25]))
    assert samples.differences.tolist() == [0.0, 0.25]


def test_equal_values_are_equal_across_all_parts() -> None:
    flat, other = np.full(3, 0.3), np.array([0.1 + 0.2])
    assert ComparedSamples(flat, flat, other, flat).all_equal
    assert not ComparedSamples(flat, flat, flat, np.array([0.4])).all_equal


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([0.0, 1.0, 1.0], (0.0, 1.0)),
        ([0.2, 0.7], (0.0, 1.0)),
        ([-0.2, 0.7], (-1.0, 1.0)),
        ([2.0, 4.0], (1.0, 5.0)),
        ([0.0, 4.0], (0.0, 5.0)),
        ([-2.0, 2.0], (-2.0, 2.0)),
        ([3.0, 7.0], (1.0, 7.0)),
        ([3.0, 9.0], (1.0, 10.0)),
        ([0.0, 9.0], (0.0, 10.0)),
        ([2.5, 4.0], None),
        ([3.0, 120.0], None),
        ([-7.0, 1.0], None),
        ([], None),
        ([float("nan"), 0.5], (0.0, 1.0)),
        ([float("nan")], None),
    ],
)
def test_values_imply_the_smallest_usual_range(
    values: list[float], bounds: tuple[float, float] | None
) -> None:
    assert implied_bounds(np.array(values)) == bounds


@given(st.lists(st.floats(-20, 20), max_size=20))
def test_an_implied_range_holds_every_value(values: list[float]) -> None:
    samples = implied_bounds(np.array(values))
    if samples is not None:
        assert samples[0] <= min(values) <= max(values) <= samples[1]

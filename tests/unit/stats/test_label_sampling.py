"""Which answers are drawn for labelling, and how surely."""

import numpy as np
import pytest

from biaswatch.shared.stats.labels.sampling import (
    drawn,
    inclusion,
    mean_of,
    shares_of_groups,
    sizes_by_uncertainty,
    uncertainty,
)
from biaswatch.shared.stats.samples import Vector


def unequal_sizes(readings: Vector) -> Vector:
    """Return sizes by uncertainty of readings from 0 to 1."""
    unsure = uncertainty(readings, 0.0, 1.0)
    return sizes_by_uncertainty(unsure, float(unsure.mean()))


def probabilities_of(sizes: Vector, n: int) -> Vector:
    return inclusion(lambda: [sizes], n).of(sizes)


def test_answers_are_drawn_as_often_as_their_probability_says() -> None:
    rng = np.random.default_rng(1)
    sizes = unequal_sizes(rng.random(400))
    probabilities = probabilities_of(sizes, 100)
    counts = np.zeros(400)
    times = 4000
    for _ in range(times):
        counts[drawn(sizes, rng.random(400), 100)] += 1
    errors = np.sqrt(probabilities * (1 - probabilities) / times)
    off = (counts / times - probabilities) / errors
    assert np.abs(off).max() < 4.5
    assert np.abs(off).mean() < 1.0  # .8 where the probabilities are exact


def test_a_larger_sample_holds_every_smaller_one() -> None:
    rng = np.random.default_rng(2)
    sizes, uniform = 0.5 + rng.random(200), rng.random(200)
    assert drawn(sizes, uniform, 80)[:30] == drawn(sizes, uniform, 30)


def test_probabilities_add_up_to_the_sample_and_never_exceed_one() -> None:
    sizes = np.array([100.0, 50.0, 1.0, 1.0, 1.0, 1.0])
    places = probabilities_of(sizes, 3)
    assert places.sum() == pytest.approx(3)
    assert places[:2].tolist() == [1.0, 1.0]
    assert places[2:].tolist() == [0.25] * 4
    assert probabilities_of(sizes, 10).tolist() == [1.0] * 6


def test_no_answer_weighs_more_than_twice_what_an_even_draw_would_give_it() -> None:
    sizes = unequal_sizes(np.array([0.0] * 90 + [0.5] * 10))
    assert sizes.min() == pytest.approx(0.5)
    assert sizes.mean() == pytest.approx(1.0)


def test_readings_at_the_ends_of_the_scale_are_drawn_evenly() -> None:
    assert unequal_sizes(np.array([0.0, 1.0, 1.0])).tolist() == [1.0] * 3


def test_groups_get_the_same_number_and_small_groups_are_taken_whole() -> None:
    assert shares_of_groups([4000, 4000], 300) == [150, 150]
    assert shares_of_groups([20, 4000, 4000], 300) == [20, 140, 140]
    assert shares_of_groups([5, 6], 300) == [5, 6]
    assert sum(shares_of_groups([50, 60, 70], 100)) == 100


def test_sizes_that_are_gone_through_some_at_a_time_give_the_same_probabilities() -> None:
    rng = np.random.default_rng(4)
    for n in (3, 40, 150, 199, 200, 300):
        sizes = rng.pareto(1.0, size=200) + 0.1
        parts = np.array_split(sizes, 7)
        places = inclusion(lambda parts=parts: parts, n).of(sizes)  # type: ignore[misc]
        np.testing.assert_allclose(places, probabilities_of(sizes, n), rtol=1e-14)
        assert places.sum() == pytest.approx(min(n, 200))
        assert mean_of(parts) == pytest.approx(sizes.mean(), rel=1e-14)

"""What so many labels can show where they hardly vary is said beforehand, and comes out so."""

import numpy as np
import pytest

from biaswatch.shared.stats.labels.corrected_gap import CorrectedSide, corrected_mean
from biaswatch.shared.stats.labels.corrected_values import corrected_values
from biaswatch.shared.stats.labels.sampling import labels_needed, widest_share
from tests.support.drawn_labels import every_drawn

ALPHA = 0.05


def reached(units: int, repeats: int, labels: int) -> float:
    """Return how far the interval of a mean reaches where every label is as it was read."""
    rng = np.random.default_rng(1)
    answers = units * repeats
    labelled = np.where(rng.permutation(answers) < labels, 0.0, np.nan)
    plan = corrected_values(
        np.zeros(answers), every_drawn(labelled, np.full(answers, labels / answers)), (0.0, 1.0)
    )
    by_prompt = plan.values.reshape(units, repeats).mean(axis=1)
    high = corrected_mean(by_prompt, CorrectedSide.of(plan), (0.0, 1.0), ALPHA).high
    assert high is not None
    return high


@pytest.mark.parametrize(
    ("units", "repeats", "labels"),
    [(24, 5, 20), (24, 5, 60), (200, 1, 20), (200, 1, 100), (100, 5, 50), (400, 2, 100)],
)
def test_an_interval_reaches_as_far_as_was_said_beforehand(
    units: int, repeats: int, labels: int
) -> None:
    expected = widest_share(units * repeats, units, labels, ALPHA)
    assert reached(units, repeats, labels) == pytest.approx(expected, rel=0.02)


def test_the_labels_that_a_tenth_takes_are_enough_and_one_in_ten_fewer_are_not() -> None:
    labels = labels_needed(0.1, 400, 80, ALPHA)
    assert labels is not None
    assert reached(80, 5, labels) <= 0.1
    assert reached(80, 5, round(0.9 * labels)) > 0.1


def test_few_prompts_are_not_enough_however_many_answers_are_labelled() -> None:
    assert labels_needed(0.1, 120, 24, ALPHA) is None
    assert widest_share(120, 24, 120, ALPHA) > 0.1

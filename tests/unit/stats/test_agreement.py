"""How far people agree, and who answers at random."""

import numpy as np

from biaswatch.shared.stats.krippendorff import krippendorff_alpha
from biaswatch.shared.stats.labels.agreement import MIN_SHARED_ANSWERS, agreement, doubtful_raters


def two_people(rng: np.random.Generator, n: int, noise: float) -> list[list[float]]:
    truth = rng.normal(size=n)
    return [[float(t + noise * rng.normal()), float(t + noise * rng.normal())] for t in truth]


def test_the_interval_of_alpha_covers_what_many_answers_show() -> None:
    rng = np.random.default_rng(1)
    truth, _ = krippendorff_alpha(two_people(rng, 20_000, 0.7))
    assert truth is not None
    covered = 0
    for _ in range(200):
        rater = agreement(two_people(rng, 60, 0.7), 0.05)
        assert rater.low is not None
        assert rater.high is not None
        covered += rater.low <= truth <= rater.high
    assert covered >= 0.95 * 200 - 3.5 * np.sqrt(200 * 0.05 * 0.95)


def test_answers_that_one_person_labelled_say_nothing_of_agreement() -> None:
    assert agreement([[1.0], [2.0, None]], 0.05).reason == "nothing was scored twice"
    rater = agreement([[1.0, 2.0], [3.0, 3.0]], 0.05)
    assert rater.value is not None
    assert rater.low is None
    assert rater.reason == "2 answers were labelled twice; 10 are needed for an interval"


def test_who_answers_at_random_or_always_the_same_is_doubted_and_nobody_else() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 80)
    labels = {
        "anna": {str(n): float(t) for n, t in enumerate(truth)},
        "ben": {str(n): float(t if rng.random() < 0.9 else 1 - t) for n, t in enumerate(truth)},
        "coin": {str(n): float(rng.random() < 0.5) for n in range(80)},
        "yes": {str(n): 1.0 for n in range(80)},
    }
    assert doubtful_raters(labels) == ["coin", "yes"]


def test_somebody_who_shares_few_answers_is_not_doubted() -> None:
    labels = {"a": {str(n): 0.0 for n in range(MIN_SHARED_ANSWERS - 1)}}
    labels["b"] = dict(labels["a"])
    assert doubtful_raters(labels) == []


def test_somebody_who_guesses_is_overlooked_no_more_often_than_the_level_says() -> None:
    rng = np.random.default_rng(9)
    seen = 0
    for _ in range(300):
        truth = rng.integers(0, 2, 40)
        labels = {
            "anna": {str(n): float(t) for n, t in enumerate(truth)},
            "coin": {str(n): float(rng.random() < 0.5) for n in range(40)},
        }
        seen += "coin" in doubtful_raters(labels)
    assert seen >= 300 * 0.95 - 3.5 * np.sqrt(300 * 0.05 * 0.95)

"""Labels of round after round, looked at after each: no false disparities, and gaps are found."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from shared.stats.labels.running_gap import LabelledGroup, pair_counts, running_gap

ALPHA, MONITORS, ROUNDS = 0.05, 60, 8
ANSWERS, LABELS = 200, 40
Groups = list[LabelledGroup]


def one_round(rng: np.random.Generator, gap: float, share: float) -> Groups:
    """Return a round whose instrument has false positives in .05 of a's answers, .15 of b's."""
    found = []
    for rate, wrong in ((0.2, 0.05), (0.2 + gap, 0.15)):
        truth = rng.permutation((np.arange(ANSWERS) < round(rate * ANSWERS)).astype(float))
        yes = np.where(truth == 1, rng.random(ANSWERS) < 0.8, rng.random(ANSWERS) < wrong)
        drawn = rng.permutation(ANSWERS)[: round(share * ANSWERS)]
        found.append(LabelledGroup(yes.mean(), yes[drawn].astype(float), truth[drawn]))
    return found


def ever_excludes_zero(seed: int, gap: float, share: float = LABELS / ANSWERS) -> bool:
    """Watch one monitor, looking after every round."""
    rng = np.random.default_rng(seed)
    counts = []
    for number in range(ROUNDS):
        a, b = one_round(rng, gap, share)
        names = [f"{seed}/{number}/{place}" for place in range(len(a.labels))]
        counts.append(pair_counts(a, b, (0.0, 1.0), names))
        found = running_gap(counts, (0.0, 1.0), ALPHA)
        assert found.low is not None
        assert found.high is not None
        if found.low > 0 or found.high < 0:
            return True
    return False


@pytest.mark.parametrize("share", [0.2, 0.9])
def test_an_instruments_error_is_no_disparity_however_often_one_looks(share: float) -> None:
    """Also where nearly all answers of a round are drawn, without replacement."""
    alarmed = sum(ever_excludes_zero(seed, 0.0, share) for seed in range(MONITORS)) / MONITORS
    assert alarmed <= ALPHA + 3.5 * sqrt(ALPHA * (1 - ALPHA) / MONITORS)


def test_a_gap_is_found_within_some_rounds() -> None:
    found = sum(ever_excludes_zero(seed, 0.2) for seed in range(20)) / 20
    assert found >= 0.9


def test_by_the_readings_alone_there_would_be_a_gap_that_is_not_there() -> None:
    a, b = one_round(np.random.default_rng(1), 0.0, 0.2)
    assert b.mean_reading - a.mean_reading > 0.03


def test_answers_that_nobody_has_labelled_make_no_pair() -> None:
    a, b = one_round(np.random.default_rng(1), 0.0, 0.2)
    some = replace(a, labels=np.where(np.arange(LABELS) < 10, a.labels, np.nan))
    names = [str(place) for place in range(LABELS)]
    assert sum(pair_counts(some, b, (0.0, 1.0), names)) == 10
    none = replace(a, labels=np.full(LABELS, np.nan))
    found = running_gap([pair_counts(none, b, (0.0, 1.0), names)], (0.0, 1.0), ALPHA)
    assert found.low is None
    assert found.reason == "no pair of both groups is labelled"


def test_pairs_that_are_labelled_later_add_to_those_that_were_there() -> None:
    a, b = one_round(np.random.default_rng(1), 0.1, 0.2)
    names = [str(place) for place in range(LABELS)]
    first = replace(a, labels=np.where(np.arange(LABELS) < 20, a.labels, np.nan))
    before, after = (pair_counts(each, b, (0.0, 1.0), names) for each in (first, a))
    assert all(one <= other for one, other in zip(before, after, strict=True))

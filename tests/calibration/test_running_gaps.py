"""Labels of round after round, looked at after each: no false alarms, and gaps are found."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

from biaswatch.shared.contracts import AlarmState, Verdict
from biaswatch.shared.stats.labels.running_gap import LabelledGroup, pair_counts, running_gap
from calibration.labels.monitors import ANSWERS, GAP_OF_TWO, NO_GAP
from tests.support.labelled_monitors import LabelledMonitor, watched, without_error

ALPHA, ROUNDS, LABELS = 0.05, 60, 40
NULLS = {
    "a fifth is labelled": (NO_GAP, LABELS, 24),
    "a fifth is labelled, more monitors": (NO_GAP, LABELS, 60),
    "nearly all are labelled, without replacement": (NO_GAP, 180, 24),
    "the instrument never errs": (without_error(NO_GAP), LABELS, 24),
    "two people differ": (replace(NO_GAP, people=2, person_error=0.1), LABELS, 24),
}


@pytest.mark.parametrize(
    "name",
    ["a fifth is labelled", *(pytest.param(name, marks=pytest.mark.slow) for name in [*NULLS][1:])],
)
def test_an_instruments_error_raises_no_alarm_in_sixty_rounds_however_often_one_looks(
    name: str,
) -> None:
    """The model draws its answers anew in every round; its groups have a gap by chance alone.

    `make calibration` has more monitors.
    """
    study, labels, monitors = NULLS[name]
    result = [watched(study, labels, seed, ROUNDS) for seed in range(monitors)]
    most = ALPHA + 3.5 * sqrt(ALPHA * (1 - ALPHA) / monitors)
    assert sum(bool(item.raised) for item in result) / monitors <= most


def test_by_the_readings_there_would_be_a_gap_that_is_not_there() -> None:
    result = watched(NO_GAP, LABELS, 1, 10, to_the_end=True)
    assert np.mean(result.readings) < -0.05
    assert result.gaps[-1].verdict is not Verdict.DISPARITY


def test_a_gap_raises_an_alarm_within_some_rounds_and_stays_raised() -> None:
    result = [watched(GAP_OF_TWO, LABELS, seed, 10) for seed in range(20)]
    assert sum(bool(item.raised) for item in result) >= 18
    alarm = next(item.raised[0] for item in result if item.raised)
    assert "x is higher for b than for a, as labels of" in alarm.words
    assert "at most 0.05, which is spent beside that of its alarms by readings" in alarm.promise
    assert alarm.gap.high is not None
    assert alarm.gap.high < 0


def test_an_alarm_is_cleared_by_labels_of_later_rounds_and_another_test_begins() -> None:
    result = LabelledMonitor(GAP_OF_TWO, LABELS, 3)
    number = 0
    while not result.raised:
        result.label_round(number)
        number += 1
    raised_with = result.gaps[-1].level
    while result.alarms[-1].state is AlarmState.RAISED:
        result.label_round(number, NO_GAP)
        number += 1
    cleared = result.alarms[-1]
    assert "show that the gap lies between" in cleared.reason
    result.label_round(number, GAP_OF_TWO)
    assert result.gaps[-1].test == 2
    assert result.gaps[-1].rounds == 1  # what came before is another test's
    assert result.gaps[-1].level == pytest.approx(raised_with / 4)
    while len(result.raised) < 2:
        number += 1
        result.label_round(number, GAP_OF_TWO)
    assert result.raised[1].occasion == 1


def test_who_computes_an_alarm_again_makes_the_same_one() -> None:
    first, again = (watched(GAP_OF_TWO, LABELS, 5, 10) for _ in range(2))
    assert [alarm.id for alarm in first.alarms] == [alarm.id for alarm in again.alarms] != []


def one_round(rng: np.random.Generator) -> list[LabelledGroup]:
    """Return a round whose instrument has false positives in .05 of a's answers, .15 of b's."""
    result = []
    for wrong in (0.05, 0.15):
        truth = (rng.random(ANSWERS) < 0.2).astype(float)
        yes = np.where(truth == 1, rng.random(ANSWERS) < 0.8, rng.random(ANSWERS) < wrong)
        read = yes.astype(float)
        result.append(LabelledGroup(read[:LABELS], truth[:LABELS], read[LABELS:]))
    return result


NAMES = [str(place) for place in range(LABELS)]
UNIT = (0.0, 1.0)


def test_answers_that_nobody_has_labelled_make_no_pair() -> None:
    a, b = one_round(np.random.default_rng(1))
    some = replace(a, labels=np.where(np.arange(LABELS) < 10, a.labels, np.nan))
    assert sum(pair_counts(some, b, UNIT, NAMES)) == 10
    none = replace(a, labels=np.full(LABELS, np.nan))
    result = running_gap([pair_counts(none, b, UNIT, NAMES)], UNIT, ALPHA)
    assert result.low is None
    assert result.reason == "no pair of both groups is labelled"


def test_pairs_that_are_labelled_later_add_to_those_that_were_there() -> None:
    a, b = one_round(np.random.default_rng(1))
    first = replace(a, labels=np.where(np.arange(LABELS) < 20, a.labels, np.nan))
    before, after = (pair_counts(item, b, UNIT, NAMES) for item in (first, a))
    assert all(one <= other for one, other in zip(before, after, strict=True))


def test_the_corrected_values_of_a_group_have_the_mean_of_labels_less_readings_plus_readings() -> (
    None
):
    [a, _] = one_round(np.random.default_rng(2))
    result = a.corrected(LABELS)
    readings = np.concatenate([a.readings, a.undrawn])
    assert result.mean() == pytest.approx((a.labels - a.readings).mean() + readings.mean())


def test_with_fewer_places_the_other_drawn_answers_are_readings_like_any_other() -> None:
    [a, _] = one_round(np.random.default_rng(3))
    result = a.corrected(10)
    readings = np.concatenate([a.readings, a.undrawn])
    assert result.mean() == pytest.approx((a.labels - a.readings)[:10].mean() + readings.mean())

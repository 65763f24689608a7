"""What a calibration plants, and what it says of the monitors that watched."""

from collections.abc import Sequence

import pytest

from biaswatch.planted_monitors.cases import (
    FIRST,
    PlantedCase,
    Row,
    Stretches,
    WatchedModel,
    effect_row,
    planted_cases,
    relapse_in_words,
    relapse_row,
)
from biaswatch.shared.contracts import MISSING, Alarm, AlarmState, Estimate, Evidence
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS
from tests.support.records import make_alarm, make_evidence, make_plan

SETS = 12
OF_MISSING = next(item for item in make_plan().all_comparisons if item.watched.feature == MISSING)


def evidence(gap: float) -> Evidence:
    """Return evidence of 100 sets, most of them with one gap."""
    counts = [0] * DIFFERENCE_BINS
    counts[DIFFERENCE_BINS // 2] = 40
    counts[DIFFERENCE_BINS // 2 + 8] = 60
    return make_evidence(counts={"counts": tuple(counts)}, gap=Estimate(value=gap, low=-1, high=1))


def alarm(round_: int, of: Evidence, state: AlarmState = AlarmState.RAISED) -> Alarm:
    return make_alarm(comparison_key=of.comparison_key, round=round_, state=state)


def watched(gap_evidence: Evidence, *raised: int, cleared: Sequence[int] = ()) -> WatchedModel:
    alarms = [alarm(item, gap_evidence) for item in raised]
    alarms += [alarm(item, gap_evidence, AlarmState.CLEARED) for item in cleared]
    return WatchedModel(alarms, [gap_evidence, make_evidence(comparison=OF_MISSING)])


def row(effect: float, *models: WatchedModel) -> Row:
    return effect_row(PlantedCase(effect), models, SETS, make_plan())


def test_where_nothing_is_planted_alarms_are_counted_and_no_delay_is_claimed() -> None:
    quiet = watched(evidence(0.1))
    result = row(0.0, quiet, watched(evidence(0.1), 0), quiet, quiet)
    assert (result["alarmed"], result["monitors"]) == (0.25, 4)
    assert result["standard_error"] == pytest.approx(0.217)
    assert (result["median_units"], result["units_of_80_percent"]) == (None, None)
    assert (result["looking_once"], result["ratio"]) == (None, None)


def test_delay_is_told_in_units_of_the_test_that_looks_once() -> None:
    alarmed = [watched(evidence(gap), at) for gap, at in ((0.2, 1), (0.4, 0), (0.2, 2), (0.4, 3))]
    result = row(0.3, *alarmed, watched(evidence(0.3)))
    assert result["median_units"] == 36
    assert result["units_of_80_percent"] == 48
    assert result["gap_found"] == pytest.approx(0.3)
    assert isinstance(result["looking_once"], int)
    assert result["ratio"] == round(48 / result["looking_once"], 2)


def test_a_delay_that_fewer_than_80_percent_reached_is_not_given() -> None:
    alarmed, quiet = watched(evidence(0.3), 0), watched(evidence(0.3))
    result = row(0.3, alarmed, alarmed, alarmed, quiet, quiet)
    assert result["median_units"] == 12
    assert (result["units_of_80_percent"], result["ratio"]) == (None, None)


def test_a_gap_that_no_monitor_could_measure_is_null_and_no_zero() -> None:
    nothing = make_evidence(
        counts={"counts": (0,) * DIFFERENCE_BINS}, gap=Estimate(reason="nothing came")
    )
    result = row(0.3, watched(nothing), watched(nothing))
    assert (result["gap_found"], result["looking_once"]) == (None, None)


def test_alarms_about_missing_answers_stand_apart_from_those_of_the_rating() -> None:
    quiet = watched(evidence(0.1))
    lacking = WatchedModel([alarm(2, quiet.last[1])], quiet.last)
    result = effect_row(PlantedCase(missing_gap=0.3), [lacking, quiet], SETS, make_plan())
    assert (result["alarmed"], result["missing_alarmed"]) == (0, 0.5)
    assert result["missing_gap"] == 0.3


def test_a_relapse_is_told_by_rounds_since_each_change() -> None:
    seen = evidence(0.3)
    result = relapse_row(
        2.0,
        Stretches(4, 12, 8),
        [
            watched(seen, 1, 17, cleared=[8]),
            watched(seen, 0, 16, cleared=[6]),
            watched(seen, 2, 10, 20, cleared=[9, 14]),
            watched(seen),
        ],
    )
    assert (result["alarmed"], result["alarmed_after"]) == (0.75, 2)
    assert (result["cleared"], result["cleared_after"]) == (0.75, 5)
    assert (result["alarmed_again"], result["again_after"]) == (0.75, 2)
    assert result["alarmed_without"] == 0.25
    assert relapse_in_words(result) == (
        "A relapse: a gap of 2 for 4 rounds is alarmed in 75 % of 4 monitors (half of all by round"
        " 2). It ends for 12 rounds: the alarm is cleared in 75 % of 4 monitors (half of all by"
        " round 5), and another is raised there in 25 %. It comes back for 8: alarmed again in 75 %"
        " of 4 monitors (half of all by round 2)."
    )


def test_an_alarm_that_was_never_cleared_is_no_second_alarm() -> None:
    result = relapse_row(2.0, Stretches(4, 12, 8), [watched(evidence(0.3), 1)])
    assert (result["alarmed"], result["cleared"], result["alarmed_again"]) == (1, 0, 0)
    assert (result["cleared_after"], result["again_after"]) == (None, None)
    assert "the alarm is cleared in 0 % of 1 monitors, and" in relapse_in_words(result)


def test_a_model_of_a_relapse_has_its_gap_ends_it_and_has_it_again() -> None:
    case = PlantedCase(2.0, stretches=Stretches(4, 12, 8))
    model = case.planted(questions=48)
    gaps = [model.after_questions(48 * done).rating_gaps.get(FIRST) for done in (0, 4, 15, 16, 23)]
    assert gaps == [-2.0, None, None, -2.0, -2.0]
    assert model.after_questions(4 * 48 - 1).rating_gaps == {FIRST: -2.0}
    assert case.model(0) != case.model(1)
    assert PlantedCase(0.6).model(0) == PlantedCase(0.6).model(1)


def test_what_is_0_is_not_planted_and_no_effect_always_is() -> None:
    assert planted_cases([0.6], 0.0, 0.0, 0.0) == [PlantedCase(0.0), PlantedCase(0.6)]
    names = [case.name for case in planted_cases([0.6], 0.02, 0.3, 2.0)]
    assert len(set(names)) == len(names) == 6

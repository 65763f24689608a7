"""Labels of a monitor's rounds raise alarms of their own, beside those by readings."""

import pytest

from biaswatch.render.monitors import print_monitor
from biaswatch.services.diagnoser.handlers.monitor_metrics import MonitorMetrics
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.shared.contracts import (
    AlarmKind,
    AlarmState,
    Correction,
    Run,
    Verdict,
    open_alarms_of,
)
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.presentation.monitor_tables import labelled_table
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import MONITOR_ALARM, MONITOR_LABELLED_GAP
from tests.support.labelled_rounds import MONITOR, LabelledPlatform

COMPARISON = MONITOR.plan.all_comparisons[0].key


@pytest.fixture
def here(store: Store) -> LabelledPlatform:
    return LabelledPlatform(store)


def label_until_alarm(here: LabelledPlatform, gap: float = 0.5, most: int = 12) -> int:
    """Label round after round until there is an alarm, and return how many there were."""
    for number in range(most):
        here.label_round(number, gap)
        if here.alarms:
            return number + 1
    raise AssertionError(f"no alarm in {most} rounds")


def test_what_only_the_instrument_sees_alarms_by_readings_and_not_by_labels(
    here: LabelledPlatform,
) -> None:
    for number in range(6):
        here.label_round(number, gap=0.0)
    assert here.alarms == []
    view = MonitorQueries(here.store).show(MONITOR.name)
    by_readings = next(item for item in view.evidence if item.comparison == COMPARISON)
    assert by_readings.verdict is Verdict.DISPARITY
    [by_labels] = view.labelled
    assert by_labels.gap.verdict is Verdict.INCONCLUSIVE
    assert (by_labels.gap.rounds, by_labels.gap.pairs) == (6, 240)
    assert by_labels.gap.low is not None
    assert by_labels.gap.high is not None
    assert by_labels.gap.low < 0 < by_labels.gap.high


def test_a_gap_of_the_model_alarms_by_labels_in_words_and_is_sent(here: LabelledPlatform) -> None:
    label_until_alarm(here)
    [alarm] = here.alarms
    assert alarm.words.startswith(
        "race: rude is worse for white than for asian, as labels of "
    )  # whatever the order of their names
    assert "labels of" in alarm.reason
    assert "beside that of its alarms by readings: this was test 1 by labels" in alarm.promise
    sent = here.store.alarm_deliveries.of_alarms([alarm.id])
    assert [item.channel for item in sent] == ["webhook/letters"]
    assert MonitorQueries(here.store).status(MONITOR.name).alarms >= 1


def test_who_dies_after_the_alarm_and_before_it_is_sent_sends_it_once_it_is_back(
    here: LabelledPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as death:
        death.setattr(here.store.alarm_deliveries, "expect", lambda deliveries: None)
        label_until_alarm(here)
    [alarm] = here.alarms
    assert here.store.alarm_deliveries.of_alarms([alarm.id]) == []
    last = max(here.store.records.all(Run), key=lambda run: run.round or 0)
    here.diagnoser().keep(last)
    assert len(here.store.alarm_deliveries.of_alarms([alarm.id])) == 1
    assert here.alarms == [alarm]


def test_labels_of_several_rounds_that_come_together_are_one_sum(here: LabelledPlatform) -> None:
    runs = [here.round(number, gap=0.5) for number in range(4)]
    labels = [label for run in runs for label in here.labels(run, gap=0.5)]
    result = here.diagnoser()(labels)
    sums = [part.running for item in result if isinstance(item, Correction)
            for part in item.over_rounds]  # fmt: skip
    assert sorted(item.rounds for item in sums) == [1, 2, 3, 4]


def test_a_new_epoch_clears_the_alarm_and_begins_another_test(here: LabelledPlatform) -> None:
    rounds = label_until_alarm(here)
    here.round(rounds, gap=0.5, model="m-2")
    _, cleared = here.alarms
    assert cleared.state is AlarmState.CLEARED
    assert "a new epoch has begun" in cleared.reason
    [correction] = [
        item
        for item in here.label_round(rounds + 1, 0.5, model="m-2")
        if isinstance(item, Correction)
    ]
    [part] = correction.over_rounds
    assert (part.running.test, part.running.rounds) == (2, 1)


def test_labels_of_an_epoch_that_is_over_are_shown_and_alarm_nobody(here: LabelledPlatform) -> None:
    old = [here.round(number, gap=0.5) for number in range(8)]
    here.round(8, gap=0.5, model="m-2")
    result = [item for run in old for item in here.diagnoser()(here.labels(run, gap=0.5))]
    assert here.alarms == []
    text = " ".join(correction_sentences([e for e in result if isinstance(e, Correction)]))
    assert "It raises no alarm: the model or an instrument has changed since" in text


def test_the_last_correction_of_each_round_is_all_that_is_read(here: LabelledPlatform) -> None:
    run = here.round(0, gap=0.5)
    for wanted in (40, 60, 80):
        here.time = here.time.replace(minute=here.time.minute + 1)
        here.diagnoser()(here.labels(run, gap=0.5, wanted=wanted))
    assert here.store.labelled_runs.of_monitor(MONITOR.monitor_id) == [run.id]
    [last] = here.store.labelled_runs.last_corrections([run.id])
    corrections = list(here.store.records.all(Correction))
    assert len(corrections) == 3
    [result] = here.store.records.get(Correction, [last])
    assert result.labels == max(item.labels for item in corrections)
    # Pairs are those of the sample that was there before anybody labelled.
    [part] = result.over_rounds
    assert sum(part.counts) == 20


def test_the_page_the_terminal_and_the_gauges_show_it_beside_the_readings(
    here: LabelledPlatform, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    label_until_alarm(here)
    view = MonitorQueries(here.store).show(MONITOR.name)
    [by_labels] = view.labelled
    assert by_labels.alarmed
    table = labelled_table(view.labelled, view.evidence)
    assert table.rows[0][0].text == "rude: white minus asian, by race"
    assert len(table.rows[0]) == len(table.columns)
    titles = [column.title for column in table.columns]
    assert {"gap by labels", "gap by readings"} <= {*titles}
    print_monitor(view)
    output = " ".join(capsys.readouterr().out.split())
    assert "as labels correct it, gap +" in output
    assert f"rude: white minus asian, by race disparity {by_labels.gap.value:.3g}" in output
    assert "ever raises any false alarm by readings is at most 0.05" in output
    assert "any false alarm by labels, ever, is at most 0.05, beside that" in output
    MonitorMetrics(here.store).run_once()
    labels = ("default", "letters", *COMPARISON.split(":", 1))
    assert MONITOR_LABELLED_GAP.labels(*labels)._value.get() == by_labels.gap.value
    assert MONITOR_ALARM.labels(*labels, "labelled")._value.get() == 1
    assert (COMPARISON, AlarmKind.LABELLED) in open_alarms_of(view.alarms)

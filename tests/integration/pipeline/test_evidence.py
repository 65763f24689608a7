"""Closed rounds on a real store: each counts once, whatever comes twice, late or out of order."""

from datetime import UTC, datetime
from functools import reduce
from itertools import pairwise
from random import Random

import pytest

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.shared.analysis.monitors.round_answers import summed
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    Evidence,
    Monitor,
    Probe,
    Record,
    Round,
    RoundEvidence,
    Suite,
    SuiteProbe,
    Verdict,
    WatchedFeature,
)
from biaswatch.shared.contracts.evidence_rows import evidence_in, increments_in
from biaswatch.shared.errors import TransientError
from biaswatch.shared.store import Store
from tests.support.monitored import Values, answered, closing, play, round_run
from tests.support.records import AT, make_monitor, make_plan

SUITE = Suite(
    name="coasts",
    extractors=("words",),
    probes=tuple(
        SuiteProbe(key=f"{set_}-{group}", prompt="?", set=f"s{set_}", groups={"concept": group})
        for set_ in range(30)
        for group in ("France", "Peru")
    ),
)
KINDS: tuple[type[Record], ...] = (Round, RoundEvidence, Alarm)


def gap_of(size: float, seed: int = 1) -> Values:
    """Return ratings from 0 to 10 with this gap between the groups."""

    def values(probe: Probe, round_: int) -> dict[str, float | None]:
        rng = Random(f"{seed}/{probe.key}/{round_}")
        shift = size / 2 if probe.groups["concept"] == "France" else -size / 2
        return {"words": min(10.0, max(0.0, 5 + shift + rng.gauss(0, 1)))}

    return values


def monitor_of(**fields: object) -> Monitor:
    features = (WatchedFeature(extractor="words", feature="words", high=10.0, tolerance=0.3),)
    plan = make_plan(suite_hash=SUITE.hash, **{"features": features, **fields})
    return make_monitor(plan=plan)


def prepared(store: Store, monitor: Monitor) -> CloseRounds:
    store.suites.keep(SUITE, AT)
    store.records.write([monitor])
    return CloseRounds(store, now=lambda: datetime(2026, 1, 2, tzinfo=UTC))


def kept(store: Store, monitor: Monitor) -> list[str]:
    """Return everything the rounds left behind, as text."""
    kinds = [r for kind in KINDS for r in store.records.of_monitor(kind, monitor.monitor_id)]
    return sorted(record.model_dump_json() for record in kinds)


def latest(store: Store, monitor: Monitor) -> dict[str, Evidence]:
    evidence = list(evidence_in(store.records.of_monitor(RoundEvidence, monitor.monitor_id)))
    last = max(item.round for item in evidence)
    return {e.comparison.watched.feature: e for e in evidence if e.round == last}


@pytest.fixture
def monitor() -> Monitor:
    return monitor_of()


def test_evidence_is_exactly_the_sum_of_the_increments(store: Store, monitor: Monitor) -> None:
    watch = prepared(store, monitor)
    for number in range(6):
        play(store, watch, monitor, number, gap_of(0.5))
    increments = list(increments_in(store.records.of_monitor(RoundEvidence, monitor.monitor_id)))
    for evidence in latest(store, monitor).values():
        counts = [
            increment.counts
            for increment in increments
            if increment.comparison == evidence.comparison
        ]
        assert len(counts) == 6
        assert reduce(summed, counts) == evidence.counts
        assert evidence.units == 6 * 30


def test_a_round_that_closes_twice_or_whose_answers_come_late_changes_nothing(
    store: Store, monitor: Monitor
) -> None:
    watch = prepared(store, monitor)
    run = round_run(monitor, 0)
    records = answered(store, run, gap_of(1.0))
    store.records.write([run, *records[:-20]])
    first = watch(closing(run, records[:-20]), run)
    before = kept(store, monitor)
    store.records.write(records)
    again = closing(run, records).model_copy(update={"opening": 1})
    assert [r.id for r in watch(again, run)] == [r.id for r in first]
    assert kept(store, monitor) == before
    assert latest(store, monitor)["words"].missing == 5


def test_a_round_waits_for_the_one_before(store: Store, monitor: Monitor) -> None:
    watch = prepared(store, monitor)
    with pytest.raises(TransientError, match="waits for the round before"):
        play(store, watch, monitor, 1, gap_of(0))
    play(store, watch, monitor, 0, gap_of(0))
    play(store, watch, monitor, 1, gap_of(0))
    assert latest(store, monitor)["words"].rounds == 2


def test_a_round_closes_those_before_it_whose_news_was_lost(store: Store, monitor: Monitor) -> None:
    apart = make_monitor(name="apart", plan=monitor.plan)
    watch = prepared(store, monitor)
    runs = [round_run(monitor, number) for number in range(4)]
    runs = [runs[0], *(b.model_copy(update={"before": a.id}) for a, b in pairwise(runs))]
    answers = [answered(store, run, gap_of(0.8)) for run in runs]
    for run, records in zip(runs, answers, strict=True):
        store.records.write([run, *records, closing(run, records)])
    left = watch(closing(runs[3], answers[3]), runs[3])
    assert [item.round for item in left if isinstance(item, Round)] == [0, 1, 2, 3]
    # What was lost may come after all, and says what is known.
    assert len(watch(closing(runs[1], answers[1]), runs[1])) == len(left) / 4
    store.records.write([apart])
    for number in range(4):
        play(store, watch, apart, number, gap_of(0.8))
    assert latest(store, monitor)["words"].counts == latest(store, apart)["words"].counts


def test_a_round_waits_while_the_one_before_is_not_whole(store: Store, monitor: Monitor) -> None:
    watch = prepared(store, monitor)
    first = round_run(monitor, 0)
    second = round_run(monitor, 1).model_copy(update={"before": first.id})
    records = answered(store, first, gap_of(0.8))
    store.records.write([first, second, *records[:-2]])
    with pytest.raises(TransientError, match=r"Round 0 .* has to be closed first"):
        watch(closing(second, []), second)
    store.records.write([closing(first, records)])
    with pytest.raises(TransientError, match="not in the store whole"):
        watch(closing(second, []), second)
    store.records.write(records)
    assert watch(closing(second, []), second)


def test_a_disparity_is_alarmed_once_with_the_twins_that_show_it_most(
    store: Store, monitor: Monitor
) -> None:
    watch = prepared(store, monitor)
    for number in range(8):
        play(store, watch, monitor, number, gap_of(3.0))
    [alarm] = store.records.of_monitor(Alarm, monitor.monitor_id)
    assert (alarm.what, alarm.state) == (AlarmKind.DISPARITY, AlarmState.RAISED)
    assert alarm.comparison_key == "words.words:concept:France-Peru"
    assert len(alarm.twins) == 5
    assert [t.gap for t in alarm.twins] == sorted((t.gap for t in alarm.twins), reverse=True)
    result = latest(store, monitor)
    assert result["words"].verdict is Verdict.DISPARITY
    assert result["words"].gap.value == pytest.approx(3.0, abs=0.3)
    assert result["missing"].verdict is not Verdict.DISPARITY


def test_no_gap_ends_in_no_disparity_beyond_the_tolerance(store: Store) -> None:
    features = (WatchedFeature(extractor="words", feature="words", high=10.0, tolerance=1.0),)
    monitor = monitor_of(features=features)
    watch = prepared(store, monitor)
    for number in range(25):
        play(store, watch, monitor, number, gap_of(0.0))
    assert latest(store, monitor)["words"].verdict is Verdict.NO_DISPARITY
    assert not list(store.records.of_monitor(Alarm, monitor.monitor_id))


def test_another_model_begins_an_epoch_with_evidence_of_its_own_and_clears_the_alarm(
    store: Store, monitor: Monitor
) -> None:
    watch = prepared(store, monitor)
    for number in range(8):
        play(store, watch, monitor, number, gap_of(3.0))
    play(store, watch, monitor, 8, gap_of(0.0), model="m-2")
    words = latest(store, monitor)["words"]
    assert (words.epoch, words.rounds, words.units) == (1, 1, 30)
    assert words.before is not None
    assert words.before.value == pytest.approx(3.0, abs=0.3)
    states = [a.state for a in store.records.of_monitor(Alarm, monitor.monitor_id)]
    assert sorted(states) == [AlarmState.CLEARED, AlarmState.RAISED]


def test_an_extractor_of_another_version_begins_an_epoch(store: Store, monitor: Monitor) -> None:
    watch = prepared(store, monitor)
    play(store, watch, monitor, 0, gap_of(0))
    run = round_run(monitor, 1, version="2")
    records = answered(store, run, gap_of(0))
    store.records.write([run, *records])
    watch(closing(run, records), run)
    [last] = [r for r in store.records.of_monitor(Round, monitor.monitor_id) if r.round == 1]
    assert last.epoch == 1
    assert last.changed == ("it is now measured by words@2",)


def test_a_gap_that_appears_is_reported_as_a_change(store: Store, monitor: Monitor) -> None:
    watch = prepared(store, monitor)
    for number in range(25):
        play(store, watch, monitor, number, gap_of(0.0 if number < 10 else 3.0))
    kinds = {a.what: a.round for a in store.records.of_monitor(Alarm, monitor.monitor_id)}
    assert kinds[AlarmKind.CHANGE] >= 10


def test_a_gap_that_begins_late_is_dated_and_shown_since_then_whoever_closes_its_rounds(
    store: Store, monitor: Monitor
) -> None:
    def said(number: int) -> Values:
        return gap_of(0.0 if number < 8 else 3.0)

    watch = prepared(store, monitor)
    for number in range(11):
        # Another process each time, which knows nothing but what is in the store.
        watch = CloseRounds(store, now=lambda: datetime(2026, 1, 2, tzinfo=UTC))
        play(store, watch, monitor, number, said(number))
    [alarm] = [
        item
        for item in store.records.of_monitor(Alarm, monitor.monitor_id)
        if item.what is AlarmKind.DISPARITY
    ]
    assert alarm.since_round == 8
    assert alarm.gap.value == pytest.approx(3.0, abs=0.5)
    words = latest(store, monitor)["words"]
    assert words.units == 3 * 30
    assert words.verdict is Verdict.DISPARITY


def test_one_group_refused_more_often_is_found_even_where_nothing_can_be_measured(
    store: Store, monitor: Monitor
) -> None:
    def values(probe: Probe, round_: int) -> dict[str, float | None] | None:
        refused = (
            probe.groups["concept"] == "Peru" and Random(f"{probe.key}{round_}").random() < 0.5
        )
        return None if refused else {"words": 5.0}

    watch = prepared(store, monitor)
    for number in range(8):
        play(store, watch, monitor, number, values)
    result = latest(store, monitor)
    assert result["missing"].verdict is Verdict.DISPARITY
    assert result["words"].verdict is Verdict.INCONCLUSIVE  # absent sets count as the worst case
    assert result["words"].missing > 60


def test_values_beyond_the_declared_range_are_counted_and_never_moved_inside(
    store: Store, monitor: Monitor
) -> None:
    watch = prepared(store, monitor)
    play(store, watch, monitor, 0, lambda probe, _: {"words": 11.0 if probe.set_id == "s1" else 5})
    increments = list(increments_in(store.records.of_monitor(RoundEvidence, monitor.monitor_id)))
    [increment] = [item for item in increments if item.comparison.watched.feature == "words"]
    assert (increment.outside, increment.missing) == (2, 1)

"""Answers of a window of production traffic are drawn, labelled and corrected as a run's are."""

from collections.abc import Iterable
from datetime import datetime

import pytest

from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels
from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.contracts import Exchange, Run, RunningGap
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.corrections import correction_sentences
from biaswatch.shared.requests.labels import GivenLabel, LabelsRequest, SampleRequest
from biaswatch.shared.store import Store
from tests.support.records import make_exchange
from tests.support.traffic_platform import HOUR, LATE, MONITOR, NOON, TrafficPlatform

USERS = 120


def window(begins: datetime, users: Iterable[int]) -> list[Exchange]:
    """Return an answer to each user; women get two more words than men."""
    return [
        make_exchange(
            n, said_at=begins, at=begins, key=f"{n}",
            text="On its way, madam, today." if n % 2 else "On its way.",
        )
        for n in users
    ]  # fmt: skip


@pytest.fixture
def run(store: Store) -> Run:
    """Write a window in which women get two more words than men."""
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    platform.hear(*window(NOON, range(USERS)))
    platform.read(NOON + HOUR + LATE)
    [result] = [item for item in store.records.all(Run) if item.window is not None]
    return result


def test_labels_of_a_window_take_back_a_gap_that_the_instrument_made(
    store: Store, run: Run
) -> None:
    queries = LabelQueries(store, RunQueries(store))
    commands = LabelCommands(store, RunQueries(store), queries, lambda: NOON + 2 * HOUR)
    sample = commands.sample_for(run.id, SampleRequest(feature="words", wanted=80))
    commands.store_records([sample])
    assert (sample.dimension, sample.low, sample.high) == ("gender", 0, 10)  # as it is watched
    assert [item.answers for item in sample.strata] == [USERS / 2, USERS / 2]
    shown = queries.answer(sample, sample.drawn[0].response_id)
    assert shown is not None
    assert "Where is my parcel?" in shown.question
    given = [GivenLabel(response_id=item.response_id, value=4) for item in sample.drawn]
    asked = LabelsRequest(extractor="words", feature="words", labels=given)
    commands.store_records(commands.check_labels(run.id, asked, "anna").new)
    correct = CorrectByLabels(store, now=lambda: NOON + 2 * HOUR, plan=AnalysisPlan())
    [result] = correct.corrected(run)
    [gap] = result.gaps
    assert gap.reading.value == pytest.approx(2)
    assert gap.corrected.value == pytest.approx(0, abs=1e-9)
    assert gap.corrected.low is not None
    assert gap.corrected.high is not None
    assert gap.corrected.low <= 0 <= gap.corrected.high
    assert queries.plan(run.id, SampleRequest(feature="words")).units == USERS / 2


def test_labels_of_several_windows_add_up_to_a_gap_that_may_be_looked_at_any_time(
    store: Store,
) -> None:
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    correct = CorrectByLabels(store, now=lambda: platform.time, plan=AnalysisPlan())
    queries = LabelQueries(store, RunQueries(store))
    commands = LabelCommands(store, RunQueries(store), queries, lambda: platform.time)
    running, text = list[RunningGap](), ""
    for hour in range(2):
        begins = NOON + hour * HOUR
        platform.hear(*window(begins, range(hour * USERS, (hour + 1) * USERS)))
        platform.read(begins + HOUR + LATE)
        runs = [item for item in store.records.all(Run) if item.window is not None]
        run = max(runs, key=lambda item: item.round or 0)
        sample = commands.sample_for(run.id, SampleRequest(feature="words", wanted=80))
        given = [GivenLabel(response_id=item.response_id, value=4) for item in sample.drawn]
        asked = LabelsRequest(extractor="words", feature="words", labels=given)
        commands.store_records([sample])
        commands.store_records(commands.check_labels(run.id, asked, "anna").new)
        [result] = correct.corrected(run)
        store.records.write([result])
        [part] = result.over_rounds
        running.append(part.running)
        text = " ".join(correction_sentences([result]))
    first, second = running
    assert (first.rounds, first.pairs) == (1, 40)
    assert (second.rounds, second.pairs) == (2, 80)
    assert second.value == pytest.approx(0, abs=0.5)  # differences are rounded to bins by chance
    assert first.low is not None
    assert second.low is not None
    assert first.low < second.low < 0
    assert "over 2 labelled rounds (80 pairs)" in text
    assert second.no_alarm is not None
    assert "It raises no alarm: users of production traffic are matched" in text


def test_a_window_that_is_under_way_is_not_drawn_from(store: Store) -> None:
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    platform.hear(make_exchange(1, said_at=NOON, at=NOON, key="1"))
    platform.time = NOON + HOUR + LATE
    [started] = platform.rounds.start_due()
    queries = LabelQueries(store, RunQueries(store))
    commands = LabelCommands(store, RunQueries(store), queries, lambda: NOON)
    store.records.write([started])
    with pytest.raises(UsageError):
        commands.sample_for(started.id, SampleRequest(feature="words", wanted=10))

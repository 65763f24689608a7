"""Answers of a window of production traffic are drawn, labelled and corrected as a run's are."""

import pytest

from services.diagnoser.domain.findings import AnalysisPlan
from services.diagnoser.handlers.labels import CorrectByLabels
from services.gateway.labels.commands import LabelCommands
from services.gateway.labels.queries import LabelQueries
from services.gateway.labels.requests import GivenLabel, LabelsRequest, SampleRequest
from services.gateway.runs.queries import RunQueries
from shared.contracts import Run
from shared.errors import UsageError
from shared.store import Store
from tests.support.records import make_exchange
from tests.support.traffic_platform import HOUR, LATE, MONITOR, NOON, TrafficPlatform

USERS = 120


@pytest.fixture
def run(store: Store) -> Run:
    """Write a window in which women get two more words than men."""
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    platform.hear(
        *(
            make_exchange(
                n, said_at=NOON, at=NOON, key=f"{n}",
                text="On its way, madam, today." if n % 2 else "On its way.",
            )
            for n in range(USERS)
        )
    )  # fmt: skip
    platform.read(NOON + HOUR + LATE)
    [found] = [each for each in store.records.all(Run) if each.window is not None]
    return found


def test_labels_of_a_window_take_back_a_gap_that_the_instrument_made(
    store: Store, run: Run
) -> None:
    queries = LabelQueries(store, RunQueries(store))
    commands = LabelCommands(store, RunQueries(store), queries, lambda: NOON + 2 * HOUR)
    sample = commands.sample_for(run.id, SampleRequest(feature="words", wanted=80))
    commands.keep([sample])
    assert (sample.dimension, sample.low, sample.high) == ("gender", 0, 10)  # as it is watched
    assert [each.answers for each in sample.strata] == [USERS / 2, USERS / 2]
    shown = queries.answer(sample, sample.drawn[0].response_id)
    assert shown is not None
    assert "Where is my parcel?" in shown.asked
    given = [GivenLabel(response_id=each.response_id, value=4) for each in sample.drawn]
    asked = LabelsRequest(extractor="words", feature="words", labels=given)
    commands.keep(commands.taken(run.id, asked, "anna").new)
    correct = CorrectByLabels(store, now=lambda: NOON + 2 * HOUR, plan=AnalysisPlan())
    [found] = correct.corrected(run)
    [gap] = found.gaps
    assert gap.reading.value == pytest.approx(2)
    assert gap.corrected.value == pytest.approx(0, abs=1e-9)
    assert gap.corrected.low is not None
    assert gap.corrected.high is not None
    assert gap.corrected.low <= 0 <= gap.corrected.high
    assert queries.plan(run.id, SampleRequest(feature="words")).units == USERS / 2


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

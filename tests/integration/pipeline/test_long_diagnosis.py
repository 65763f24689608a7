"""A long diagnosis on a real bus and a real store: the rounds of monitors close while it lasts."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest

from biaswatch.services.diagnoser.app import MAX_WAITING_COMPLETIONS
from biaswatch.services.diagnoser.handlers import (
    CloseRounds,
    CompletionsInTurn,
    DiagnoseRun,
    OnCompletion,
)
from biaswatch.services.diagnoser.handlers import runs as run_handler
from biaswatch.shared.analysis import findings
from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse, RunFinding
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Completion, Diagnosis, Monitor, Probe, Round, WatchedFeature
from biaswatch.shared.store import Store
from tests.support.bus import ProvisionedBus
from tests.support.measured_runs import make_measured_run, make_suite, write_measured_run
from tests.support.monitored import answered, closing, round_run
from tests.support.records import AT, make_monitor, make_plan
from tests.support.waiting import eventually

NOW = datetime(2026, 5, 1, tzinfo=UTC)
WAITING = 40
"""Studies: one takes long, and the others wait behind it."""
SUITE = make_suite(sets=2)


class LongDiagnosis:
    """A diagnosis that computes without a pause until it is told that it may end."""

    def __init__(self, diagnose: Callable[..., list[RunFinding]]) -> None:
        self._diagnose = diagnose
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.ended = 0

    def __call__(
        self, responses: Sequence[MeasuredResponse], plan: AnalysisPlan, rng: np.random.Generator
    ) -> list[RunFinding]:
        self.begun.set()
        give_up = time.monotonic() + 300
        while not self.may_end.is_set() and time.monotonic() < give_up:
            sum(range(1000))  # in Python, so that it takes the interpreter from all other threads
        self.ended += 1
        return self._diagnose(responses, plan, rng) if self.ended == 1 else []


def words(probe: Probe, round_: int) -> dict[str, float | None]:
    return {"words": float((len(probe.key) + round_) % 7)}


@pytest.fixture
def monitor() -> Monitor:
    feature = WatchedFeature(extractor="words", feature="words", high=10.0, tolerance=0.3)
    return make_monitor(plan=make_plan(suite_hash=SUITE.hash, features=(feature,)))


async def test_rounds_of_a_monitor_close_while_a_long_diagnosis_is_under_way(
    bus: ProvisionedBus, store: Store, monitor: Monitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = LongDiagnosis(findings.diagnose)
    monkeypatch.setattr(run_handler, "diagnose", long)
    diagnose = DiagnoseRun(store, now=lambda: NOW, plan=AnalysisPlan(permutations=20))
    complete = OnCompletion(store, diagnose, CloseRounds(store, now=lambda: NOW), now=lambda: NOW)
    stage = Stage(
        "diagnoser",
        Completion,
        CompletionsInTurn(complete, complete.is_round),
        slots=MAX_WAITING_COMPLETIONS,
    )
    bus.work(stage)

    studies = [make_measured_run(SUITE, targets=1, repeats=1, nonce=str(n)) for n in range(WAITING)]
    measured = [write_measured_run(store, run, SUITE) for run in studies]
    store.records.write([monitor])
    await bus.publish(
        *(closing(run, list(result), AT) for run, result in zip(studies, measured, strict=True))
    )
    assert await asyncio.to_thread(long.begun.wait, 60)
    for number in range(3):
        run = round_run(monitor, number)
        answers = answered(store, run, words)
        store.records.write([run, *answers])
        await bus.publish(closing(run, answers))

    await eventually(lambda: store.records.count(Round) == 3)
    assert long.ended == 0
    assert await bus.count(Diagnosis) == 0
    long.may_end.set()
    await eventually(lambda: long.ended == WAITING)
    await bus.settled(stage)
    assert await bus.count(Diagnosis) > 0

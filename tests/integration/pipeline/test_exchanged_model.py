"""A provider exchanges the model behind the same name: the monitor says so, and only then."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.diagnoser.handlers import CloseRounds
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    Probe,
    Suite,
    SuiteProbe,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.store import Store, migrate
from tests.support.monitored import play
from tests.support.recorded import RecordedData
from tests.support.records import AT, make_monitor, make_plan

RACE, ARC = "race", "arc"
ROUNDS, SWAPPED_AT = 14, 8


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


def questions(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "preds_Age.jsonl").read_text().splitlines()
    return [q for q in map(json.loads, lines) if q["context_condition"] == "ambig"]


def suite_of(asked: list[dict[str, Any]]) -> Suite:
    return Suite(
        name="age",
        extractors=("choice",),
        probes=tuple(
            SuiteProbe(
                key=str(q["example_id"]),
                prompt="?",
                set=str(q["example_id"] // 4),
                groups={"polarity": q["question_polarity"]},
            )
            for q in asked
        ),
    )


def correct(question: dict[str, Any], model: str) -> float | None:
    answer = question[f"unifiedqa-t5-11b_pred_{model}"].strip().lower()
    options = [question[f"ans{i}"].strip().lower() for i in range(3)]
    return float(options.index(answer) == question["label"]) if answer in options else None


@pytest.mark.parametrize("swapped", [True, False])
def test_an_exchange_of_unifiedqa_race_for_arc_is_reported_and_none_where_there_was_none(
    store: Store, recorded_data: RecordedData, swapped: bool
) -> None:
    asked = questions(recorded_data("data/bbq"))
    suite = suite_of(asked)
    by_key = {str(q["example_id"]): q for q in asked}
    plan = make_plan(
        suite_hash=suite.hash,
        features=(WatchedFeature(extractor="choice", feature="correct", tolerance=0.1),),
        comparisons=(WatchedPair(dimension="polarity", a="neg", b="nonneg"),),
    )
    monitor = make_monitor(plan=plan)
    store.suites.keep(suite, AT)
    store.records.write([monitor])
    watch = CloseRounds(store, now=lambda: datetime(2026, 1, 2, tzinfo=UTC))

    def values(probe: Probe, round_: int) -> dict[str, float | None]:
        model = ARC if swapped and round_ >= SWAPPED_AT else RACE
        return {"correct": correct(by_key[probe.key], model)}

    for number in range(ROUNDS):
        play(store, watch, monitor, number, values)  # the name and the fingerprint stay
    alarm_rounds = {a.what: a.round for a in store.records.of_monitor(Alarm, monitor.monitor_id)}
    assert (AlarmKind.LEVEL in alarm_rounds) is swapped
    assert AlarmKind.CHANGE not in alarm_rounds
    if swapped:
        assert SWAPPED_AT <= alarm_rounds[AlarmKind.LEVEL] < ROUNDS

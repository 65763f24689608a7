"""Stores that write answers of live systems to files as they come."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from random import Random

import pytest

from biaswatch.shared.contracts import Features, Probe, Record, Response
from biaswatch.shared.store import AnswerFilesLocation, Store
from tests.support.traffic_platform import HOUR, MONITOR, NOON, TrafficPlatform, said

KINDS: tuple[type[Record], ...] = (Probe, Response, Features)
ANSWERS = 40

_numbers = count()


def open_with_files(url: str, folder: Path | str, now: datetime | None = None) -> Store:
    """Open a store whose answers of live systems go to files below a folder."""
    moment = now or datetime(2026, 1, 1, tzinfo=UTC)
    return Store.open(
        url, AnswerFilesLocation(str(folder), lambda: moment, lambda: f"{next(_numbers)}")
    )


@pytest.fixture(params=["rows", "files"])
def traffic_store(
    request: pytest.FixtureRequest, store_url: str, tmp_path: Path
) -> Iterator[Store]:
    """Return a store that holds nothing: what live systems say becomes rows, and then files."""
    filed = request.param == "files"
    with (
        open_with_files(store_url, tmp_path / "live") if filed else Store.open(store_url) as opened
    ):
        yield opened


def answers_for(store: Store, amount: int = ANSWERS, *, windows: int = 1) -> list[Record]:
    """Take answers in, and return what recorders are given of them."""
    platform = TrafficPlatform(store)
    platform.rounds.define(MONITOR)
    platform.time = NOON + windows * HOUR
    records: list[Record] = []
    for number in range(windows):
        moments = (NOON + number * HOUR + timedelta(seconds=n) for n in range(amount))
        exchanges = [item for n, at in enumerate(moments) for item in said([n], at)]
        responses = list(platform.ingest(exchanges))
        records += [*responses, *(platform.measured(response) for response in responses)]
    return records


def batches_of(records: Sequence[Record], luck: Random) -> Iterator[list[Record]]:
    """Yield batches as a bus delivers them: each record at least once, and many again."""
    coming = [*records, *luck.sample(records, len(records) // 2)]
    luck.shuffle(coming)
    while coming:
        size = luck.randrange(1, 30)
        yield coming[:size]
        coming = coming[size:]


def run_of(records: Iterable[Record]) -> str:
    """Return the run of some records."""
    return str(next(iter(records)).run)


def check_each_is_there_once(store: Store, records: Sequence[Record], windows: int = 1) -> None:
    """Check that each record is there once, wherever, and counted so."""
    amount = len(records) // 2 // windows
    for run_id in {str(record.run) for record in records}:
        for kind in KINDS:
            result = [item.id for item in store.records.read(kind, run_id=run_id)]
            assert result == sorted(set(result))
            assert len(result) == store.records.count(kind, run_id=run_id) == amount
        counted = store.counted_runs.of([run_id])[run_id]
        assert (counted.count(Response), counted.count(Features)) == (amount, amount)
    ids = {kind: [record.id for record in records if isinstance(record, kind)] for kind in KINDS}
    assert not any(store.records.missing(kind, some) for kind, some in ids.items())
